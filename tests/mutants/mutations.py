"""The mutations. Each takes one part out of the session, at the place where the session calls it."""

from __future__ import annotations

from tests.mutants.mutation import Mutation
from tests.mutants.mutation import rows as _in
from tests.mutants.operator_mutations import OPERATOR_SIDE

__all__ = ["MUTATIONS", "Mutation"]

PHASES = "phases_in_a_session"
WATCHERS = "watchers_in_a_session"
PATTERNS = "patterns_in_a_session"
STEERING = "steering_on_the_wire"
TOOLS = "tools_in_a_session"
EXTRACTION = "extraction_in_a_session"
REACTOR = "reactor_in_a_session"
REPAIR = "repair_in_a_session"
KEPT = "persistence_in_a_session"
RECONNECTING = "reconnecting_in_a_session"
SOFT = "soft_turns_in_a_session"
CLIENT = "client_turn_taking_in_a_session"
CALLBACKS = "callbacks_in_a_session"
FIGURES = "telemetry_in_a_session"
TRANSCRIPT = "transcript_in_a_session"
HANDLE = "handle_in_a_session"
PROMPTS = "prompts_in_a_session"
HELD = "sync_only_model_in_a_session"
FAULTS = "faults_in_a_session"


NOTHING = "(lambda *args, **named: None)("
"""A call that does nothing, to put in place of another."""


