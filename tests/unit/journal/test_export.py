"""Export sessions: ranges, the content of each format, and safe writing of files."""

from __future__ import annotations

import json
import os
import stat
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markdown_it import MarkdownIt
from tests.support.canaries import HOSTILE
from tests.support.command_line import CONTROL
from tests.support.recordings import Recorder, debt_call

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import JournalError, NewerFormatError, UsageError
from gemini_live_runtime.journal.agent_lines import agent_lines
from gemini_live_runtime.journal.export import export, pieces
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.journal.formats.base import FORMATS, SOUND, ExportSource, Range
from gemini_live_runtime.journal.formats.markdown import escaped, quoted
from gemini_live_runtime.journal.plain import PlainWriter
from gemini_live_runtime.journal.recording.reader import read_journal
from gemini_live_runtime.journal.sessions.catalog import rename
from gemini_live_runtime.vocabulary import event_from_json, header

TEXTS = ("markdown", "text", "json", "realtime")


def made(folder: Path, fmt: Any, wanted: Range | None = None, *, redact: bool = False) -> str:
    return b"".join(pieces(ExportSource(folder, redact=redact, wanted=wanted or Range()), fmt)).decode()


# -- files -----------------------------------------------------------------------------------------------------------


def test_each_format_becomes_a_private_file_of_the_sessions_name(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path / "sessions")
    done = export(folder, TEXTS, tmp_path / "new" / "place")
    assert [path.name for path in done.files] == ["s1.md", "s1.txt", "s1.json", "s1.realtime.jsonl"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in done.files} == {0o600}
    assert (done.redacted, done.problems) != (0, 0)
    assert sorted((tmp_path / "new" / "place").iterdir()) == sorted(done.files)


def test_an_existing_file_stays_unless_that_is_forced(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path / "sessions")
    (tmp_path / "s1.json").write_text("precious")
    with pytest.raises(UsageError, match=r"s1.json exists.*--force"):
        export(folder, TEXTS, tmp_path)
    assert (tmp_path / "s1.json").read_text() == "precious"
    assert not (tmp_path / "s1.md").exists()
    export(folder, TEXTS, tmp_path, force=True)
    assert json.loads((tmp_path / "s1.json").read_text())["redacted"] is True


def test_a_link_in_the_place_of_the_file_is_not_written_through(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path / "sessions")
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "s1.md").symlink_to(precious)
    (tmp_path / "s1.txt").symlink_to(tmp_path / "nowhere")
    for fmt in ("markdown", "text"):
        with pytest.raises(UsageError, match="exists"):
            export(folder, [fmt], tmp_path)
    export(folder, ["markdown"], tmp_path, force=True)
    assert precious.read_text() == "mine"
    assert not (tmp_path / "s1.md").is_symlink()


def test_a_place_that_cannot_be_written_is_named_and_nothing_is_left_there(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path / "sessions")
    (tmp_path / "file").write_text("x")
    with pytest.raises((JournalError, UsageError), match="file"):
        export(folder, ["markdown"], tmp_path / "file" / "below")
    with pytest.raises((JournalError, UsageError), match="file"):
        export(folder, ["markdown"], tmp_path / "file")
    assert (tmp_path / "file").read_text() == "x"


def test_a_running_session_is_exported_as_it_stands(tmp_path: Path) -> None:
    recorder = debt_call()
    recorder.events.pop()
    writer = recorder.writer(tmp_path)
    assert "still running" in made(writer.folder, "markdown")
    writer.close()
    assert "broken off" in made(writer.folder, "markdown")


