"""The reference of agents is complete, its code runs, its tables match the code."""

from __future__ import annotations

import ast
import io
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from tests.docs import tables
from tests.docs.test_guide import blocks

import gemini_live_runtime
from gemini_live_runtime import Live
from gemini_live_runtime.session.definition.builder import AgentBuilder
from gemini_live_runtime.session.definition.callbacks import CALLBACKS
from gemini_live_runtime.session.definition.key_writers import SESSION_KEYS

PAGE = tables.PAGE
PACKAGE = Path(gemini_live_runtime.__file__).parent
OTHER_HEADINGS = {"Faults", "Guards", "Order of steps"}


def test_the_page_has_every_method_of_live_in_its_order() -> None:
    headings = re.findall(r"^## (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    named = [name for heading in headings if heading not in OTHER_HEADINGS for name in heading.split(", ")]
    methods = [*vars(AgentBuilder), *vars(Live)]
    assert named == [name for name in methods if not name.startswith("_") and callable(getattr(Live, name))]


def test_the_code_of_the_page_runs_as_one_file() -> None:
    names: dict[str, Any] = {}
    out = io.StringIO()
    with redirect_stdout(out):
        for block in blocks(PAGE):
            if block.language == "python":
                exec(compile("\n" * block.line + block.text, str(PAGE), "exec"), names)
    # The last snippet says in which phase the evening ended.
    assert out.getvalue() in ("greet\n", "table\n", "bye\n")
    assert names["agent"].plan().initial_phase == "greet"


def test_the_tables_are_current() -> None:
    page = PAGE.read_text("utf-8")
    assert page == tables.with_tables(page), "run: python -m tests.docs.tables"


def test_the_list_of_examples_is_current() -> None:
    page = (tables.EXAMPLES / "README.md").read_text("utf-8")
    assert page == tables.list_of_examples(), "run: python -m tests.docs.tables"


def test_a_table_that_the_page_lacks_is_noticed() -> None:
    assert set(re.findall(r"<!-- table: (\w+) -->", PAGE.read_text("utf-8"))) == set(tables.TABLES)


def test_every_callback_and_no_other_is_described() -> None:
    assert list(tables.CALLBACK_MEANINGS) == list(CALLBACKS)


def written_keys() -> set[str]:
    """Return the `session:` keys in the session's own source.

    `*` stands for the part after a prefix.
    """
    keys: set[str] = set()
    for folder in ("session", "conversation", "state"):
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            keys |= _keys_in(ast.parse(path.read_text("utf-8")))
    return keys


def _keys_in(tree: ast.AST) -> set[str]:
    keys = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if re.fullmatch(r"session:[a-z_:]*[a-z_]", node.value):
                keys.add(node.value)
            elif re.fullmatch(r"session:[a-z_]+:", node.value):
                keys.add(f"{node.value}*")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "_set":
            keys |= {f"session:{keyword.arg}" for keyword in node.keywords}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "_count":
            keys |= {f"session:{item.value}" for item in node.args if isinstance(item, ast.Constant)}
    return keys


def test_every_key_that_the_session_keeps_is_in_the_table_and_no_other() -> None:
    listed = {key for key in tables.SIGNALS if key.startswith("session:")}
    # Written in a loop over their names, first values of what is written later or at every connection.
    looped = {"session:connected_at_ms", "session:resumable"}
    assert listed - looped == written_keys() - looped


def test_the_sessions_own_keys_are_those_of_this_page() -> None:
    assert {name for name in tables.SIGNALS if name.startswith("session:")} == SESSION_KEYS