PIPELINE = _in(
    "pipeline.py",
    ("the turn scope is cleared when a turn begins", 'state.clear_scope("turn")', TOOLS),
    ("mutations and words know their turn", "state.turn_number = number", CALLBACKS),
    ("signals settle at the end of a turn", "mind.signals.settle()\n        self._final", FIGURES, "self._final"),
    ("final words are told", "self._final_transcripts()", CALLBACKS),
    ("extractors are asked at the end of a turn", 'await self._read("turn")', EXTRACTION),
    (
        "state settles before patterns of a turn are asked",
        'await self._read("turn")\n        await mind.settler.settle()',
        PATTERNS,
        'await self._read("turn")',
    ),
    ("patterns see turns", 'await mind.settler.observe(TemporalEvent("turn"))', PATTERNS),
    (
        "state settles after patterns of a turn",
        'await mind.settler.observe(TemporalEvent("turn"))\n            await mind.settler.settle()',
        PATTERNS,
        'await mind.settler.observe(TemporalEvent("turn"))',
    ),
    (
        "the phase advances at the end of a turn",
        "result = await self._advance(number)\n        action",
        EXTRACTION,
        "result = None\n        action",
    ),
    (
        "the phase advances when repair has escalated",
        "result = await self._advance(number)\n            await",
        REPAIR,
        "await",
    ),
    ("needs are evaluated", "action = self._repair() if", REPAIR, "action = NO_REPAIR if"),
    (
        "state settles before the model is told",
        "else NO_REPAIR\n        await mind.settler.settle()",
        STEERING,
        "else NO_REPAIR",
    ),
    ("a soft turn leaves the model alone", "if completed.reason != SOFT_TURN:", SOFT, "if True:"),
    ("context that waits goes out at the end of a turn", "self._flush()", PHASES),
    (
        "the model is told at the end of a turn",
        'await self._steer("turn", result, nudge=action.text)',
        STEERING,
    ),
    ("on_turn_boundary", 'await mind.callbacks.control("on_turn_boundary", mind.state, mind.user_writer)', CALLBACKS),
    ("on_turn_complete", 'await mind.callbacks.control("on_turn_complete", number)', CALLBACKS),
    ("turns are counted", "mind.turn_count += 1", SOFT),
    ("the count of turns is in the state", 'mind.state.set("session:turn_count", mind.turn_count)', SOFT),
    ("a turn is measured", "mind.fast.turn_measured(number)", FIGURES),
    ("a session is kept after a turn", "mind.keeper.save()", KEPT),
    (
        "successes and failures of tools are counted",
        'mind.signals.tool_ended(outcome.name, outcome.status == "ok")',
        TOOLS,
    ),
    ("tool calls are in the transcript", "mind.transcript.add_tool_call(summary)", TOOLS),
    (
        "patterns see tools",
        'await mind.settler.observe(TemporalEvent("tool", name=outcome.name, ok=outcome.status == "ok"))',
        PATTERNS,
    ),
    (
        "state settles when a tool has ended",
        """await mind.settler.settle()
        if ran:
            await mind.settler.observe(TemporalEvent("tool", name=outcome.name, ok=outcome.status == "ok"))
        await mind.settler.settle()
""",
        WATCHERS,
        "pass\n",
    ),
    (
        "the phase advances before a tool is answered",
        "result = await self._advance(mind.body.turn)\n        answer",
        PHASES,
        "result = None\n        answer",
    ),
    (
        "the model is told before a tool is answered",
        'await self._steer("between" if silent else "tool", result)',
        PHASES,
    ),
    ("a tool is answered", "mind.answer(outcome, answer)", TOOLS),
    (
        "extractors are asked after a tool call",
        'await self._read("tool-call", tool=outcome.name, grace_s=0.0)',
        EXTRACTION,
    ),
    (
        "extractors are asked when the model has finished generating",
        'await self._read("generation-complete", grace_s=0.0)',
        EXTRACTION,
    ),
    ("on_generation_complete", 'await mind.callbacks.control("on_generation_complete")', CALLBACKS),
    (
        "extractors are asked when a phase was entered",
        'await self._read("phase-change", phase=result.transition.to_phase, grace_s=0.0)',
        EXTRACTION,
    ),
    ("the end of a turn waits a moment for extractors", "await mind.extraction.drain(grace_s)", STEERING),
    (
        "findings are taken up",
        'mind.lane.put("extracted", lambda: self._after_extraction(result, moves=not waited_for))',
        EXTRACTION,
    ),
    (
        "on_extracted",
        'await self._mind.callbacks.control("on_extracted", result.extractor, result.fields)',
        CALLBACKS,
    ),
    ("findings that come late move the conversation", "await self.between(moves)", EXTRACTION),
    (
        "on_extraction_error",
        'await self._mind.callbacks.control("on_extraction_error", failure.extractor, failure.text)',
        CALLBACKS,
    ),
    ("patterns see time", 'await self._mind.settler.observe(TemporalEvent("tick"))', PATTERNS),
    (
        "what the program writes moves the conversation",
        "if may_move and not mind.body.awaits_tools:",
        PHASES,
        "if False:",
    ),
    ("needs are counted anew in a new phase", "mind.needs.reset(result.transition.to_phase)", REPAIR),
    (
        "an escalation is called off",
        "if not mind.needs.escalated:\n                self._call_off()",
        REPAIR,
    ),
    ("an escalation is in the state", "mind.state.set(ESCALATION, True)", REPAIR),
    (
        "the model is told of a move that was asked for",
        'await self._steer("tool" if mind.body.awaits_tools else "between", result)',
        PHASES,
    ),
)

