"""List the actions on mode, microphone and speaker."""

from __future__ import annotations

from gemini_live_tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action(
        "text-mode",
        "ctrl+b,f2",
        "toggle_text_mode",
        "Text",
        "Switch to text mode or back; in text mode the microphone is off and the prompt has the keys",
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
        "Mute the microphone, or unmute it",
        "Talk",
        bar="voice",
        slash="mute",
    ),
    Action(
        "mute-speaker",
        "v,f5",
        "mute_speaker",
        "Speaker",
        "Mute the speaker, or unmute it",
        "Talk",
        bar="voice",
        slash="speaker",
    ),
    Action(
        "interrupt",
        "escape",
        "interrupt",
        "Interrupt",
        "Stop the model; when it is silent, close the notice or leave the prompt",
        "Talk",
        anywhere=True,
        bar="always",
        slash="interrupt",
    ),
)
