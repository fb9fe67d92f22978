"""List the places in which keys work, each with a sentence for the help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from gemini_live_runtime.records import record

Kind = Literal["everywhere", "prompt", "pane", "screen"]


@record
class Place:
    """Scope of the action table.

    The keys of a pane work while it has the focus, beside those of the application and the console. On a screen of its
    own, only its keys and those of the application that are `anywhere` work.
    """

    name: str
    title: str
    about: str
    """Description of its content, a sentence or two."""
    kind: Kind = "pane"


PLACES: Mapping[str, Place] = {
    place.name: place
    for place in (
        Place("app", "Everywhere", "Keys that work on every screen.", "everywhere"),
        Place("console", "Console", "Keys that work in the console, in every pane.", "everywhere"),
        Place("prompt", "Prompt", "Write a message to the model, or a command after a slash.", "prompt"),
        Place(
            "transcript",
            "Transcript",
            "Both sides as they are heard, with tool calls, phase changes and watchers in between.",
        ),
        Place(
            "phase",
            "Phase",
            "The current phase, what it still needs, and its transitions with each guard's value.",
        ),
        Place(
            "watchers",
            "Watchers",
            "The agent's watchers: armed, fired, and how near to firing.",
        ),
        Place(
            "state",
            "State",
            "The agent's state by scope: value, type and writer.",
        ),
        Place(
            "timeline",
            "Timeline",
            "The session from left to right, with lanes for speech, phases, watchers, tools and state.",
        ),
        Place(
            "latency",
            "Latency",
            "The latency of each turn by part, from the end of your words to the first sample heard.",
        ),
        Place(
            "tools",
            "Tools",
            "The model's calls: running, done or cancelled, with arguments and result.",
        ),
        Place(
            "events",
            "Events",
            "All events, in order, as the journal has them.",
        ),
        Place(
            "logs",
            "Logs",
            "Log lines of the engine, the agent's own code and the console.",
        ),
        Place(
            "tasks",
            "Tasks",
            "Calls that go on as tasks, what the model is to announce and why it waits, what later sessions know.",
        ),
        Place("failed", "Failed", "The error of a pane that failed; everything else goes on."),
        Place("devices", "Devices", "Microphone and speaker, with their levels.", "screen"),
        Place("profiles", "Profiles", "Profiles by name, with the one in use.", "screen"),
        Place(
            "profile-values",
            "Values of a profile",
            "Each value that counts, what you have staged for it, and where it comes from.",
            "screen",
        ),
        Place("sound-test", "Sound tests", "The sound of your voice, and the echo of the model's voice.", "screen"),
        Place(
            "breakpoints",
            "Breakpoints",
            "Where to pause the agent: before a watcher acts, a phase changes, a tool runs or answers, or when a key "
            "changes or an expression becomes true.",
            "screen",
        ),
        Place(
            "sessions",
            "Sessions",
            "Recorded sessions on this machine, newest first, with last lines.",
            "screen",
        ),
        Place("export", "Export", "Write a session to files: formats, part and redaction.", "screen"),
        Place("diff", "State compared", "Keys that were added, changed or removed between two moments.", "screen"),
        Place(
            "why",
            "Why",
            "The expression that decided, the values it read, their writers, and what triggered it.",
            "screen",
        ),
        Place(
            "editor",
            "State editor",
            "A value as JSON, and its effects before you apply it: computed keys, watchers, transitions.",
            "screen",
        ),
        Place("override", "Go to a phase", "The phase to go to, and the effects of going there.", "screen"),
        Place(
            "watcher",
            "Watcher",
            "The watcher's condition, the keys it reads, how near it came, and when it fired.",
            "screen",
        ),
        Place(
            "telling",
            "Context and instruction",
            "Context that the model does not answer, or a new instruction.",
            "screen",
        ),
        Place("memory", "Memory editor", "A memory's value, as text or as JSON.", "screen"),
        Place("details", "Details", "All fields of a record.", "screen"),
    )
}

PANES: tuple[str, ...] = tuple(name for name, place in PLACES.items() if place.kind == "pane")