CONDUCTOR = _in(
    "conductor.py",
    ("a kept session is restored", "restored = await self.keeper.restore()", KEPT, "restored = False"),
    ("everything is computed at the beginning", "self.settler.begin()", WATCHERS),
    (
        "the initial phase is entered",
        "self._started = await self.director.begin()\n            self.pipeline.entered(self._started)",
        PHASES,
    ),
    ("templates and amendments are asked for the setup", "await self.steersman.setup_instruction()", STEERING),
    ("figures are reported in time", "self.fast.begin()", FIGURES),
    ("what a setup carried is known", "self.steersman.connected(instruction, resumed=resumed)", STEERING),
    (
        "a fresh connection is told what was said",
        "        if so_far:\n",
        RECONNECTING,
        "        if False:\n",
    ),
    ("what waits for a setup is in it", "return self.writer.held.in_setup(", HELD, "return (lambda text, **_: text)("),
    ("what a setup carried is told", "self.writer.setup_carried()", HELD),
    ("the model is told when a connection is ready", 'await self.steersman.steer("connected", started)', PHASES),
    (
        "typed texts are released",
        "finally:\n            self.body.release()",
        STEERING + " " + RECONNECTING,
        "finally:\n            pass",
    ),
    ("the greeting", 'self.steersman.arm_prompt("greeting")', STEERING),
    ("on_connected", 'else "on_connected"', CALLBACKS, 'else "on_teardown"'),
    ("on_resumed", '"on_resumed" if resumed', CALLBACKS, '"on_teardown" if resumed'),
    ("on_teardown", 'self.callbacks.control("on_teardown")', CALLBACKS, "asyncio.sleep(0)"),
    ("a session is kept at its end", "self.keeper.close()", KEPT, "asyncio.sleep(0)"),
    ("subscribers get events", "self.subscribers.push(event)", HANDLE),
    ("drops are told when a reader wants no more", "self.fast.delivery(reader)", HANDLE, "None"),
    ("drops of notes are told", "self.fast.notes_dropped(notes)", FIGURES, "None"),
    ("the fast lane hears events", "self.fast.hear(event)", TRANSCRIPT),
    ("signals follow events", "self.signals.observe(payload)", FIGURES),
    (
        "the beginning of a turn is a step",
        'self.lane.put("turn begins", lambda: self.pipeline.turn_began(event.turn, payload.by))',
        TOOLS,
    ),
    (
        "the end of a turn is a step",
        "self.lane.put(TURN_ENDS, lambda: self.pipeline.turn_ended(event.turn, payload, held=held))",
        STEERING,
    ),
    ("on_interrupted", 'self.lane.put("interrupted", lambda: self._tell("on_interrupted"))', CALLBACKS),
    (
        "the end of generating is a step",
        'self.lane.put("generation complete", self.pipeline.generation_completed)',
        EXTRACTION,
    ),
    ("on_go_away", 'self.lane.put("go away", lambda: self._tell("on_go_away", payload.time_left_s))', CALLBACKS),
    ("on_disconnected", 'self.lane.put("disconnected", lambda: self._tell("on_disconnected", reason))', CALLBACKS),
    ("on_error", 'self.lane.put("error", lambda: self._tell("on_error", payload.text))', CALLBACKS),
    ("tool calls pass the gate", 'self.lane.put("tool calls", lambda: self.desk.gate(calls))', TOOLS),
    ("the server's cancellation reaches the tool", "self.desk.cancel(call_id)", TOOLS),
    (
        "on_tool_cancelled",
        'self.lane.put("tool cancelled", lambda: self._tell("on_tool_cancelled", [call_id]))',
        CALLBACKS,
    ),
    ("the program answers for a tool", "outcome = self.desk.given(outcome)", TOOLS),
    (
        "rules move the conversation",
        'self.moves.to(target, source="reactor", reason=reason)',
        REACTOR,
        "None",
    ),
    (
        "an instruction of the program's is told",
        'self.lane.put("instruction replaced", lambda: self.steersman.steer("between"))',
        STEERING,
    ),
    ("background agents are told of", "self._emit(ev.AgentFinished(", TOOLS, "str(ev.AgentFinished("),
)

REACTING = _in(
    "reacting.py",
    (
        "what rules want is performed",
        "self.executor.perform_reactions(r for r in reactions if not isinstance(r.effect, UpdateInstruction))",
        REACTOR,
    ),
    ("reactions are told", "self._body.emit(ev.ReactionPerformed(rule=reaction.source, effect=effect))", REACTOR),
    ("a prompt waits for sound that is queued", " or self._body.sounding)", PROMPTS, ")"),
    ("a prompt waits for an answer that is owed", "(self._body.owes_answer or ", PROMPTS, "("),
)

STATE_EVENTS = _in(
    "state_events.py",
    ("state is heard of when it changes", "state.on_mutations(self._waits)", WATCHERS),
    ("rules hear of state", "self._heard(mutations)", REACTOR),
    ("state settles when it changes", "self._unsettled(moving)", WATCHERS),
)