def test_what_is_written_between_the_two_looks_is_not_let_out(tmp_path: Path) -> None:
    # The redaction has not learned from events after the first pass, which may hold private values.
    recorder = debt_call()
    writer = recorder.writer(tmp_path)
    material = ExportSource(writer.folder, redact=True, wanted=Range())
    writer.append(ev.Event(len(recorder.events) + 1, 99.0, 9, 9, ev.TextSent(text="I am Zquirrel")).to_line())
    writer.close()
    assert "Zquirrel" not in b"".join(pieces(material, "text")).decode()


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (b"", JournalError, "empty"),
        (b"Dear diary\n", JournalError, "not a gemini-live-tui session"),
        (json.dumps({**header(), "version": ev.VERSION + 1}).encode() + b"\n", NewerFormatError, "Update"),
        (json.dumps(header()).encode() + b"\nnoise\n", JournalError, "no event"),
    ],
)
def test_what_is_no_session_is_refused_in_a_sentence(
    tmp_path: Path, content: bytes, error: type[Exception], words: str
) -> None:
    (tmp_path / "events.jsonl").write_bytes(content)
    with pytest.raises(error, match=words):
        export(tmp_path, ["markdown"], tmp_path / "to")
    assert not (tmp_path / "to").exists()


def test_a_damaged_session_is_exported_as_far_as_it_goes_and_said_to_be(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path)
    path = folder / "events.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:20], "noise", *lines[21:]]) + "\n" + '{"seq": 999, "t"')
    done = export(folder, ["text"], tmp_path / "to", redact=False)
    assert done.problems == 2
    assert "model: I will." in (tmp_path / "to" / "s1.txt").read_text()


def test_a_name_from_a_foreign_file_never_leads_elsewhere(tmp_path: Path) -> None:
    recorder = Recorder()
    recorder.start()
    for name in ("../../evil", "/etc/passwd", "a\x1b[31mb", ".hidden", ""):
        path = tmp_path / "foreign.jsonl"
        lines = [json.dumps({**header(), "session_id": name}), *(event.to_line() for event in recorder.events)]
        path.write_text("\n".join(lines) + "\n")
        done = export(path, ["text"], tmp_path / "to", force=True)
        assert [file.name for file in done.files] == ["session.txt"]


# -- ranges ----------------------------------------------------------------------------------------------------------


def marked_call() -> Recorder:
    recorder = debt_call()
    end = recorder.events.pop()
    recorder.emit(ev.MarkSet(text="ask about the letter"), after=60.0)
    recorder.begin_turn()
    recorder.user("Much later")
    recorder.complete()
    recorder.emit(ev.MarkSet(of=5), end.payload, after=100.0)
    return recorder


def test_a_turn_alone(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path)
    for fmt in TEXTS:
        text = made(folder, fmt, Range(turn=3))
        # Records of a controller hold no words.
        assert ("call me at" in text) is (fmt != "realtime"), fmt
        if fmt != "json":
            assert "I got a letter" not in text
            assert "Thank you" not in text
    events = json.loads(made(folder, "json", Range(turn=3)))["events"]
    assert {event["turn"] for event in events} == {3}
    assert export(folder, ["text"], tmp_path, wanted=Range(turn=3)).files[0].name == "s1-turn3.txt"


def test_seconds_alone(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path)
    text = made(folder, "text", Range(start=1.9, end=2.6))
    assert "Ms. Ruiz" not in text
    assert "letter" in text
    value = json.loads(made(folder, "json", Range(start=1.9, end=2.6)))
    assert all(1.9 <= event["t"] <= 2.6 for event in value["events"])
    assert value["view"]["seq"] == value["events"][-1]["seq"]
    assert export(folder, ["text"], tmp_path, wanted=Range(end=2.5)).files[0].name == "s1-0s-2.5s.txt"


def test_around_marks(tmp_path: Path) -> None:
    folder = marked_call().write(tmp_path)
    text = made(folder, "text", Range(around_marks=3.0))
    assert "mark: ask about the letter" in text
    assert "Much later" in text
    assert "Thank you" in text
    assert "call me at" not in text
    assert export(folder, ["text"], tmp_path, wanted=Range(around_marks=3.0)).files[0].name == "s1-marks.txt"


