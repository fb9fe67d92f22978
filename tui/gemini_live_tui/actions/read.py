"""List the actions that scroll the focused pane."""

from __future__ import annotations

from gemini_live_tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action(
        "scroll-up", "up", "scroll('up')", "Line up", "Scroll the focused pane up", "Read", yields=True, palette=False
    ),
    Action(
        "scroll-down",
        "down",
        "scroll('down')",
        "Line down",
        "Scroll the focused pane down",
        "Read",
        yields=True,
        palette=False,
    ),
    Action(
        "page-up",
        "pageup",
        "scroll('page_up')",
        "Page up",
        "Scroll the focused pane a page up",
        "Read",
        anywhere=True,
        palette=False,
    ),
    Action(
        "page-down",
        "pagedown",
        "scroll('page_down')",
        "Page down",
        "Scroll the focused pane a page down",
        "Read",
        anywhere=True,
        palette=False,
    ),
    Action(
        "search",
        "ctrl+f",
        "search",
        "Search",
        "Find a text in the transcript, from the newest paragraph on",
        "Read",
        anywhere=True,
    ),
    Action(
        "search-older",
        "n",
        "search_on(-1)",
        "Find older",
        "Go to the next older paragraph with the text",
        "Read",
        scope="transcript",
        bar="pane",
    ),
    Action(
        "search-newer",
        "N",
        "search_on(1)",
        "Find newer",
        "Go to the next newer paragraph with the text",
        "Read",
        scope="transcript",
        bar="pane",
    ),
    Action(
        "utterance-back",
        "left_parenthesis",
        "utterance(-1)",
        "Utterance back",
        "Put the cursor on the utterance before",
        "Read",
        scope="transcript",
    ),
    Action(
        "utterance-on",
        "right_parenthesis",
        "utterance(1)",
        "Utterance on",
        "Put the cursor on the utterance after",
        "Read",
        scope="transcript",
    ),
    Action(
        "copy-utterance",
        "y",
        "copy_utterance",
        "Copy",
        "Copy the paragraph under the cursor, or the last utterance in sight",
        "Read",
        scope="transcript",
        bar="pane-wide",
    ),
    Action(
        "play-utterance",
        "p",
        "screen.play_utterance",
        "Hear",
        "Play the sound of the utterance under the cursor, or last in sight; the microphone is muted meanwhile",
        "Read",
        scope="transcript",
    ),
    Action("top", "home,ctrl+home", "scroll('home')", "To the top", "Go to the first line", "Read", yields=True),
    Action(
        "follow", "end,ctrl+end", "scroll('end')", "Follow", "Go to the last line and follow it", "Read", yields=True
    ),
)
