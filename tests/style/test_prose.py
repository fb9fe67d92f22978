"""The check of docstrings finds each kind of problem, and nothing in good ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.style.prose import main, problems

MODULE = '"""{}"""\n'
CLASS = 'class Part:\n    """{}"""\n'
FUNCTION = 'def part():\n    """{}"""\n'
METHOD = 'class Part:\n    async def run(self):\n        """{}"""\n'
PROPERTY = 'class Part:\n    @property\n    def size(self):\n        """{}"""\n'
CACHED = 'class Part:\n    @functools.cached_property\n    def size(self):\n        """{}"""\n'
FIXTURE = '@pytest.fixture(scope="session")\ndef place():\n    """{}"""\n'
ATTRIBUTE = 'LIMIT = 3\n"""{}"""\n'
FIELD = 'class Part:\n    limit: int = 3\n    """{}"""\n'

LONG = "Return " + "x" * 74


@pytest.mark.parametrize(
    ("code", "docstring", "found"),
    [
        (MODULE, "What happens to a turn.", 'begins with "What"'),
        (CLASS, "One that fails.", 'begins with "One"'),
        (METHOD, "Whether it is over.", 'begins with "Whether"'),
        (PROPERTY, "How long it takes.", 'begins with "How"'),
        (CACHED, "Which it is.", 'begins with "Which"'),
        (FIXTURE, "Nothing at all.", 'begins with "Nothing"'),
        (FUNCTION, "The size in bytes.", 'begins with "The"'),
        (FUNCTION, "Seconds since the start.", 'begins with "Seconds"'),
        (METHOD, "All of them.", 'begins with "All"'),
        (FUNCTION, LONG, "the first line has 81 characters"),
        (FUNCTION, "Return the size.\n\n    Whoever asks is answered.", '"Whoever" hides who acts'),
        (CLASS, "Listener that is told of changes.", '"is told" hides who acts'),
        (MODULE, "Send context that nobody asked for.", '"nobody" hides who acts'),
        (ATTRIBUTE, "What is allowed.", "an attribute's description begins with a noun"),
        (FIELD, "Limit that somebody sets.", "an attribute's description begins with a noun"),
    ],
)
def test_a_problem_is_found(code: str, docstring: str, found: str) -> None:
    (problem,) = problems(code.format(docstring))
    assert problem[1].startswith(found)


@pytest.mark.parametrize(
    ("code", "docstring"),
    [
        (MODULE, "Route audio callbacks to the core."),
        (CLASS, "The queue of a session's steps."),
        (FUNCTION, "Return the size in bytes."),
        (FUNCTION, LONG[:-1]),
        (PROPERTY, "The size in bytes."),
        (CACHED, "Seconds since the start."),
        (FIXTURE, "A folder with two tests."),
        (ATTRIBUTE, "Most bytes that a line may have."),
        (FIELD, "Seconds to wait."),
    ],
)
def test_a_good_docstring_passes(code: str, docstring: str) -> None:
    assert list(problems(code.format(docstring))) == []


def test_a_problem_is_printed_with_its_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tests.style.prose.ROOT", tmp_path)
    (tmp_path / "part.py").write_text("X = 1\n\n\n" + FUNCTION.format("Whether it is."))
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        'part.py:5: begins with "Whether": begin with a verb and its object',
        "1 problem(s) of wording in 1 file(s)",
    ]


def test_files_without_problems_pass(tmp_path: Path) -> None:
    (tmp_path / "part.py").write_text(FUNCTION.format("Return the size."))
    assert main([str(tmp_path / "part.py")]) == 0