def test_around_a_mark_of_the_past_is_around_what_it_marks(tmp_path: Path) -> None:
    recorder = debt_call()
    said = next(event for event in recorder.events if event.turn == 1 and event.type == "transcript.delta")
    end = recorder.events.pop()
    recorder.emit(ev.MarkSet(text="listen", of=said.seq, t=said.t), end.payload, after=200.0)
    folder = recorder.write(tmp_path)
    text = made(folder, "text", Range(around_marks=0.4))
    assert "Ms. Ruiz" in text
    assert "I got a letter" not in text
    document = made(folder, "markdown", Range(around_marks=0.4))
    assert "| Marks | 1 |" in document
    assert "- **Mark** 3:" in made(folder, "markdown")


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Range(turn=9), "no turn 9.*turns 1 to 3"),
        (Range(start=5.0, end=5.0), "nothing from 5 s to 5 s"),
        (Range(start=-1.0), "nothing from -1 s"),
        (Range(start=500.0, end=600.0), "over after"),
        (Range(around_marks=10.0), "Nothing was marked"),
        (Range(around_marks=0.0), "not possible"),
        (Range(turn=1, start=2.0), "Give one of them"),
    ],
)
def test_a_range_that_is_not_there_is_a_sentence(tmp_path: Path, wanted: Range, words: str) -> None:
    folder = debt_call().write(tmp_path)
    with pytest.raises(UsageError, match=words):
        export(folder, ["text"], tmp_path, wanted=wanted)


# -- text and JSON ---------------------------------------------------------------------------------------------------


def test_the_text_is_what_plain_prints(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path)
    writer = PlainWriter(times=True, agent=agent_lines("decisions"))
    lines = [line for event in read_journal(folder) for line in writer.feed(event)]
    assert made(folder, "text").splitlines() == "\n".join([*lines, *writer.rest()]).splitlines()


def test_the_json_holds_the_events_and_the_view_at_their_end(tmp_path: Path) -> None:
    recorder = debt_call()
    folder = recorder.write(tmp_path)
    rename(folder, "Angry caller")
    text = made(folder, "json")
    value = json.loads(text)
    assert text.replace("\n", "").isprintable()
    assert (value["format"], value["version"], value["redacted"]) == ("gemini-live-tui/export", 1, False)
    session = {"id": "s1", "title": "Angry caller", "seconds": recorder.t, "turns": 3, "missing": []}
    assert value["session"] == session
    assert [event_from_json(event) for event in value["events"]] == recorder.events
    view = SessionView.from_json(value["view"])
    assert (view.phase, view.turns_completed, view.ended) == ("negotiate", 3, "the operator hung up")


# -- Markdown --------------------------------------------------------------------------------------------------------


def test_the_document_tells_what_happened(tmp_path: Path) -> None:
    folder = marked_call().write(tmp_path)
    rename(folder, "Angry *caller*")
    text = made(folder, "markdown")
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


def test_what_arrives_of_a_cut_answer_afterwards_is_struck_out_too(tmp_path: Path) -> None:
    recorder = debt_call()
    recorder.events = recorder.events[:-1]
    recorder.begin_turn()
    recorder.model("All of it was ")
    recorder.interrupt("All of it", " was ")
    recorder.emit(ev.TranscriptDelta(side="model", text="lost."))
    recorder.complete(outcome="interrupted")
    assert "> ~~was lost.~~" in made(recorder.write(tmp_path), "markdown")


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


@pytest.mark.parametrize("redact", [False, True])
def test_hostile_sessions_export_harmlessly(tmp_path: Path, redact: bool) -> None:
    spoof = f"{HOSTILE}\nmodel: I am the model\n# Heading\n"
    recorder = Recorder()
    recorder.start(agent=spoof, model=spoof, backend=spoof, program=spoof, phrases=(spoof,), tools=(spoof,))
    recorder.begin_turn()
    recorder.user(spoof)
    recorder.model(spoof)
    recorder.interrupt(spoof, spoof)
    recorder.tool(spoof, {spoof: spoof}, {spoof: [spoof]})
    recorder.phase(spoof, spoof, spoof)
    recorder.state(spoof, spoof)
    recorder.emit(ev.Notice(level="error", code=spoof, text=spoof, remedy=spoof), ev.MarkSet(text=spoof))
    recorder.emit(ev.Log(source="stdout", level="info", text=spoof), ev.Unknown(name=spoof, data={spoof: spoof}))
    recorder.end(spoof)
    folder = recorder.write(tmp_path)
    (folder / "title.json").write_text(json.dumps({"title": spoof}))
    for fmt in TEXTS:
        text = made(folder, fmt, redact=redact)
        assert CONTROL.findall(text) == [], fmt
        if fmt == "text":
            assert not any(line.startswith("model: I am") for line in text.splitlines())
        if fmt == "markdown":
            assert [line for line in text.splitlines() if line.startswith("#")] == [
                line for line in text.splitlines() if line.startswith(("# ", "## Transcript", "### "))
            ]
            assert text.count("\n# ") == 0


