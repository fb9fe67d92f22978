"""Check the wording of docstrings.

Usage: `python -m tests.style.prose [FILE or FOLDER ...]`, by default all of the project.

Ruff's D401 finds verbs in the wrong mood ("Returns"); this finds what it lets through: openings that are no verb at
all ("What ...", "Whether ..."), first lines that are too long, and phrases that hide who acts.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("runtime", "tui", "tests")

MAX_FIRST_LINE = 80
"""Characters of a docstring's first line."""

OPENINGS = frozenset(
    [
        "what",
        "whatever",
        "whether",
        "how",
        "where",
        "wherever",
        "who",
        "whoever",
        "whom",
        "whose",
        "when",
        "whenever",
        "which",
        "why",
        "one",
        "it",
        "there",
        "nothing",
        "nobody",
        "somebody",
        "that",
    ]
)
"""First words that no docstring may have."""

NOUN_OPENINGS = frozenset(
    [
        "the",
        "a",
        "an",
        "this",
        "these",
        "those",
        "all",
        "every",
        "each",
        "any",
        "some",
        "none",
        "of",
        "in",
        "for",
        "from",
        "at",
        "by",
        "with",
        "two",
        "seconds",
        "bytes",
    ]
)
"""First words that a function's docstring may not have either: it begins with a verb."""

HIDDEN_ACTOR = re.compile(
    r"\b(?:(?:is|are|was|were|be|been|being) told|whoever|whatever|nobody|somebody|there is none)\b", re.IGNORECASE
)

_FIRST_WORD = re.compile(r"[A-Za-z']+")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def problems(source: str) -> Iterator[tuple[int, str]]:
    """Yield a line number and a sentence for each docstring that breaks a rule."""
    for node in _statements(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | Function):
            text = ast.get_docstring(node, clean=False)
            if text is not None:
                line = node.body[0].lineno
                for problem in _of_docstring(text, is_action=_is_action(node)):
                    yield line, problem
        for line, text in _attribute_docs(node):
            if _first_word(text) in OPENINGS or HIDDEN_ACTOR.search(text):
                yield line, "an attribute's description begins with a noun and names who acts"


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield `node` and the statements in it: expressions have no docstrings."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _statements(child)


def _of_docstring(text: str, *, is_action: bool) -> Iterator[str]:
    first = text.strip().split("\n")[0]
    word = _first_word(first)
    if len(first) > MAX_FIRST_LINE:
        yield f"the first line has {len(first)} characters, at most {MAX_FIRST_LINE} are allowed"
    if word in OPENINGS or (is_action and word in NOUN_OPENINGS):
        yield f'begins with "{first.split()[0]}": begin with a verb and its object'
    hidden = HIDDEN_ACTOR.search(text)
    if hidden:
        yield f'"{hidden[0]}" hides who acts: say who does what'


def _is_action(node: ast.AST) -> bool:
    """Return True for functions, properties excepted: those are read as nouns."""
    if not isinstance(node, Function):
        return False
    decorators = [ast.unparse(item) for item in node.decorator_list]
    return not any("property" in item or item.endswith("fixture") or "fixture(" in item for item in decorators)


def _attribute_docs(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the strings that stand below an assignment."""
    body: Iterable[ast.stmt] = (
        getattr(node, "body", ()) if isinstance(node, ast.Module | ast.ClassDef | Function) else ()
    )
    before: ast.stmt | None = None
    for statement in body:
        if (
            isinstance(before, ast.Assign | ast.AnnAssign)
            and isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
            and isinstance(statement.value.value, str)
        ):
            yield statement.lineno, statement.value.value
        before = statement


def _first_word(text: str) -> str:
    found = _FIRST_WORD.match(text.strip())
    return found[0].lower() if found else ""


def main(arguments: list[str]) -> int:
    """Print the problems of files and folders (default: all); return 1 if any."""
    named = [Path(name).resolve() for name in arguments] or [ROOT / folder for folder in FOLDERS]
    files = [file for path in named for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    found = [(file, line, text) for file in files for line, text in sorted(problems(file.read_text("utf-8")))]
    for file, line, text in found:
        print(f"{file.relative_to(ROOT)}:{line}: {text}")
    print(f"{len(found)} problem(s) of wording in {len(files)} file(s)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
