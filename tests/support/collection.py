"""Events of a debt collector's call in the middle of the negotiation.

They include phases, guards, watchers, patterns and state of every kind.
"""

from __future__ import annotations

from typing import Any

from tests.support.scripted_link import ScriptedLink

from gemini_live_runtime import events as ev


def tree(text: str, value: bool, *reads: tuple[str, Any, str], children: tuple[dict[str, Any], ...] = ()) -> Any:
    """Return an explanation tree; each read is key, value (None: not set) and writer."""
    node: dict[str, Any] = {"text": text, "value": value}
    if reads:
        node["reads"] = [{"key": k, "value": v, "present": v is not None, "by": by} for k, v, by in reads]
    if children:
        node["children"] = list(children)
    return node


def way(index: int, to: str, guard: Any, *, because: str = "", outcome: str = "", **more: Any) -> dict[str, Any]:
    outcome = outcome or ("ready" if guard["value"] else "guard is false")
    return {"index": index, "to": to, "because": because, "outcome": outcome, "guard": guard, **more}


def phase(name: str, goal: str, *ways: tuple[str, str], **more: Any) -> dict[str, Any]:
    paths = [{"to": to, "when": when, "because": "", "defined_at": "debt.py:9"} for to, when in ways]
    return {
        "name": name, "goal": goal, "needs": [], "requires": [], "tools": None, "terminal": False, "ways": paths,
        "defined_at": "debt.py:7", **more,
    }  # fmt: skip


DISPUTED = tree("app:disputed is true", False, ("app:disputed", None, ""))
PAID = tree(
    "session:called_ok:take_payment counts a success and derived:left == 0",
    False,
    children=(
        tree("session:called_ok:take_payment counts a success", True, ("session:called_ok:take_payment", 1, "signal")),
        tree("derived:left == 0", False, ("derived:left", 250, "computed left")),
    ),
)
UNDERSTOOD = tree("app:understood is true", True, ("app:understood", True, "extractor Said"))
PLAN = tree("app:monthly is set", False, ("app:monthly", None, ""))

DESCRIBED = ev.AgentDescribed(
    agent="debt_collection",
    instruction="You collect a debt.",
    initial_phase="notice",
    phases=(
        phase("notice", "Read the notice.", ("verify", "app:understood is true")),
        phase("verify", "Verify the identity.", ("negotiate", "session:called_ok:verify_identity counts a success")),
        phase("negotiate", "Find a way to pay.", ("disputed", "app:disputed is true"), ("plan", "app:monthly is set")),
        phase("plan", "Read the plan back.", ("arranged", "app:agreed is true"), tools=[]),
        phase("paid", "The debt is paid: thank them.", terminal=True),
        phase("disputed", "Stop collecting.", terminal=True),
    ),
    watchers=(
        {
            "name": "anger", "when": "app:anger crossed above 0.7", "keys": ["app:anger"], "blocking": True,
            "defined_at": "debt.py:40",
        },
        {
            "name": "balance", "when": "app:owed crossed above 1000", "keys": ["app:owed"], "blocking": False,
            "defined_at": "debt.py:41",
        },
        {
            "name": "consent", "when": "app:consent became true", "keys": ["app:consent"], "blocking": False,
            "defined_at": "debt.py:42",
        },
    ),
    patterns=({"name": "noes", "when": "turn:refused for 3 turns", "defined_at": "debt.py:43"},),
    computed=({"key": "derived:left", "inputs": ["app:owed", "app:paid"], "defined_at": "debt.py:39"},),
    keys=(
        {"key": "app:owed", "type": {"type": "integer"}, "description": "what was owed, in dollars"},
        {"key": "app:paid", "type": {"type": "integer"}, "description": "what was paid in this call, in dollars"},
    ),
    tools=(),
    extractors=(),
)  # fmt: skip