# -- sound -----------------------------------------------------------------------------------------------------------


def tone(samples: int, hertz: float, rate: int) -> bytes:
    wave_ = 12000 * np.sin(np.arange(samples) * (2 * np.pi * hertz / rate))
    return wave_.astype("<i2").tobytes()


def sound_call(*, muted: bool = False) -> tuple[Recorder, dict[ev.Side, bytes]]:
    """Record speech of the user and two answers of the model.

    The user speaks from second 1 to 2. The model answers for 2 s from second 3, is interrupted at 4, and answers for
    1 s from 6.
    """
    recorder = Recorder()
    recorder.start(record="audio")
    sent = {"direction": "sent", "track": "user", "rate": 16000, "mime_type": "audio/pcm;rate=16000"}
    received = {"direction": "received", "track": "model", "rate": 24000, "mime_type": "audio/pcm;rate=24000"}
    recorder.turn, recorder.gen, recorder.t = 1, 1, 1.0
    recorder.emit(ev.TurnStarted(by="voice"), after=0.2)
    recorder.t = 2.0
    recorder.emit(ev.WireAudio(first=0, count=16000, frames=((320, 50),), **sent))
    recorder.emit(ev.WireAudio(first=0, count=48000, frames=((48000, 1),), **received), after=0.5)
    recorder.t = 3.5
    recorder.emit(ev.PlaybackHeard(of=1, first=0, count=12000, muted=muted))
    recorder.t = 4.0
    recorder.emit(ev.PlaybackHeard(of=1, first=12000, count=12000, muted=muted))
    recorder.interrupt("half", "of it")
    recorder.turn, recorder.gen = 2, 2
    recorder.emit(ev.TurnStarted(by="model"))
    frame = {"serverContent": {"inlineData": {"data": {"$audio": {"track": "model", "first": 48000, "count": 24000}}}}}
    recorder.emit(ev.WireMessage(direction="received", kinds=("serverContent",), frame=frame, size=1), after=1.0)
    recorder.t = 7.0
    recorder.emit(ev.PlaybackHeard(of=2, first=0, count=24000, muted=muted))
    recorder.end()
    return recorder, {
        "user": tone(16000, 500, 16000),
        "model": tone(48000, 700, 24000) + tone(24000, 900, 24000),
    }


def wav(path: Path) -> tuple[int, np.ndarray]:
    with wave.open(str(path)) as file:
        assert file.getsampwidth() == 2
        pcm = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(float)
        return file.getframerate(), pcm.reshape(-1, file.getnchannels())


def loud(pcm: np.ndarray, rate: int, start: float, end: float) -> float:
    part = pcm[int(start * rate) : int(end * rate)]
    return float(np.sqrt((part**2).mean()))


def export_sound(tmp_path: Path, formats: Any = ("microphone", "model", "stereo"), **more: Any) -> dict[str, Any]:
    recorder, tracks = sound_call()
    folder = recorder.write(tmp_path / "sessions", tracks=tracks)
    done = export(folder, formats, tmp_path / "to", redact=False, **more)
    return {path.name: wav(path) for path in done.files}