FAULT_REPORTS = _in(
    "fault_reports.py",
    ("faults of rules are told", "self._faults.tell(RULE,", REACTOR, f"{NOTHING}RULE,"),
    ("faults of effects are told", "self._faults.tell(where, fault.source,", REACTOR, f"{NOTHING}where, fault.source,"),
    ("faults of listeners are told", "self._faults.tell(where, name, report.error,", FAULTS, f"{NOTHING}where, name,"),
    ("faults of formatters are told", 'self._faults.tell(f"tool', FAULTS, f'{NOTHING}f"tool'),
    ("slow callbacks are told", "self._emit(ev.CodeSlow(", CALLBACKS, "str(ev.CodeSlow("),
)

FAST_LANE = _in(
    "fast_lane.py",
    ("typed text is in the transcript", "mind.transcript.add_input(payload.text, turn=event.turn)", TRANSCRIPT),
    ("typed text begins a latency", "mind.telemetry.text_sent(now)", FIGURES),
    ("a turn begins in the transcript", "mind.transcript.begin_turn(event.turn, payload.by, now)", TRANSCRIPT),
    ("a turn begins in the figures", "mind.telemetry.turn_started(now, event.turn, payload.by)", FIGURES),
    (
        "an interruption is in the transcript",
        "mind.transcript.interrupted(payload.heard_text, payload.unheard_text, event.turn)",
        TRANSCRIPT,
    ),
    ("an interruption is in the figures", "mind.telemetry.interrupted(now, event.turn)", FIGURES),
    (
        "playback is in the figures",
        "mind.telemetry.playback_started(now, turn=event.turn, device_latency_ms=self.speaker_ms)",
        FIGURES,
    ),
    ("rules hear that playback begins", "mind.react(PlaybackStarted())", REACTOR),
    ("rules hear that playback has drained", "mind.react(PlaybackDrained(mind.pending.has_prompt))", REACTOR),
    ("rules hear of events", "mind.react(Live(payload))", REACTOR),
    ("patterns see events", 'mind.lane.put("pattern",', PATTERNS, f'{NOTHING}"pattern",'),
    ("the user's words are in the transcript", "mind.transcript.add_input(delta.text, turn=event.turn)", TRANSCRIPT),
    (
        "the model's words are in the transcript",
        "mind.transcript.add_output(delta.text, turn=event.turn, cut=cut)",
        TRANSCRIPT,
    ),
    ("words of an answer that was cut are kept apart", "turn=event.turn, cut=cut)", TRANSCRIPT, "turn=event.turn)"),
    ("the model's first words end a latency", "mind.telemetry.first_model_frame(now)", FIGURES),
    ("a turn ends in the transcript", "mind.transcript.end_turn()", TRANSCRIPT),
    ("a turn ends in the figures", "mind.telemetry.turn_completed(now)", FIGURES),
    ("words end the wait for a soft turn", "self._soft.model_responded()", SOFT),
    ("voice ends the wait for a soft turn", "self._soft.voice_started()", SOFT),
    ("the end of voice begins the wait for a soft turn", "self._soft.voice_ended(now)", SOFT),
    ("a soft turn is taken", "mind.body.soft_turn()", SOFT),
    ("rules hear of a soft turn", "mind.react(SoftTurnComplete())", SOFT),
    ("a soft turn is told", "mind.body.emit(ev.SoftTurnTaken(", SOFT, "str(ev.SoftTurnTaken("),
    ("on_input_transcript, typed", 'self._fast("on_input_transcript", payload.text, True)', CALLBACKS),
    ("on_input_transcript, pieces", 'self._fast("on_input_transcript", delta.text, False)', CALLBACKS),
    ("on_output_transcript, pieces", 'self._fast("on_output_transcript", delta.text, False)', CALLBACKS),
    ("on_thought", 'self._fast("on_thought", delta.text)', CALLBACKS),
    ("on_text", 'self._fast("on_text", delta.text)', CALLBACKS),
    ("on_text_complete", 'self._fast("on_text_complete", text)', CALLBACKS),
    ("on_vad_start and on_vad_end", 'self._fast("on_vad_start" if mark.speaking else "on_vad_end")', CALLBACKS),
    ("on_phase", 'self._fast("on_phase", phase)', CALLBACKS),
    ("on_usage", 'self._fast("on_usage",', CALLBACKS, f'{NOTHING}"on_usage",'),
    ("voice begins a turn in the figures", "mind.telemetry.voice_started(now,", FIGURES, f"{NOTHING}now,"),
    ("the end of voice begins a latency", 'mind.telemetry.voice_ended(now, "server_vad")', FIGURES),
    ("tokens are in the figures", "self._mind.telemetry.usage(\n", FIGURES, f"{NOTHING}\n"),
    ("drops are told", "self._mind.body.emit(ev.DeliveryDropped(", HANDLE, "str(ev.DeliveryDropped("),
    ("drops are told with a turn", "            )\n        self._deliveries()", HANDLE, "            )"),
    (
        "drops are told with the figures",
        "figures=self.figures()))\n            self._deliveries()",
        HANDLE,
        "figures={}))",
    ),
    (
        "drops of notes are told after a moment",
        "self._notes_due:\n            self._tell_notes()",
        FIGURES,
        "0:\n            pass",
    ),
    ("figures are reported", "mind.body.emit(ev.TelemetryReported(figures=self.figures()))", FIGURES),
    ("rules hear time", "mind.react(TimerTick(now))", REACTOR),
    ("patterns hear time", 'mind.lane.put("time", mind.pipeline.time_passed)', PATTERNS),
    (
        "rules hear who has the floor",
        "mind.react(UserSpeechStarted() if speaking else UserSpeechEnded(mind.pending.has_prompt))",
        REACTOR,
    ),
)

