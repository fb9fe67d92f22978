"""The console itself."""

from __future__ import annotations

from gemini_live_tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action(
        "copy",
        "ctrl+c",
        "copy_or_quit",
        "Copy",
        "Copy what is selected; with nothing selected, twice: quit",
        "Console",
        scope="app",
        anywhere=True,
        palette=False,
    ),
    Action(
        "help",
        "f1,question_mark",
        "open('help')",
        "Help",
        "All keys",
        "Console",
        scope="app",
        bar="always",
        slash="help",
    ),
    Action(
        "palette",
        "ctrl+p,f3",
        "open('palette')",
        "Commands",
        "Search for a command by its name",
        "Console",
        scope="app",
        anywhere=True,
        bar="always",
        palette=False,
    ),
    Action(
        "theme",
        "f9",
        "next_theme",
        "Theme",
        "Change to the next theme",
        "Console",
        scope="app",
        anywhere=True,
        slash="theme [THEME]",
        takes="use_theme",
    ),
    Action(
        "quit",
        "ctrl+q",
        "hang_up_and_quit",
        "Quit",
        "Hang up and quit",
        "Console",
        scope="app",
        anywhere=True,
        bar="always",
        slash="quit",
    ),
)
