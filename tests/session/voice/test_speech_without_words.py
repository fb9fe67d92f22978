"""Speech that was not understood leaves a row, live and in a recording."""

from __future__ import annotations

from pathlib import Path

from tests.session.talking import agent, talk
from tests.support.command_line import run
from tests.support.recordings import Recorder

from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.journal.fold.session_fold import fold
from gemini_live_runtime.journal.fold.view import NOT_UNDERSTOOD, SessionView
from gemini_live_tui.painting.glyphs import UNICODE
from gemini_live_tui.painting.runs import plain
from gemini_live_tui.panes.transcript import Transcript
from gemini_live_tui.panes.why_rows import lines_of, reason_of

SPOKEN = Path(__file__).parents[2] / "data" / "speech" / "please_stop_talking.wav"


async def test_speech_without_words_has_a_row_before_the_answer_and_an_explanation(tmp_path: Path) -> None:
    async with talk(agent(), audio=lambda: FileAudio(SPOKEN, tmp_path / "out.wav")) as t:
        await t.passes(3)
        await t.says("I didn't catch that.")
        await t.ends()
    (event,) = [event for event in t.stage.sink.events if isinstance(event.payload, ev.SpeechNotUnderstood)]
    speech = event.payload
    assert isinstance(speech, ev.SpeechNotUnderstood)
    assert speech.peak_db is not None
    assert 0.2 < speech.seconds < 3
    view = fold(t.stage.sink.events)
    row, answer = [block for block in view.blocks if block.kind in ("user", "model")]
    words = f"(not understood, {speech.seconds:.1f} s)"
    assert (row.kind, row.text, row.status, row.seq) == ("user", words, NOT_UNDERSTOOD, event.seq)
    assert answer.text == "I didn't catch that."
    why = reason_of(event, view)
    assert why is not None
    said = plain(lines_of(why, UNICODE))
    assert f"A voice was heard for {speech.seconds:.1f} s, its peak was {speech.peak_db:.0f} dBFS." in said
    assert "The server's voice detector ended it and passed it on as speech." in said
    assert "When the model began to answer, the server had sent no words of it." in said


def recorded(*late: str) -> Recorder:
    """Record speech without words, its answer, and words that come late."""
    made = Recorder()
    made.start()
    made.begin_turn("model")
    made.emit(ev.SpeechNotUnderstood(seconds=1.31, peak_db=-42.0))
    made.model("I didn't ", "catch that.")
    made.user(*late)
    made.complete()
    made.end()
    return made


def rows(view: SessionView) -> list[str]:
    transcript = Transcript()
    transcript._view = view
    lines = [line for at in range(len(view.blocks)) for line in transcript.item_lines(at, 80)]
    return ["".join(text for text, _ in line.runs).strip() for line in lines]


def test_replay_and_exports_show_the_row(tmp_path: Path) -> None:
    folder = recorded().write(tmp_path)
    assert "user: (not understood, 1.3 s)\nmodel: I didn't catch that." in run("replay", "--plain", str(folder)).out
    document = run("export", "--to", "-", str(folder)).out
    assert "**User** 0:00\n\n> (not understood, 1.3 s)" in document
    assert "user: (not understood, 1.3 s)" in run("export", "--as", "text", "--to", "-", str(folder)).out
    assert "you    (not understood, 1.3 s)" in " ".join(rows(fold(recorded().events)))


def test_words_that_come_after_the_answer_began_take_the_rows_place() -> None:
    view = fold(recorded("hello ", "there").events)
    assert [(block.kind, block.text, block.status) for block in view.blocks] == [
        ("user", "hello there", ""),
        ("model", "I didn't catch that.", ""),
    ]


def test_soft_speech_is_told_to_be_soft() -> None:
    event = next(event for event in recorded().events if isinstance(event.payload, ev.SpeechNotUnderstood))
    why = reason_of(event, SessionView(backend="local"))
    assert why is not None
    said = plain(lines_of(why, UNICODE))
    assert "That is soft: speak closer to the microphone, or raise its level." in said
    assert "knows English sentences near those of its dialogue only" in said