SETTLER = _in(
    "settler.py",
    (
        "what is affected is computed again",
        "self._faults(self.computed.recompute_affected(self._state, changed).faults)",
        WATCHERS,
    ),
    (
        "watchers are evaluated",
        "self.watchers.evaluate(changed, self._state)",
        WATCHERS,
        "self.watchers.evaluate({}, self._state)",
    ),
    (
        "faults of computed values are told",
        "self._code.failed(where, fault.name, fault.error, fault.problem, defined_at=place)",
        WATCHERS,
    ),
    ("near misses are told", "self._emit(missed_event(found.near_misses))", WATCHERS),
    (
        "muted firings are told",
        "in found.muted:\n                self._emit(fired_event(firing, muted=True))",
        WATCHERS,
        "in found.muted:\n                pass",
    ),
    ("watchers that fired are carried out", "await self._fired(firing)", WATCHERS),
    (
        "watchers that fired are told",
        "return\n        self._emit(fired_event(firing))\n",
        WATCHERS,
        "return\n",
    ),
    ("patterns see state", 'await self.observe(TemporalEvent("state"))', PATTERNS),
    ("patterns that fired are carried out", "await self._pattern(firing)", PATTERNS),
    ("patterns that fired are told", "self._emit(ev.PatternFired(", PATTERNS, "str(ev.PatternFired("),
    (
        "a watcher that sets itself off rests",
        "return count >= MAX_PER_S",
        WATCHERS,
        "return count >= 3 * MAX_PER_S",
    ),
    ("a loop of watchers is broken", "rest = self._changes.take()", WATCHERS, "rest = {}"),
)

PHASE_DIRECTOR = _in(
    "phase_director.py",
    (
        "a blocked phase is told",
        "blocked_event(machine, evaluation)",
        PHASES,
        'ev.Notice(level="info", code="", text="")',
    ),
    ("preparations are run", "for preparation in evaluation.preparations:\n", PHASES, "for preparation in ():\n"),
    ("on_exit", "case RunExit(phase, run):", PHASES, "case RunExit(phase, run) if False:"),
    (
        "a phase that was entered is told",
        "self._now())\n                    self._emit(entered_event(self.machine, record))",
        PHASES,
        "self._now())",
    ),
    ("keys are cleared on entering", "case ClearKeys(keys):", PHASES, "case ClearKeys(keys) if False:"),
    ("what is presented is noted", "case MarkPresented(keys):", PHASES, "case MarkPresented(keys) if False:"),
    ("on_enter", "case RunEnter(phase, run):", PHASES, "case RunEnter(phase, run) if False:"),
    ("on_enter_context", "case GatherContext(phase, source):", PHASES, "case GatherContext(phase, source) if False:"),
    (
        "where the conversation stands is in the state",
        "case ResolveInstruction():",
        PHASES,
        "case ResolveInstruction() if False:",
    ),
)