class Call:
    """The call; each part may be played alone, in this order."""

    def __init__(self, link: ScriptedLink) -> None:
        self.link = link
        self._mutation = 0

    def write(self, key: str, value: Any, *, old: Any = None, origin: str = "tool", by: str = "", **more: Any) -> None:
        self._mutation += 1
        self.link.values[key] = value
        values = {"added": old is None, **more}
        self.link.emit(
            ev.StateChanged(key=key, old=old, new=value, mutation=self._mutation, origin=origin, by=by, **values)
        )

    def enter(self, phase: str, previous: str = "", *, because: str = "", explanation: Any = None, **more: Any) -> None:
        trigger = more.pop("trigger", "guard" if previous else "initial")
        self.link.emit(
            ev.PhaseEntered(
                phase=phase, previous=previous, trigger=trigger, because=because, explanation=explanation, **more
            )
        )

    def guards(self) -> None:
        """Emit the guards of the transitions out of `negotiate`."""
        needs = (
            {"key": "user:name", "label": "name", "met": True, "by": "tool verify_identity"},
            {"key": "app:monthly", "label": "monthly", "met": False, "by": ""},
        )
        ways = (
            way(0, "disputed", DISPUTED, because="they dispute the debt"),
            way(1, "paid", PAID, because="nothing is left"),
            way(2, "plan", PLAN, because="they can pay by the month"),
        )
        self.link.emit(ev.GuardsRead(phase="negotiate", ways=ways, needs=needs))

    def begin(self) -> None:
        """Described, with its first values, in the first phase."""
        self.link.start(agent="debt_collection", model="local-debt", phrases=(), tools=("take_payment",))
        self.link.emit(DESCRIBED)
        self.write("app:anger", 0.0, origin="initial", by="debt_collection")
        self.write("session:is_model_speaking", False, origin="signal")
        self.enter("notice")

    def play(self) -> None:
        """Emit the whole call up to the negotiation."""
        link = self.link
        self.begin()
        link.exchange("yes I understand", "May I have your full name?")
        self.write("app:understood", True, origin="extractor", by="Said")
        self.enter(
            "verify",
            "notice",
            because="they understood the notice",
            explanation=tree("to verify", True, children=(UNDERSTOOD,)),
            seconds=3.0,
            needs=("user:name",),
            tools=("verify_identity",),
        )
        link.exchange("Maria Lopez, forty two", "Thank you, Maria Lopez.")
        self.write("user:name", "Maria Lopez", by="verify_identity")
        self.write("app:owed", 300, by="verify_identity")
        self.write("derived:left", 300, origin="computed", by="left")
        self.write("session:called_ok:verify_identity", 1, origin="signal")
        self.enter(
            "negotiate",
            "verify",
            because="we know who they are",
            explanation=tree("to negotiate", True, ("session:called_ok:verify_identity", 1, "signal")),
            seconds=3.0,
            tools=("take_payment",),
        )
        self.guards()
        link.begin_turn()
        link.user("this is ridiculous")
        link.t += 1.5
        self.write("app:anger", 0.31, old=0.0, origin="extractor", by="Said")
        self.write("app:paid", 50, by="take_payment")
        self.write("derived:left", 250, old=300, origin="computed", by="left")
        self.write("turn:refused", True, origin="extractor", by="Said")
        self.miss("anger", "app:anger", 0.0, 0.31, "0.31 is 0.39 below 0.7", 0.44)
        self.miss("balance", "app:owed", None, 300, "300 is 700 below 1000", 0.3)
        link.emit(
            ev.PatternsRead(patterns=({"name": "noes", "progress": "1 of 3 turns", "cooldown_left_s": 0.0},)),
        )

    def miss(self, watcher: str, key: str, old: Any, new: Any, missing: str, share: float | None) -> None:
        miss = {"watcher": watcher, "key": key, "old": old, "new": new, "missing": missing}
        self.link.emit(ev.WatchersMissed(misses=(miss if share is None else {**miss, "share": share},)))

    def anger(self) -> None:
        """Emit the caller's anger, at which the watcher fires."""
        self.link.t += 4
        self.write("app:anger", 0.9, old=0.31, origin="extractor", by="Said")
        explanation = tree(
            "app:anger crossed above 0.7",
            True,
            ("app:anger", 0.9, "extractor Said"),
            children=({"text": "before", "value": 0.31},),
        )
        self.link.emit(
            ev.WatcherFired(watcher="anger", key="app:anger", old=0.31, new=0.9, explanation=explanation, blocking=True)
        )
        self.write("app:gentle", True, origin="watcher", by="anger")


def negotiating(link: ScriptedLink) -> Call:
    """Return the call up to the negotiation."""
    call = Call(link)
    call.play()
    return call