def test_each_voice_lies_where_it_was_on_the_sessions_clock(tmp_path: Path) -> None:
    files = export_sound(tmp_path)
    rate, mine = files["s1-microphone.wav"]
    assert rate == 16000
    assert loud(mine, rate, 0, 0.99) == 0
    assert loud(mine, rate, 1.01, 1.99) > 8000
    assert loud(mine, rate, 2.01, 7) == 0
    rate, its = files["s1-model.wav"]
    assert rate == 24000
    assert loud(its, rate, 0, 2.99) == 0
    assert loud(its, rate, 3.01, 3.99) > 8000
    assert loud(its, rate, 6.01, 6.99) > 8000


def test_what_was_cut_before_it_was_heard_is_left_out(tmp_path: Path) -> None:
    rate, its = export_sound(tmp_path, ["model"])["s1-model.wav"]
    assert loud(its, rate, 4.01, 5.99) == 0
    heard = its[3 * rate : 4 * rate, 0]
    expected = np.frombuffer(tone(24000, 700, 24000), "<i2")
    assert np.array_equal(heard, expected)


def test_stereo_has_the_user_left_and_the_model_right_in_step(tmp_path: Path) -> None:
    files = export_sound(tmp_path)
    rate, both = files["s1-stereo.wav"]
    assert (rate, both.shape[1]) == (24000, 2)
    left, right = both[:, :1], both[:, 1:]
    assert loud(left, rate, 1.01, 1.99) > 8000
    assert loud(left, rate, 2.05, 7) < 20
    assert loud(right, rate, 3.01, 3.99) > 8000
    assert loud(right, rate, 0, 2.99) == 0
    assert np.array_equal(right, files["s1-model.wav"][1])
    assert abs(len(both) / 24000 - len(files["s1-microphone.wav"][1]) / 16000) < 0.001
    spectrum = np.abs(np.fft.rfft(left[24000:48000, 0]))
    assert int(spectrum.argmax()) == 500


def test_both_sides_of_an_export_lie_on_the_same_sample(tmp_path: Path) -> None:
    recorder, _ = sound_call()
    user, model = np.zeros(16_000, "<i2"), np.zeros(72_000, "<i2")
    user[[0, 8_000, 15_998]] = 20_000
    model[[0, 12_000, 23_999]] = 20_000
    folder = recorder.write(tmp_path / "sessions", tracks={"user": user.tobytes(), "model": model.tobytes()})
    for start in (0.0, 0.5, 0.99):
        where = Range(start=start, end=5.0)
        (done,) = export(folder, ["stereo"], tmp_path / f"{start}", redact=False, wanted=where).files
        rate, both = wav(done)
        # The user spoke from second 1 to 2, the model was heard from 3 to 4.
        clicks = [round((t - start) * rate) for t in (1.0, 1.5)]
        assert [at - 50 + int(np.abs(both[max(0, at - 50) : at + 50, 0]).argmax()) for at in clicks] == clicks
        assert np.flatnonzero(both[:, 1]).tolist() == [round((t - start) * rate) for t in (3.0, 3.5, 4.0 - 1 / rate)]


def test_the_sound_of_a_range_and_of_a_turn(tmp_path: Path) -> None:
    rate, its = export_sound(tmp_path, ["model"], wanted=Range(start=3.0, end=4.0))["s1-3s-4s-model.wav"]
    assert len(its) == pytest.approx(rate, rel=0.02)
    assert loud(its, rate, 0.01, 0.99) > 8000
    rate, its = export_sound(tmp_path / "again", ["model"], wanted=Range(turn=2))["s1-turn2-model.wav"]
    assert loud(its, rate, 0, len(its) / rate) > 1000


def test_the_sound_around_marks_that_are_near_each_other_is_there_once(tmp_path: Path) -> None:
    recorder, tracks = sound_call()
    recorder.emit(ev.MarkSet(of=2), ev.MarkSet(of=4))
    folder = recorder.write(tmp_path, tracks=tracks)
    first, second = (recorder.events[seq - 1].t for seq in (2, 4))
    assert 0 < second - first < 2
    done = export(folder, ["model"], tmp_path / "to", redact=False, wanted=Range(around_marks=1.0))
    rate, its = wav(done.files[0])
    assert len(its) / rate == pytest.approx(second - first + 2, abs=0.05)