STEERSMAN = _in(
    "steersman.py",
    (
        "instruction_template",
        "self._template = await self._callbacks.instruction_template(self._state)",
        STEERING,
    ),
    (
        "instruction_amendment",
        "self._amendment = await self._callbacks.instruction_amendment(self._state)",
        STEERING,
    ),
    ("modifiers of the phase", "modifiers = (*modifiers, *current.modifiers)", PHASES),
    ("modifiers of every phase", "modifiers = definition.phase_defaults", PHASES, "modifiers = ()"),
    ("the tools of the phase are told", "tools = current.tools if definition.tool_advisory else None", PHASES),
    ("the instruction is updated", "self._executor.perform(UpdateInstruction(", STEERING, "str(UpdateInstruction("),
    ("context is sent", "self._executor.perform(SendContext(context, reason))", STEERING),
    (
        "a new connection is made for a new instruction",
        "            self._reconnect()\n            return False",
        STEERING,
        "            return False",
    ),
    ("context waits where it does not travel", "self._hold(context, reason, moment, prompt=prompt)", HELD, "pass"),
    ("a phase's words are part of the setup", "self._unsaid += result.context", HELD, "pass"),
    ("a prompt is armed", "self._pending.arm_prompt()", STEERING),
    ("rules hear that a prompt is armed", "self._prompt_armed()", STEERING),
    (
        "what was told is remembered",
        "        self.steering.confirm(output)\n        self._prompt_owed",
        STEERING,
        "        self._prompt_owed",
    ),
    ("what a setup carried is remembered", "self.steering.confirm_setup(instruction)", STEERING),
    ("a fresh connection knows nothing", "self.steering.forget()", RECONNECTING),
)

TOOL_DESK = _in(
    "tool_desk.py",
    ("the allow-list", "if self._allowed(call.name):\n", PHASES, "if True:\n"),
    ("on_tool_call", "given = await self._callbacks.tool_overrides(asked, self._state)", TOOLS),
    ("background calls are acknowledged", "self._acknowledge(call, answer)", TOOLS),
    (
        "before_tool_response",
        "left = await self._callbacks.tool_responses([response], self._state)",
        TOOLS,
        "left = [response]",
    ),
    (
        "a dropped answer is told",
        'self._listener(ended.name, "before_tool_response dropped',
        TOOLS,
        f'{NOTHING}ended.name, "before_tool_response dropped',
    ),
    ("no tool runs without being started", "self.dispatcher.start(call.call_id, call.name, call.args)", TOOLS),
)

KEEPING = _in(
    "keeping.py",
    ("the state is restored", "snapshot.restore_state(mind.state)", KEPT, "()"),
    (
        "the transcript is restored",
        "mind.transcript = TranscriptBuffer.from_json(snapshot.transcript)",
        KEPT,
    ),
    ("the count of turns is restored", "mind.turn_count = snapshot.turn_count", KEPT),
    ("needs are restored", "mind.needs.restore(snapshot.needs)", KEPT),
    ("the server's session is taken up", "mind.body.resume_with(snapshot.handle)", KEPT),
    ("the phase is restored", "goes_on = self._phase_goes_on(snapshot)", KEPT, "goes_on = False"),
    ("the phase is kept", "phases=None if director is None else director.machine.to_json(now)", KEPT, "phases=None"),
    ("the handle is kept", "handle=mind.body.resumption_handle", KEPT, 'handle=""'),
    ("saving is told", "self._mind.body.emit(ev.SnapshotSaved(turns=snapshot.turn_count))", STEERING),
)

