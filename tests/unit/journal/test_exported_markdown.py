"""A Markdown export is a document, and no text of a session is markup in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from tests.support.canaries import HOSTILE
from tests.support.recordings import debt_call, exported, marked_call

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.formats.markdown import escaped, quoted
from gemini_live_runtime.journal.sessions.catalog import rename


def test_what_arrives_of_a_cut_answer_afterwards_is_struck_out_too(tmp_path: Path) -> None:
    recorder = debt_call()
    recorder.events = recorder.events[:-1]
    recorder.begin_turn()
    recorder.model("All of it was ")
    recorder.interrupt("All of it", " was ")
    recorder.emit(ev.TranscriptDelta(side="model", text="lost."))
    recorder.complete(outcome="interrupted")
    assert "> ~~was lost.~~" in exported(recorder.write(tmp_path), "markdown")


MARKDOWN = [
    "# heading",
    "- item\n* item\n+ item\n1. item\n1) item",
    "    code",
    "```\ncode\n```",
    "`code` ``more``",
    "*a* _b_ **c** __d__ ~~e~~",
    "[link](http://x.example) ![image](x.png)",
    "<script>alert(1)</script> <b>x</b> &lt; &amp;",
    "http://x.example www.x.example <http://x.example> a@x.example",
    "a | b\n---|---\nc | d",
    "title\n===\nother\n---",
    "> quote\n\n\npara",
    "back\\slash \\* a  \nb",
    "$x$ {a} [^1] [ref]: http://x.example",
    "***\n___",
    "line one\r\nline two\ttab",
]


def _shown(tokens: Any) -> str:
    text = ""
    for token in tokens:
        if token.children:
            text += _shown(token.children)
        elif token.type in ("softbreak", "hardbreak"):
            text += "\n"
        else:
            text += "\n" if token.type == "paragraph_close" else ""
            assert token.type in ("text", "blockquote_open", "blockquote_close", "paragraph_open", "paragraph_close")
            text += token.content
    return text


@pytest.mark.parametrize("text", [*MARKDOWN, HOSTILE])
def test_text_of_a_session_is_never_markup(text: str) -> None:
    parser = MarkdownIt("gfm-like", {"linkify": False})
    tokens = parser.parse(quoted(text))
    plain = "\n".join(line.strip() for line in _plain(text).split("\n"))
    assert [line for line in _shown(tokens).split("\n") if line] == [line for line in plain.split("\n") if line]


def _plain(text: str) -> str:
    from gemini_live_runtime.text import sanitise

    return "\n".join(" ".join(line.split()) for line in sanitise(text).split("\n"))


def test_text_in_the_table_stays_in_its_cell() -> None:
    parser = MarkdownIt("gfm-like", {"linkify": False})
    for text in MARKDOWN:
        tokens = parser.parse(f"| a | b |\n|---|---|\n| x | {escaped(text)} |\n")
        assert [token.type for token in tokens].count("td_open") == 2, text
        assert not any(token.type.startswith(("html", "heading", "list")) for token in tokens)


def test_the_document_tells_what_happened(tmp_path: Path) -> None:
    folder = marked_call().write(tmp_path)
    rename(folder, "Angry *caller*")
    text = exported(folder, "markdown")
    assert text.startswith("# Angry \\*caller\\*\n")
    for row in (
        "| Phases | greeting → negotiate |",
        "| Watchers | fired 1 time |",
        "| Marks | 2 |",
        "| Interruptions | 1 |",
        "| Latency | median 600 ms, worst 700 ms (4 turns) |",
        "| Tokens | 4,800 in, 1,200 out |",
    ):
        assert row in text, row
    assert "> You have an outstanding balance  \n> ~~of two thousand dollars. Would you like to pay now?~~" in text
    assert "interrupted: the rest was not heard" in text
    assert "- **Phase** 0:02 greeting → negotiate: the caller is verified" in text
    assert "- **Mark** 1:" in text
    assert "(typed)" in text
    assert "no: this holds personal data" in text
    order = [text.index(part) for part in ("### Turn 1", "### Turn 2", "verify\\_identity", "### Turn 3", "### Turn 4")]
    assert order == sorted(order)
