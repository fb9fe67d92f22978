"""Compare a turn's latency in all places that show it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.session.talking import SECOND_OF_SPEECH, Talk, agent, talk
from tests.support.command_line import run
from tests.support.recordings import Recorder

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.audio.interface import AudioIO, AudioListener, AudioOpened
from gemini_live_runtime.audio.no_audio import NoAudio
from gemini_live_runtime.journal.fold.session_fold import fold
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.latency import percentile
from gemini_live_runtime.wire.audio_frame import encode_model_audio
from gemini_live_tui.console.meter_strip import MeterStrip
from gemini_live_tui.dialogs.meters import MeterSheet
from gemini_live_tui.painting.formatting import duration_text
from gemini_live_tui.painting.glyphs import UNICODE
from gemini_live_tui.panes import latency_bars
from gemini_live_tui.panes.transcript import Transcript
from gemini_live_tui.session_data.meter_history import MeterHistory, OwnCost

SPEAKER_MS = 20.4
"""Milliseconds that the speaker of these sessions reports: rounded parts must add up all the same."""


class Speaker(FileAudio):
    """Loudspeaker that needs some time from a sample to its sound."""

    async def open(self, listener: AudioListener) -> AudioOpened:
        """Open the file."""
        opened = await super().open(listener)
        assert opened.output is not None
        return replace(opened, output=replace(opened.output, latency_ms=SPEAKER_MS))


async def sound(t: Talk) -> None:
    """Send a quarter of a second of the model's voice."""
    await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH // 4)))


async def spoken(t: Talk) -> None:
    """Answer a voice 0.3437 s after the server's mark."""
    await t.voice(True)
    await t.hears("hello")
    await t.voice(False)
    await t.passes(0.3437)
    await sound(t)
    await t.says("Good day.")
    await t.passes(0.5)
    await t.ends()


async def typed(t: Talk) -> None:
    """Answer a typed text after 0.1113 s; the turn is over before its sound is played."""
    await t.types("hello")
    await t.passes(0.1113)
    await sound(t)
    await t.ends()
    await t.passes(0.5)


async def with_tool(t: Talk) -> None:
    """Answer a typed text once a tool has run."""
    await t.types("what time is it")
    await t.calls("clock")
    await t.passes(0.7)
    await t.says("Noon.")
    await sound(t)
    await t.passes(0.5)
    await t.ends()


async def while_held(t: Talk) -> None:
    """Answer a typed text 0.7 s after the end of a hold of 4 s."""
    await t.types("what time is it now")
    await t.commands(cmd.HoldAgent())
    await t.calls("clock")
    await t.passes(4.0)
    await t.commands(cmd.ReleaseAgent())
    await t.passes(0.7)
    await t.says("One.")
    await sound(t)
    await t.passes(0.5)
    await t.ends()


async def cut_before_sound(t: Talk) -> None:
    """Interrupt an answer that has come, before its first sample is played."""
    await t.types("hello")
    await sound(t)
    await t.server.says(serverContent={"outputTranscription": {"text": "Well"}})
    await t.server.says(serverContent={"interrupted": True})
    await t.server.says(serverContent={"turnComplete": True})
    await t.passes(0.5)


async def in_words(t: Talk) -> None:
    """Answer a typed text without sound."""
    await t.types("hello")
    await t.passes(1.2346)
    await t.says("In words.")
    await t.ends()


async def clock() -> str:
    """Tell the time."""
    await asyncio.sleep(0.2)
    return "noon"


class Held:
    """Session that was held, with the folder of its recording."""

    def __init__(self, events: list[ev.Event], figures: dict[str, Any], folder: Path) -> None:
        made = Recorder()
        made.start()
        for event in events:
            made.turn, made.gen = event.turn, event.gen
            made.emit(event.payload, after=0.005)
        self.folder = made.write(folder)
        self.figures = figures
        self.view: SessionView = fold(made.events)
        self.measured = [event.payload for event in events if isinstance(event.payload, ev.TurnMeasured)]
        self.completed = {
            event.turn: event.payload.latency_ms for event in events if isinstance(event.payload, ev.TurnCompleted)
        }
        self.latencies = {m.of_turn: m.latency_ms for m in self.measured if m.latency_ms is not None}


async def hold(folder: Path, audio: Callable[[], AudioIO], *turns: Callable[[Talk], Any]) -> Held:
    """Hold a session of these turns."""
    async with talk(agent().tools(clock), audio=audio) as t:
        await t.passes(0.1)
        for turn in turns:
            await turn(t)
        figures = t.handle.telemetry()
    return Held(t.stage.sink.events, figures, folder)


def said(rows: Any) -> str:
    """Return the text of painted rows."""
    return "\n".join("".join(text for text, _ in getattr(row, "runs", row)) for row in rows)


async def every_turn(folder: Path, *, silent: bool) -> Held:
    """Hold a session of every kind of turn, with a speaker or without."""

    def speaker() -> AudioIO:
        return NoAudio() if silent else Speaker(None, folder / "out.wav")

    return await hold(folder, speaker, spoken, typed, with_tool, cut_before_sound, in_words, while_held)


