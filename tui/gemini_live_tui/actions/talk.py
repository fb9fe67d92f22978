"""Talking: the mode, the microphone, the speaker."""

from __future__ import annotations

from gemini_live_tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action(
        "text-mode",
        "ctrl+b,f2",
        "toggle_text_mode",
        "Text",
        "Text mode and back: the microphone goes off, the speaker stays as it is, what you type is sent",
        "Talk",
        anywhere=True,
        bar="always",
    ),
    Action(
        "text",
        "",
        "set_mode('text')",
        "Text mode",
        "Text mode: the microphone is off, the prompt has the keys",
        "Talk",
        palette=False,
        slash="text",
    ),
    Action(
        "voice",
        "",
        "set_mode('voice')",
        "Voice mode",
        "Voice mode: the microphone is open, single keys are commands",
        "Talk",
        palette=False,
        slash="voice",
    ),
    Action(
        "mute",
        "space,f4",
        "mute",
        "Mute",
        "Mute the microphone, or open it again",
        "Talk",
        bar="voice",
        slash="mute",
    ),
    Action(
        "mute-speaker",
        "v,f5",
        "mute_speaker",
        "Speaker",
        "Mute the speaker, or open it again",
        "Talk",
        bar="voice",
        slash="speaker",
    ),
    Action(
        "interrupt",
        "escape",
        "interrupt",
        "Interrupt",
        "Stop the model; when it is silent: put the notice away, or leave the prompt for the panes",
        "Talk",
        anywhere=True,
        bar="always",
        slash="interrupt",
    ),
)