BODY = (
    *_in(
        "moves.py",
        ("the program moves the conversation", 'if not mind.lane.put("transition", move):', PHASES, "if True:"),
    ),
    *_in(
        "ears.py",
        (
            "context goes out ahead of audio",
            "if self.conductor.pending.has_context:\n                self.conductor",
            STEERING,
            "if False:\n                self.conductor",
        ),
        ("closing the microphone ends the activity", "self._activity.finish()", CLIENT),
        (
            "our own detector decides",
            "if self._activity is None else self._activity.heard",
            CLIENT,
            "or self._activity.heard",
        ),
        ("commits are the beginning of a latency", "self.conductor.telemetry.committed(self._now())", CLIENT),
        ("commits are told to the rules", "self.conductor.fast.user_speech(begins)", CLIENT),
    ),
    *_in(
        "runner.py",
        ("what was written is told before what happens", "self.conductor.publish_state()", HANDLE),
        ("the mind observes events", "self.conductor.observe(event)", STEERING),
        ("a connection is left when the server says so", "self._wire.leave(payload.time_left_s)", RECONNECTING),
        (
            "context goes out ahead of typed text",
            "if effect.text and self.conductor.pending.has_context:",
            STEERING,
            "if False:",
        ),
        ("the model's sound is counted and heard of", "self._model_sound(pcm)", CALLBACKS),
        (
            "tools are run",
            "self.conductor.calls(calls)\n        self._changed",
            TOOLS,
            "pass\n        self._changed",
        ),
        (
            "a call is begun before its cancellation is heard",
            "self.conductor.calls(calls)\n                        calls = []",
            TRANSCRIPT,
        ),
        ("the server's cancellation is heard of", "self.conductor.cancel_call(effect.call_id)", TOOLS),
        (
            "the mind ends with the session",
            "(self.conductor.close, MIND_ENDING_S)",
            KEPT,
            "(self._wire.hang_up, ENDING_S)",
        ),
        ("subscribers hear of the end", "self.conductor.subscribers.end()", HANDLE),
        ("losses are told before the end", "self.conductor.fast.tell_losses()", HANDLE),
    ),
    *_in(
        "session_body.py",
        ("soft turns close the turn", "self._perform(self._core.soft_turn(self._clock.now(), SOFT_TURN))", SOFT),
        ("a prompt is an answer owed", "self._perform(self._core.prompted(self._clock.now()))", HANDLE),
    ),
    *_in(
        "connecting.py",
        ("the mind begins before the connection", "await self._conductor.begin()", PHASES),
        (
            "a session is resumed",
            'handle = self._core.resumption_handle if self._reconnecting.resumes else ""',
            RECONNECTING,
            'handle = ""',
        ),
        (
            "the mind hears of a connection",
            "self._conductor.connected(instruction, resumed=bool(handle))",
            PHASES,
        ),
        (
            "a setup carries the instruction of now",
            "instruction = self._conductor.instruction_for_setup()",
            PHASES,
            'instruction = ""',
        ),
    ),
    *_in(
        "handle.py",
        ("a picture makes the budget that of video", "self._mind.signals.mark_video_sent()", FIGURES),
        ("the program says that the user speaks", "self._mind.fast.user_speech(True)", REACTOR),
        ("the program says that the user has spoken", "self._mind.fast.user_speech(False)", REACTOR),
        (
            "the program says that all was played",
            "self._mind.react(PlaybackDrained(self._mind.pending.has_prompt))",
            HANDLE,
        ),
    ),
)

MUTATIONS: tuple[Mutation, ...] = (
    *PIPELINE,
    *CONDUCTOR,
    *REACTING,
    *STATE_EVENTS,
    *FAULT_REPORTS,
    *FAST_LANE,
    *SETTLER,
    *PHASE_DIRECTOR,
    *STEERSMAN,
    *TOOL_DESK,
    *KEEPING,
    *BODY,
    *OPERATOR_SIDE,
)
"""Every mutation."""
