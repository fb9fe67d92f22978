"""The page of simulated faults."""

from __future__ import annotations

from pathlib import Path

from gemini_live_runtime.local.faults import DESCRIPTIONS, RULES, Fault

PAGE = Path(__file__).resolve().parents[2] / "docs" / "faults.md"

RESUMES = "resumes with the handle"
GOES_ON = "asks for the rest of the answer"
REBUILDS = "begins a fresh session and tells it the conversation"
UNSEEN = "is not disturbed"

OUTCOMES: dict[Fault, str] = {
    Fault.INTERNAL_ERROR: f"{RESUMES} and {GOES_ON}, twice at most; after two short resumed connections {REBUILDS}",
    Fault.LATE_PONGS: "goes on: it sends no keepalive, and any traffic is a sign of life",
    Fault.AGE_LIMIT: f"tries the handle once, then {REBUILDS}; for Google's models it moves before the limit",
    Fault.GO_AWAY_SILENCE: f"leaves after 20 s, {RESUMES} and asks for the answer; or 2 s before the announced end",
    Fault.GO_AWAY_IN_CALL: "moves in the pause after the answer; a call that takes longer is told with its result",
    Fault.STRICT_RESUME: f"closes the older connection first, then {RESUMES}",
    Fault.STALE_HANDLE: f"tries the handle once, then {REBUILDS} and {GOES_ON}",
    Fault.NULL_HANDLE: "leaves the field out",
    Fault.STRICT_HISTORY: f"{RESUMES}, is refused once, {REBUILDS} and {GOES_ON}; a third such close ends the attempts",
    Fault.NOT_IMPLEMENTED: f"{REBUILDS} and asks again, twice; then it says the reason and stops",
    Fault.QUOTA: "stops and says so; `connect` tries again",
    Fault.SILENT_STALL: f"says so after 10 s; after 20 s it {RESUMES} and asks for the answer; it shows the words once",
    Fault.STALL_IN_ANSWER: f"says so after 10 s; after 20 s it {RESUMES} and asks for the rest of the answer",
    Fault.EMPTY_TURN: "asks again, once, and says so",
    Fault.LATE_COMPLETION: "counts the completion for the old turn and drops the sound",
    Fault.CALL_KEPT_OPEN: "answers each call that was not cancelled",
    Fault.OUTAGE: f"tries again, at most 30 s apart; what is typed meanwhile waits; then it {RESUMES}",
    Fault.DUPLICATE_CALL: "runs the tool once and answers once",
    Fault.STRICT_ACTIVITY: "sends sound only between the marks",
    Fault.CLEAN_CLOSE: f"{RESUMES} and {GOES_ON}",
    Fault.CONTEXT_LIMIT: "asks for compression in each setup",
    Fault.SLOW_ANSWERS: "waits; once answers take twice as long as at first, it says so and moves in the next pause",
    Fault.JOINED_COMPLETION: "plays all parts, then ends the turn",
    Fault.UNASKED_TURN: "shows the second answer as a turn of its own",
    Fault.SILENT_SETUP: "gives up after 20 s and tries again; the very first time it waits for `connect`",
    Fault.DROP_MID_TURN: f"{RESUMES} and {GOES_ON}",
    Fault.GARBAGE_FRAME: "skips the frame and says so",
    Fault.HUGE_FRAME: f"over a socket closes (1009), {RESUMES} and leaves it to you to send again",
    Fault.LATE_INTERRUPTED: UNSEEN,
}
"""Actions of a session of ours, by fault; tests/faults/test_simulated_faults.py shows them."""

HEAD = """# Simulated faults

The embedded server can behave as Google's servers were seen to do on a bad day, so that you can try what your client
does then. Each name makes its fault happen once, at the first opportunity; a name that is given twice, twice. Faults in
*italics* hold all the time. With `--fault-seed N` faults follow each other in an order drawn by `N`, two to four
answers apart.

```sh
gemini-live-tui serve-local --fault outage,duplicate-call --port 9090
gemini-live-tui --backend ws://127.0.0.1:9090      # in another terminal
gemini-live-tui serve-local --fault-seed 7
```

A session of ours says what happened in one line of the transcript, where there is anything to know. This page is
generated (`python -m tests.docs.tables`); [a test](../tests/faults/test_simulated_faults.py) shows each row.

| fault | the server | a session |
|---|---|---|
"""


def render() -> str:
    """Return the page."""
    rows = [
        f"| {f'*{fault}*' if fault in RULES else fault} | {text} | {OUTCOMES[fault]} |"
        for fault, text in DESCRIPTIONS.items()
    ]
    return HEAD + "\n".join(rows) + "\n"


def write() -> None:
    """Write docs/faults.md."""
    PAGE.write_text(render(), "utf-8")
