"""Looking into what the agent did and why."""

from __future__ import annotations

from gemini_live_tui.actions.action import Action
from gemini_live_tui.desk import PANES

ACTIONS: tuple[Action, ...] = (
    *(
        Action(
            f"pane-{pane.id}",
            str(pane.digit),
            f"pane('{pane.id}')",
            pane.title,
            f"Go to the pane {pane.title}",
            "Inspect",
        )
        for pane in PANES
        if len(PANES) > 1
    ),
    Action(
        "zoom",
        "z",
        "zoom",
        "Zoom",
        "Let the pane with the focus fill the screen, or put it back",
        "Inspect",
        panes_only=True,
    ),
    Action("talk-view", "0", "talk_view", "Talk view", "Show the transcript alone, or all panes again", "Inspect"),
    Action(
        "open-row",
        "enter",
        "open_row",
        "Open",
        "Show all about what the cursor is on",
        "Inspect",
        yields=True,
        palette=False,
    ),
    Action(
        "timeline-in",
        "plus,equals_sign",
        "timeline_zoom(1)",
        "Zoom in",
        "See a shorter time, in more detail",
        "Inspect",
        scope="timeline",
        bar="pane",
    ),
    Action(
        "timeline-out",
        "minus",
        "timeline_zoom(-1)",
        "Zoom out",
        "See a longer time",
        "Inspect",
        scope="timeline",
        bar="pane",
    ),
    Action(
        "timeline-earlier",
        "left",
        "timeline_pan(-1)",
        "Earlier",
        "Move a quarter of the window back",
        "Inspect",
        scope="timeline",
        palette=False,
    ),
    Action(
        "timeline-later",
        "right",
        "timeline_pan(1)",
        "Later",
        "Move a quarter of the window on",
        "Inspect",
        scope="timeline",
        palette=False,
    ),
    Action(
        "worst-turn",
        "w",
        "worst_turn",
        "Worst turn",
        "Show the turn whose answer took longest",
        "Inspect",
        scope="latency",
        bar="pane",
    ),
    Action(
        "log-level",
        "l",
        "log_level",
        "Level",
        "Hide what is less grave, level by level, then show everything again",
        "Inspect",
        scope="logs",
        bar="pane",
    ),
    Action("copy-log", "y", "copy_log", "Copy", "Copy the lines that are listed", "Inspect", scope="logs", bar="pane"),
    Action(
        "copy-details",
        "y",
        "copy_details",
        "Copy",
        "Copy what is shown, as JSON",
        "Inspect",
        scope="details",
        palette=False,
    ),
)