@pytest.mark.parametrize("silent", [False, True], ids=["speaker", "no speaker"])
async def test_all_places_show_the_same_latency_of_a_turn(tmp_path: Path, silent: bool) -> None:
    held = await every_turn(tmp_path, silent=silent)
    view, cards = held.view, held.view.agent_view.turns
    unheard = set() if silent else {4}
    assert {m.of_turn for m in held.measured} == {1, 2, 3, 4, 5, 6}
    assert held.latencies.keys() == {1, 2, 3, 4, 5, 6} - unheard
    assert all(held.completed[turn] in (None, ms) for turn, ms in held.latencies.items())
    assert held.latencies[6] < 1500, "the time for which the agent was held is no latency"
    # The event's parts, and those that are printed, add up.
    plain = run("replay", "--plain", "--detail", "all", str(held.folder)).out
    text = run("export", "--as", "text", "--no-redact", "--to", "-", str(held.folder)).out
    for m in held.measured:
        parts = {name: ms for name, ms in m.stages.items() if name != "total" and ms is not None}
        assert m.first_byte_ms is not None
        line = f"turn: {m.of_turn}: " + ("no sound" if m.latency_ms is None else f"{m.latency_ms:.0f} ms = ")
        assert line in plain
        assert line in text
        if m.latency_ms is None:
            continue
        assert m.stages["total"] == m.latency_ms == round(sum(parts.values()), 1)
        printed = re.search(rf"turn: {m.of_turn}: (\d+) ms = ([^;]*); first byte (\d+) ms;", plain)
        assert printed is not None
        assert sum(int(number) for number in re.findall(r"\d+", printed[2])) == int(printed[1])
        assert printed[3] == f"{m.first_byte_ms:.0f}"
    # Transcript, latency pane, timeline.
    transcript = Transcript()
    transcript._view = view
    for index, block in enumerate(view.blocks):
        if block.kind != "model":
            continue
        ms, lines = held.latencies.get(block.turn), said(transcript.item_lines(index, 100))
        assert block.ms == ms
        assert (" ms " not in lines) if ms is None else (f"{ms:.0f} ms │" in lines)
    for turn, ms in held.latencies.items():
        card = cards[turn]
        assert f"turn {turn} · {ms:.0f} ms " in said([latency_bars.title(card, UNICODE, 120)])
        assert f"first byte {card.first_byte_ms:.0f} ms" in said([latency_bars.title(card, UNICODE, 120)])
        assert sum(int(n) for n in re.findall(r"(\d+) ms", said(latency_bars.bars(card, 80, UNICODE)))) == round(ms)
        inline = latency_bars.inline(card, UNICODE, 80)
        assert inline.startswith(f"{ms:.0f} ms ")
        assert sum(int(n) for n in re.findall(r" (\d+)", inline.partition(" ms ")[2])) == round(ms)
    assert [card.latency_ms for card in cards.values() if card.latency_ms is not None] == [*held.latencies.values()]
    # Strip and meters.
    assert view.latencies == [*held.latencies.values()]
    strip = MeterStrip()
    strip._view = view
    assert duration_text(view.latencies[-1]) in said([strip.runs(200)])
    sheet = MeterSheet(MeterHistory(), OwnCost(lambda: 0.0), UNICODE, on_rows=lambda *_: None)
    sheet._view = view
    row = next(line for line in said(sheet.rows(120, 40)).splitlines() if line.startswith(" latency"))
    assert duration_text(view.latencies[-1]) in row
    assert f"{len(held.latencies)} turns" in row
    # Percentiles, telemetry, exports.
    values = [*held.latencies.values()]
    p50, p95 = percentile(values, 50), percentile(values, 95)
    assert p50 is not None
    assert p95 is not None
    summary = said([latency_bars.summary(view, UNICODE)])
    assert f"p50 {duration_text(p50)} · p95 {duration_text(p95)} · worst {duration_text(max(values))}" in summary
    total = held.figures["stages"]["total"]
    assert (total["count"], total["p50_ms"], total["p95_ms"]) == (len(values), p50, p95)
    assert held.figures["text_latency"]["count"] + held.figures["response_latency"]["count"] == len(values)
    assert held.figures["first_byte"]["count"] == len(held.measured)
    assert round(held.latencies[1]) == held.figures["last_response_latency_ms"]
    assert held.latencies[6] == held.figures["text_latency"]["last_ms"]
    document = run("export", "--to", "-", str(held.folder)).out
    assert f"median {p50:.0f} ms, worst {max(values):.0f} ms ({len(values)} turns)" in document
    assert f"**Model** 0:00, {held.latencies[3]:.0f} ms" in document
    exported = json.loads(run("export", "--as", "json", "--no-redact", "--to", "-", str(held.folder)).out)
    assert exported["view"]["latencies"] == values
    turns = exported["view"]["mind"]["turns"]
    assert {int(turn): card["latency_ms"] for turn, card in turns.items() if card["latency_ms"]} == held.latencies


async def test_a_latency_ends_at_the_speaker_and_not_when_the_sound_arrives(tmp_path: Path) -> None:
    held = await hold(tmp_path, lambda: Speaker(None, tmp_path / "out.wav"), typed)
    (measured,) = held.measured
    assert measured.first_byte_ms is not None
    assert measured.latency_ms is not None
    assert measured.stages["speaker"] == SPEAKER_MS
    assert measured.latency_ms >= measured.first_byte_ms + SPEAKER_MS
    assert held.completed == {1: None}  # its sound was not played yet


async def test_a_latency_of_a_session_without_a_speaker_ends_when_the_answer_is_handed_over(tmp_path: Path) -> None:
    held = await hold(tmp_path, NoAudio, typed)
    (measured,) = held.measured
    assert measured.latency_ms == measured.first_byte_ms
    assert (measured.stages["buffer"], measured.stages["speaker"]) == (None, None)
