"""List the actions on mode, microphone and speaker."""

from __future__ import annotations

from gemini_live_tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action(
        "text-mode",
        "ctrl+b,f2",
        "toggle_text_mode",
        "Text",
        "Switch to text mode or back; in text mode the microphone is off and the prompt has the cursor",
        "Talk",
        anywhere=True,
        bar="always",
    ),
    Action(
        "text",
        "",
        "set_mode('text')",
        "Text mode",
        "Text mode: the microphone is off, the prompt has the cursor",
        "Talk",
        palette=False,
        slash="text",
    ),
    Action(
        "voice",
        "",
        "set_mode('voice')",
        "Voice mode",
        "Voice mode: the microphone is open, letters are commands",
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
        "v",
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
        "Stop speech",
        "Stop the model's speech",
        "Talk",
        anywhere=True,
        bar="always",
        slash="interrupt",
    ),
    Action(
        "connect",
        "C",
        "connect",
        "Connect",
        "Make a lost or refused connection again, now",
        "Talk",
        slash="connect",
    ),
)