def test_what_was_played_while_muted_is_silence(tmp_path: Path) -> None:
    recorder, tracks = sound_call(muted=True)
    folder = recorder.write(tmp_path, tracks=tracks)
    with pytest.raises(JournalError, match=r"Nothing of the model was heard.*model\.wav"):
        export(folder, ["model"], tmp_path / "to", redact=False)
    done = export(folder, ["stereo"], tmp_path / "to", redact=False)
    rate, both = wav(done.files[0])
    assert loud(both[:, 1:], rate, 0, 7) == 0
    assert loud(both[:, :1], rate, 1.01, 1.99) > 8000
    (folder / "user.wav").unlink()
    with pytest.raises(JournalError, match=r"Nothing of the model was heard"):
        export(folder, ["stereo"], tmp_path / "again", redact=False)


@pytest.mark.parametrize("fmt", sorted(SOUND))
def test_sound_that_was_not_recorded_is_a_sentence_and_no_file(tmp_path: Path, fmt: Any) -> None:
    folder = debt_call().write(tmp_path)
    with pytest.raises(JournalError, match=r"was not recorded|No sound was recorded"):
        export(folder, ["text", fmt], tmp_path / "to", redact=False)
    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize("fmt", sorted(SOUND))
def test_sound_is_refused_under_redaction(tmp_path: Path, fmt: Any) -> None:
    recorder, tracks = sound_call()
    folder = recorder.write(tmp_path, tracks=tracks)
    with pytest.raises(UsageError, match="Voices cannot be redacted"):
        export(folder, ["text", fmt], tmp_path / "to")
    assert not (tmp_path / "to").exists()


def test_numbers_made_up_in_a_foreign_file_make_no_endless_sound(tmp_path: Path) -> None:
    recorder, tracks = sound_call()
    recorder.emit(ev.PlaybackHeard(of=2, first=10**15, count=10**15))
    recorder.t = 3e8
    recorder.emit(
        ev.WireAudio(
            direction="sent", track="user", rate=16000, first=10**15, count=16000, frames=(), mime_type="audio/pcm"
        )
    )
    folder = recorder.write(tmp_path, tracks=tracks)
    with pytest.raises(UsageError, match="12 hours"):
        export(folder, ["microphone"], tmp_path / "to", redact=False)
    done = export(folder, ["stereo"], tmp_path / "to", redact=False, wanted=Range(start=0, end=8))
    assert loud(wav(done.files[0])[1], 24000, 0, 8) > 100


def test_a_track_that_was_cut_off_is_silence_from_there(tmp_path: Path) -> None:
    recorder, tracks = sound_call()
    tracks["model"] = tracks["model"][:24000]
    folder = recorder.write(tmp_path, tracks=tracks)
    done = export(folder, ["model"], tmp_path / "to", redact=False)
    rate, its = wav(done.files[0])
    assert loud(its, rate, 3.01, 3.49) > 8000
    assert loud(its, rate, 3.51, 7) == 0


def test_every_format_is_covered_here() -> None:
    assert set(FORMATS) == {*TEXTS, *SOUND}


def test_disk_full_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = debt_call().write(tmp_path / "sessions")

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(JournalError, match=r"\.txt cannot be written: No space left") as refused:
        export(folder, ["text"], tmp_path / "to")
    assert refused.value.remedy == f"Free some space on the disk of {tmp_path / 'to'}, or choose another folder"
    assert list((tmp_path / "to").iterdir()) == []


def test_a_file_that_cannot_be_created_is_told_by_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = debt_call().write(tmp_path / "sessions")

    def refused_disk(path: str | Path, flags: int) -> int:
        raise OSError(5, "Input/output error", str(path))

    monkeypatch.setattr("gemini_live_runtime.paths.open_private", refused_disk)
    with pytest.raises(JournalError, match=r"\.txt cannot be written: Input/output error") as refused:
        export(folder, ["text"], tmp_path / "to")
    assert ".part" not in refused.value.message
    assert refused.value.remedy.startswith("Check the disk of ")
