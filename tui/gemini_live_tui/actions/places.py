"""The places an action can belong to, each with a sentence for the help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["everywhere", "prompt", "pane", "room"]


@dataclass(frozen=True, slots=True)
class Place:
    """A scope of the action table.

    The keys of a pane hold while it has the focus, beside those of the application and the console. A room is a screen
    of its own: of the others only the application's keys that go `anywhere` hold there.
    """

    name: str
    title: str
    about: str
    """What is seen here, a sentence or two."""
    kind: Kind = "pane"


PLACES: Mapping[str, Place] = {
    place.name: place
    for place in (
        Place("app", "Everywhere", "Keys that hold on every screen.", "everywhere"),
        Place("console", "Console", "Keys that hold in the console, whatever pane has the focus.", "everywhere"),
        Place("prompt", "Prompt", "Where one writes: to the model, or a command after a slash.", "prompt"),
        Place(
            "transcript",
            "Transcript",
            "Both sides as they are heard, with tools, phase changes and watchers in their place.",
        ),
        Place(
            "phase",
            "Phase",
            "Where the conversation stands, what it still needs, and where it may go next with each guard's value.",
        ),
        Place(
            "watchers",
            "Watchers",
            "What is watched for: armed, fired, and how near to firing.",
        ),
        Place(
            "state",
            "State",
            "What the agent knows, by scope: value, type, and who wrote it.",
        ),
        Place(
            "timeline",
            "Timeline",
            "The session from left to right, a lane each for what was said, phases, watchers, tools and state.",
        ),
        Place(
            "latency",
            "Latency",
            "Where the time of a turn went, from the end of your words to the first sample heard.",
        ),
        Place(
            "tools",
            "Tools",
            "The model's calls: running, done or cancelled, with arguments and result.",
        ),
        Place(
            "events",
            "Events",
            "Everything that happened, in order, as the journal keeps it.",
        ),
        Place(
            "logs",
            "Logs",
            "What the engine, the agent's own code and the console had to say.",
        ),
        Place("failed", "Failed", "What stands in a pane's place after it failed; everything else goes on."),
        Place("devices", "Devices", "Which microphone and which speaker, and whether they hear you.", "room"),
        Place("sound-test", "Sound tests", "How your voice arrives, and whether the model hears itself.", "room"),
        Place(
            "breakpoints",
            "Breakpoints",
            "Where the agent is to be held: before a watcher acts, a phase changes, a tool runs or answers, or when a "
            "key changes or an expression becomes true.",
            "room",
        ),
        Place("sessions", "Sessions", "What was recorded on this machine, newest first, with its last lines.", "room"),
        Place("export", "Export", "A session as files: which formats, which part, and what is taken out.", "room"),
        Place("diff", "State compared", "Which keys were added, changed or removed between two moments.", "room"),
        Place("why", "Why", "What decided, the values that were read, who wrote them, and what turned it.", "room"),
        Place(
            "editor",
            "State editor",
            "A value as JSON, and what it would do before it is applied: computed keys, watchers, ways on.",
            "room",
        ),
        Place("override", "Go to a phase", "Where to take the conversation, and what that would do.", "room"),
        Place("watcher", "Watcher", "What it is, what it reads, how near it came, and when it fired.", "room"),
        Place("telling", "Telling the model", "Context that it does not answer, or another instruction.", "room"),
        Place("details", "Details", "All that is known of one thing, as it was recorded.", "room"),
    )
}

PANES: tuple[str, ...] = tuple(name for name, place in PLACES.items() if place.kind == "pane")
