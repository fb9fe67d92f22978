"""Fold playback, devices, meters and the health of the sound."""

from __future__ import annotations

from dataclasses import asdict

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold import spoken_blocks
from gemini_live_runtime.journal.fold.blocks import change, last_notices, open_block
from gemini_live_runtime.journal.fold.fold_parts import NOTICE_CHARS, Handlers, clean_name
from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_runtime.samples import MeterSample
from gemini_live_runtime.text import sanitise_line

HANDLERS = Handlers()
"""Handlers of playback, devices and meters."""


@HANDLERS.on(ev.PlaybackStarted)
def _playback_started(view: SessionView, event: ev.Event, p: ev.PlaybackStarted) -> Dirty:
    view.playing = True
    spoken_blocks.start(view, event)
    return Dirty.METERS if view.playhead is None else Dirty.METERS | Dirty.TRANSCRIPT


@HANDLERS.on(ev.PlaybackHeard)
def _playback_heard(view: SessionView, event: ev.Event, p: ev.PlaybackHeard) -> Dirty:
    view.heard_samples += p.count
    dirty = spoken_blocks.go_on(view, event, p.of, p.first)
    spoken_blocks.play(view, p.of, p.first + p.count, event.t)
    return dirty if view.playhead is None else dirty | Dirty.TRANSCRIPT


@HANDLERS.on(ev.PlaybackPaused)
def _playback_paused(view: SessionView, event: ev.Event, p: ev.PlaybackPaused) -> Dirty:
    spoken_blocks.pause(view, p.of, p.at, event.t, paused=True)
    return Dirty.METERS | Dirty.TRANSCRIPT


@HANDLERS.on(ev.PlaybackResumed)
def _playback_resumed(view: SessionView, event: ev.Event, p: ev.PlaybackResumed) -> Dirty:
    spoken_blocks.pause(view, p.of, p.at, event.t, paused=False)
    return Dirty.METERS | Dirty.TRANSCRIPT


@HANDLERS.on(ev.PlaybackDrained)
def _playback_drained(view: SessionView, event: ev.Event, p: ev.PlaybackDrained) -> Dirty:
    view.playing = False
    return Dirty.METERS | spoken_blocks.drain(view, p.of)


@HANDLERS.on(ev.AudioOpened)
def _audio_opened(view: SessionView, event: ev.Event, p: ev.AudioOpened) -> Dirty:
    before = view.input_device, view.output_device
    view.input_device, view.output_device = sanitise_line(p.input, 60), sanitise_line(p.output, 60)
    view.echo_canceller = sanitise_line(p.echo_canceller)
    now = f"Microphone: {view.input_device or 'none'}. Speaker: {view.output_device or 'none'}."
    if p.again:
        # First what was lost, then what goes on in its place.
        _device_problems(view, event, p.problems)
        open_block(view, event, "notice", text=f"The sound goes on. {now}", status="info", done=True)
    else:
        if any(before) and before != (view.input_device, view.output_device):
            open_block(view, event, "notice", text=now, status="info", done=True)
        _device_problems(view, event, p.problems)
    return Dirty.METERS | Dirty.HEADER | Dirty.TRANSCRIPT


@HANDLERS.on(ev.AudioLost)
def _audio_lost(view: SessionView, event: ev.Event, p: ev.AudioLost) -> Dirty:
    if p.direction == "input":
        view.input_device = ""
    else:
        view.output_device, view.playing = "", False
        spoken_blocks.stop(view, event)
    _device_problems(view, event, (p.reason,), sanitise_line(p.remedy, NOTICE_CHARS))
    return Dirty.METERS | Dirty.TRANSCRIPT


def _device_problems(view: SessionView, event: ev.Event, problems: tuple[str, ...], remedy: str = "") -> None:
    for problem in problems:
        text = sanitise_line(problem, NOTICE_CHARS)
        open_block(view, event, "notice", text=text, detail=remedy, status="warning", done=True, action="devices")


_MAY_HEAR_ITSELF = "The model may hear itself, use headphones."


@HANDLERS.on(ev.EchoLeaking)
def _echo(view: SessionView, event: ev.Event, p: ev.EchoLeaking) -> Dirty:
    view.echo_leaking = p.leaking
    if p.leaking:
        open_block(view, event, "notice", text=_MAY_HEAR_ITSELF, status="warning", done=True)
        return Dirty.METERS | Dirty.NOTICES | Dirty.TRANSCRIPT
    return Dirty.METERS | Dirty.NOTICES


@HANDLERS.on(ev.SoundHealth)
def _health(view: SessionView, event: ev.Event, p: ev.SoundHealth) -> Dirty:
    if p.well:
        view.health.pop(p.kind, None)
        return Dirty.METERS
    text, remedy = sanitise_line(p.text, NOTICE_CHARS), sanitise_line(p.remedy, NOTICE_CHARS)
    action = sanitise_line(p.action, 40)
    view.health[p.kind] = (text, action)
    for index, block in last_notices(view):
        if p.kind == "echo" and block.text == _MAY_HEAR_ITSELF:
            # The same news, with what helps.
            view.block_chars += len(text) + len(remedy) - len(block.text)
            change(view, index, text=text, detail=remedy, action=action)
            return Dirty.METERS | Dirty.TRANSCRIPT
    open_block(view, event, "notice", text=text, detail=remedy, status="warning", done=True, action=action)
    return Dirty.METERS | Dirty.NOTICES | Dirty.TRANSCRIPT


@HANDLERS.on(ev.VoiceMarked)
def _voice(view: SessionView, event: ev.Event, p: ev.VoiceMarked) -> Dirty:
    if p.source != "local":
        return Dirty.NONE
    view.voice = p.speaking
    return Dirty.METERS


@HANDLERS.on(ev.Meters)
def _meters(view: SessionView, event: ev.Event, p: ev.Meters) -> Dirty:
    # The samples between tell of the audio process.
    restarts, priority = view.meters.audio_restarts, view.meters.audio_priority
    values = {**asdict(p), "answer": clean_name(p.answer)}
    view.meters = MeterSample(t=event.t, **values, audio_restarts=restarts, audio_priority=priority)
    return Dirty.METERS
