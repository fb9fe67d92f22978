"""The mutations of what looks on and of what the operator does."""

from __future__ import annotations

from tests.mutants.mutation import Mutation, rows

INSPECTION = "inspection_in_a_session"
OPERATOR = "operator_in_a_session"
PREVIEWS = "previews_in_a_session"
RELOADING = "reloading_in_a_session"

OPERATOR_SIDE: tuple[Mutation, ...] = (
    *rows(
        "conductor.py",
        ("guards are read after changes", "self.standing.heard(mutations)", INSPECTION),
        ("guards are read on entering", "self.standing.stale()", INSPECTION),
        ("guards that read the time are read at the end of a turn", "self.standing.turn_ended()", INSPECTION),
        ("a phase waits for the turn's end", "self.operator.turn_ended()", OPERATOR),
    ),
    *rows(
        "runner.py",
        ("an agent is described", "self._emit(describe(self.conductor.plan))", INSPECTION),
        ("the operator's orders are heard", "self.conductor.operator.take_orders(self.orders)", OPERATOR),
    ),
    *rows(
        "standing.py",
        ("readings are told", "self._emit(ev.GuardsRead(", INSPECTION, "str(ev.GuardsRead("),
        (
            "equal readings are not repeated",
            "if not same_value([machine.current, ways, needs], self._told):",
            INSPECTION,
            "if True:",
        ),
        ("another phase has other keys", "self._phase != machine.current", INSPECTION, "not self._phase"),
        ("functions are read after any change", "(self._any or not", INSPECTION, "(not"),
    ),
    *rows(
        "settler.py",
        (
            "watchers that the operator fired are told",
            "reason)\n        self._emit(fired_event(firing))\n",
            OPERATOR,
            "reason)\n",
        ),
        (
            "watchers that the operator fires act",
            'await self._act(firing, Origin("operator"',
            OPERATOR,
            'str(Origin("operator"',
        ),
        ("patterns that were shown something are read", "self._shown()", INSPECTION),
    ),
    *rows(
        "fast_lane.py",
        ("patterns are told", "self._tell_patterns(now)", INSPECTION),
        ("equal progress is not repeated", "if progress != self._progress:", INSPECTION, "if True:"),
        ("patterns that time moves are read again", "self._patterns_due = now + READ_S", INSPECTION),
    ),
    *rows(
        "plan.py",
        ("the first values are told", "state.on_mutations(lambda: None)", INSPECTION),
    ),
    *rows(
        "operator_desk.py",
        ("computed keys are not edited", "if edit.key in inputs:", OPERATOR, "if False:"),
        ("the session's own keys are not edited", "if edit.key in OWN_KEYS:", OPERATOR, "if False:"),
        (
            "edits by hand are told",
            "self._emit(\n            ev.EditsApplied(",
            OPERATOR,
            "str(\n            ev.EditsApplied(",
        ),
        (
            "a phase is asked for once",
            "self._refuse(ident, earlier.command,",
            OPERATOR,
            "str(ident + earlier.command +",
        ),
        (
            "a phase waits while a turn goes on",
            'order.when == "turn-end" and self._mind.body.turn_open',
            OPERATOR,
            "False",
        ),
        ("switching is told", "self._emit(ev.WatcherSwitched(", OPERATOR, "str(ev.WatcherSwitched("),
        ("the new instruction is described", "self._emit(describe(mind.plan))", OPERATOR),
    ),
    *rows(
        "oracle.py",
        ("code is not waited for too long", "timeout=LIMIT_S", OPERATOR, "timeout=None"),
        ("not too many questions at once", "if self._threads >= MAX_THREADS:", OPERATOR, "if False:"),
    ),
    *rows(
        "foresight.py",
        ("watchers' memory is not touched", "settler.watchers.copy()", OPERATOR, "settler.watchers"),
        ("patterns' memory is not touched", "settler.temporal.copy()", OPERATOR, "settler.temporal, []"),
        ("patterns see what settles", 'self._notice(TemporalEvent("state"))', PREVIEWS),
        ("patterns hear what happened", "scene.hear()", PREVIEWS),
        ("changes that have not settled count", "settler.pending(state)", OPERATOR, "state.track()"),
        (
            "computed values are foreseen",
            "self.computed.recompute_affected(self.state, changed)",
            PREVIEWS,
            "self.computed.recompute_affected(self.state, ())",
        ),
        ("the next phase is foreseen", "scene.advance() if made", PREVIEWS, '"" if made'),
        ("what comes after the next phase is foreseen", "watchers += scene.settle()", PREVIEWS),
        ("cleared keys are foreseen", "isinstance(step, ClearKeys)", PREVIEWS, "False"),
        ("presented keys are foreseen", "isinstance(step, MarkPresented)", OPERATOR, "False"),
        ("what a phase tells of itself is foreseen", "publish_phase(self.state, plan.to_phase)", OPERATOR),
        ("what fails is named", "self._failures(machine, evaluation)", OPERATOR),
    ),
    *rows(
        "reloading.py",
        (
            "files are looked at while nobody talks",
            "call_later(LOOK_S, self._look)",
            RELOADING,
            "call_later(1e9, self._look)",
        ),
        (
            "nobody looks while a turn goes on",
            "if not self._mind.body.turn_open:\n            self._if",
            RELOADING,
            "if True:\n            self._if",
        ),
        ("an order in a turn waits", "if self._mind.body.turn_open or self._reading:", RELOADING, "if False:"),
        ("an order that waits is carried out", "elif self._wanted:", RELOADING, "elif False:"),
        ("what cannot be used is taken back", "self._source.roll_back()", RELOADING),
        ("what a reading opens is gone through", "await mind.pipeline.between(True)", RELOADING),
    ),
    *rows(
        "replacing.py",
        ("counts and mutes are kept", "watchers.continue_from(mind.settler.watchers)", RELOADING),
        ("patterns go on", "patterns.continue_from(mind.settler.temporal, _unchanged(last, read))", RELOADING),
        ("the phase goes on in the edited agent", "machine.restore(director.machine.to_json(now), now)", RELOADING),
        ("new first values are set", "mind.state.set(name, value)", RELOADING),
        ("tools are replaced", "mind.tools.replace(plan.declared)", RELOADING),
        ("callbacks are replaced", "mind.callbacks.replace(definition.callbacks)", RELOADING),
        ("rules are replaced", "mind.reactor.replace(rules)", RELOADING),
        ("extractors are replaced", "mind.extraction.replace(schedule)", RELOADING),
        ("phases are replaced", "director.replace(machine)", RELOADING),
        ("the ways out are read anew", "mind.standing.replace(machine)", RELOADING),
        ("the instruction that was read is taken", "mind.steersman.redefine(definition)", RELOADING),
        ("watchers and computed values are replaced", "mind.settler.replace(computed, watchers, patterns)", RELOADING),
        ("other keys call for settling", "mind.state_events.observed = mind.settler.observed", RELOADING),
        ("rules that are new are asked", "mind.fast.redefine(definition)", RELOADING),
        ("declared keys are others", "mind.state.redeclare(definition.state_keys)", RELOADING),
        ("the agent is described anew", "mind.body.emit(describe(plan))", RELOADING),
        ("tools are declared anew", "mind.body.reconnect()", RELOADING),
        ("the operator's instruction stays", 'kept["instruction"] = running.instruction', RELOADING),
    ),
)
"""Every mutation of that side."""
