"""List the session tests of each public name and of each known fault.

Tests are given as `file::test`, the file without `test_` and `.py`.
"""

from __future__ import annotations

ASKED_FOR = """
State, StateKey, ComputedVar, ComputedRegistry, Watcher, WatcherRegistry, WatchPredicate, TemporalPattern,
TemporalRegistry, PatternDetector, SustainedDetector, RateDetector, TurnCountDetector, ConsecutiveFailureDetector,
Phase, PhaseMachine, PhaseInstruction, InstructionModifier, PhasePreparation, PhaseTransition, Transition,
TransitionEvaluation, TransitionResult, TransitionTrigger, SteeringMode, ContextDelivery, PendingContext,
DeferredWriter, ContextBuilder, NeedsFulfillment, RepairConfig, RepairAction, TurnExtractor, LlmExtractor,
ExtractionTrigger, FieldPromotion, MergePolicy, LiveReactor, ReactorRule, Reaction, ReactorEvent, LiveEffect,
EffectPolicy, EffectMode, VoiceRuntimeState, LiveEffectExecutor, LiveEvent, InputVad, InputVadSnapshot,
SoftTurnDetector, TranscriptBuffer, TranscriptTurn, TranscriptWindow, ToolCallSummary, ToolExecutionMode,
ResultFormatter, DefaultResultFormatter, BackgroundToolTracker, BackgroundAgentDispatcher, EventCallbacks,
CallbackMode, Live, LiveHandle, SessionSignals, SessionType, SessionTelemetry, SessionPersistence, SessionSnapshot,
FsPersistence, MemoryPersistence, Agent, AgentSession, InlineTask, RunContext, RunResult, SpeechHandle, SpeechPriority,
ServerDetection, StopResponse, UserTurn, EndOfTurnModel, SmartTurn,
AgentStateChangedEvent, UserStateChangedEvent, UserInputTranscribedEvent, ConversationItemAddedEvent,
FunctionToolsExecutedEvent,
MetricsCollectedEvent, SpeechCreatedEvent, ErrorEvent, CloseEvent, CloseReason, ChatMessage, FunctionCall,
FunctionCallOutput, AgentHandoff, mock_tools,
Harness, HarnessPaths, HarnessError, HarnessTask, NewRunningTask, TaskStatus, TaskDetail, TaskResult, TaskEvent,
TaskEventKind, TaskRuntimeInstance, HarnessNotification, NewNotification, NotificationKind, NotificationStatus,
MemoryRecord, MemoryWrite, HarnessController, HarnessToolRuntime, HarnessRuntimeBridge, HarnessToolCompletion,
HarnessToolCompletionDisposition, ForwardOutcome, HarnessToolRegistry, ToolDescriptor, ToolKind, ToolProvider,
PassiveNotificationPump, format_passive_notification_prompt
"""
"""The public names that every session must be able to use."""

PHASES = "phases_in_a_session"
WATCHERS = "watchers_in_a_session"
PATTERNS = "patterns_in_a_session"
STEERING = "steering_on_the_wire"
TOOLS = "tools_in_a_session"
BACKGROUND = "background_calls"
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
STATE = "state_in_a_session"
SUBSCRIBERS = "subscribers_in_a_session"
PLAN = "plan_faults"
HANDING_OVER = "handing_over"
SPEECHES = "speeches"
SPEECHES_OF_TOOLS = "speeches_of_tools"
TASKS = "inline_tasks"
HARNESS = "harness_of_a_session"
TURNS = "turn_detection"
ENDS = "ends_of_user_turns"
PAUSES = "end_of_turn_model"
EVENTS = "session_events"

COVERED: dict[str, str] = {
    "State": f"{STATE}::test_every_mutation_is_an_event_in_order",
    "StateKey": f"{STATE}::test_a_declared_key_refuses_what_is_not_of_its_type",
    "ComputedVar": f"{WATCHERS}::test_a_computed_value_follows_what_a_tool_has_written",
    "ComputedRegistry": f"{WATCHERS}::test_the_registries_of_a_session_tell_what_they_watch_and_compute",
    "Watcher": f"{WATCHERS}::test_a_watcher_fires_when_a_tool_has_written",
    "WatcherRegistry": f"{WATCHERS}::test_the_registries_of_a_session_tell_what_they_watch_and_compute",
    "WatchPredicate": f"{WATCHERS}::test_every_kind_of_change_is_watched",
    "TemporalPattern": f"{PATTERNS}::test_what_a_sustained_pattern_does_moves_the_conversation",
    "TemporalRegistry": f"{PATTERNS}::test_a_pattern_says_how_far_it_has_come",
    "PatternDetector": f"{PATTERNS}::test_a_detector_of_ones_own_sees_everything_that_can_be_counted",
    "SustainedDetector": f"{PATTERNS}::"
    "test_a_guard_that_has_held_long_enough_is_noticed_to_the_moment_without_anything_happening",
    "RateDetector": f"{PATTERNS}::test_events_of_the_session_are_counted_within_a_time",
    "TurnCountDetector": f"{PATTERNS}::test_turns_are_counted_in_turns_and_not_in_time",
    "ConsecutiveFailureDetector": f"{PATTERNS}::test_failures_in_a_row_of_one_tool_are_counted",
    "Phase": f"{PHASES}::test_a_guard_that_holds_at_the_end_of_a_turn_moves_the_conversation",
    "PhaseMachine": f"{PHASES}::test_the_machine_of_a_session_keeps_its_path_and_its_last_decision",
    "PhaseInstruction": f"{PHASES}::test_a_dynamic_instruction_reads_the_state_as_it_is_on_entering",
    "InstructionModifier": f"{PHASES}::test_modifiers_are_part_of_the_instruction_while_they_apply",
    "PhasePreparation": f"{PHASES}::test_a_preparation_fills_what_a_phase_requires_and_the_phase_is_entered_at_once",
    "PhaseTransition": f"{PHASES}::test_the_machine_of_a_session_keeps_its_path_and_its_last_decision",
    "Transition": f"{PHASES}::test_the_first_transition_whose_guard_holds_is_taken",
    "TransitionEvaluation": f"{PHASES}::test_the_machine_of_a_session_keeps_its_path_and_its_last_decision",
    "TransitionResult": f"{PHASES}::test_the_machine_of_a_session_keeps_its_path_and_its_last_decision",
    "TransitionTrigger": f"{PHASES}::test_the_machine_of_a_session_keeps_its_path_and_its_last_decision",
    "SteeringMode": f"{STEERING}::test_in_the_context_mode_the_instruction_is_never_touched",
    "ContextDelivery": f"{STEERING}::test_deferred_context_goes_out_just_before_the_users_next_input",
    "PendingContext": f"{STEERING}::test_context_waits_in_one_place_and_its_writer_is_the_programs_too",
    "DeferredWriter": f"{STEERING}::test_context_waits_in_one_place_and_its_writer_is_the_programs_too",
    "ContextBuilder": f"{STEERING}::test_context_that_did_not_change_is_not_sent_again",
    "NeedsFulfillment": f"{REPAIR}::test_entering_a_phase_begins_the_count_anew",
    "RepairConfig": f"{REPAIR}::test_entering_a_phase_begins_the_count_anew",
    "RepairAction": f"{REPAIR}::test_entering_a_phase_begins_the_count_anew",
    "TurnExtractor": f"{EXTRACTION}::test_an_extractor_of_ones_own_is_asked",
    "LlmExtractor": f"{EXTRACTION}::test_what_a_text_model_finds_in_a_turn_becomes_state",
    "ExtractionTrigger": f"{EXTRACTION}::test_an_interval_counts_turns",
    "FieldPromotion": f"{EXTRACTION}::test_a_field_is_promoted_by_its_rule_and_the_others_are_not",
    "MergePolicy": f"{EXTRACTION}::test_the_policy_of_a_rule_decides_whether_what_is_known_stays",
    "LiveReactor": f"{REACTOR}::test_one_reactor_and_one_executor_serve_a_session",
    "ReactorRule": f"{REACTOR}::test_context_that_a_rule_wants_is_sent",
    "Reaction": f"{REACTOR}::test_a_reaction_tells_how_it_is_waited_for",
    "ReactorEvent": f"{REACTOR}::test_rules_hear_events_state_ticks_speech_and_prompts",
    "LiveEffect": f"{REACTOR}::test_an_instruction_that_a_rule_wants_is_sent",
    "EffectPolicy": f"{REACTOR}::test_a_reaction_tells_how_it_is_waited_for",
    "EffectMode": f"{REACTOR}::test_a_reaction_tells_how_it_is_waited_for",
    "VoiceRuntimeState": f"{REACTOR}::test_rules_hear_when_the_model_is_heard_and_when_all_of_it_was",
    "LiveEffectExecutor": f"{REACTOR}::test_one_reactor_and_one_executor_serve_a_session",
    "LiveEvent": f"{SUBSCRIBERS}::test_a_subscriber_gets_every_event_from_then_on_until_the_end",
    "InputVad": f"{CLIENT}::test_a_detector_finds_the_same_edges_in_any_chunking",
    "InputVadSnapshot": f"{CLIENT}::test_the_detector_can_be_looked_at_and_there_is_none_while_the_server_decides",
    "SoftTurnDetector": f"{SOFT}::test_the_wait_is_the_one_that_was_asked_for",
    "TranscriptBuffer": f"{TRANSCRIPT}::test_pieces_of_a_transcription_are_put_together",
    "TranscriptTurn": f"{TRANSCRIPT}::test_pieces_of_a_transcription_are_put_together",
    "TranscriptWindow": f"{PHASES}::test_context_on_entering_sees_the_turn_that_is_going_on_with_its_tool_calls",
    "ToolCallSummary": f"{BACKGROUND}::test_a_background_result_is_in_the_transcript",
    "ToolExecutionMode": f"{BACKGROUND}::test_a_formatter_words_what_the_model_is_told_of_a_background_call",
    "ResultFormatter": f"{BACKGROUND}::test_a_formatter_words_what_the_model_is_told_of_a_background_call",
    "DefaultResultFormatter": f"{BACKGROUND}::test_a_formatter_words_what_the_model_is_told_of_a_background_call",
    "BackgroundToolTracker": f"{BACKGROUND}::test_the_conversation_goes_on_while_a_background_tool_runs",
    "BackgroundAgentDispatcher": f"{BACKGROUND}::test_a_background_agent_leaves_its_result_in_the_state",
    "EventCallbacks": f"{CALLBACKS}::test_a_builder_keeps_its_listeners_by_callback_and_mode",
    "CallbackMode": f"{CALLBACKS}::test_a_builder_keeps_its_listeners_by_callback_and_mode",
    "Live": f"{HANDLE}::test_an_agent_runs_inside_a_program_of_its_own",
    "LiveHandle": f"{HANDLE}::test_the_program_types_for_the_user",
    "SessionSignals": f"{FIGURES}::test_the_signals_of_a_new_connection_are_at_their_beginning",
    "SessionType": f"{FIGURES}::test_a_picture_makes_the_budget_that_of_video",
    "SessionTelemetry": f"{FIGURES}::test_answers_turns_sound_and_tokens_are_counted",
    "SessionPersistence": f"{KEPT}::test_a_session_is_kept_after_every_turn_and_at_its_end",
    "SessionSnapshot": f"{KEPT}::test_snapshots_are_written_in_order_and_keep_nobody_waiting",
    "FsPersistence": f"{KEPT}::test_a_session_kept_in_a_file_is_private_versioned_and_taken_up",
    "MemoryPersistence": f"{KEPT}::test_a_session_that_was_kept_goes_on_where_it_stood",
    **dict.fromkeys(
        (
            *("Harness", "HarnessPaths", "HarnessController", "HarnessTask", "TaskStatus", "TaskDetail", "TaskResult"),
            *("TaskEvent", "TaskEventKind", "TaskRuntimeInstance", "HarnessNotification", "NewNotification"),
            *("NotificationKind", "NotificationStatus", "MemoryRecord", "MemoryWrite"),
        ),
        f"{HARNESS}::test_a_program_reads_and_changes_the_harness_of_its_session",
    ),
    **dict.fromkeys(
        ("HarnessToolRegistry", "ToolDescriptor", "ToolKind", "ToolProvider"),
        f"{HARNESS}::test_the_tools_of_a_provider_are_called_and_described_with_its_kind",
    ),
    **dict.fromkeys(
        ("PassiveNotificationPump", "format_passive_notification_prompt"),
        f"{HARNESS}::test_a_program_that_delivers_by_itself_uses_the_pump_and_the_prompt_of_a_session",
    ),
    **dict.fromkeys(
        ("HarnessRuntimeBridge", "HarnessToolCompletion", "HarnessToolCompletionDisposition", "ForwardOutcome"),
        f"{HARNESS}::test_a_bridge_tells_the_calls_as_their_answers_go_out",
    ),
    "HarnessToolRuntime": f"{HARNESS}::test_the_runtime_of_tools_knows_the_tasks_that_run",
    "NewRunningTask": f"{HARNESS}::test_a_program_records_work_of_its_own",
    "HarnessError": f"{HARNESS}::test_a_program_records_work_of_its_own",
    "Agent": f"{HANDING_OVER}::test_tools_among_an_agents_methods_work_on_its_object",
    "AgentSession": f"{SPEECHES}::test_a_reply_is_asked_for_at_once_when_nobody_speaks_and_its_handle_follows_it",
    "InlineTask": f"{TASKS}::test_a_task_speaks_in_place_of_the_agent_and_its_result_is_that_of_the_await",
    "RunContext": f"{SPEECHES_OF_TOOLS}::test_the_rounds_of_a_tool_are_steps_of_one_speech",
    "RunResult": f"{SPEECHES}::test_what_followed_a_text_is_told_for_tests_of_agents",
    "SpeechHandle": f"{SPEECHES_OF_TOOLS}::test_the_rounds_of_a_tool_are_steps_of_one_speech",
    "AgentStateChangedEvent": f"{EVENTS}::test_events_of_a_typed_turn_come_in_the_order_of_the_field",
    "UserStateChangedEvent": f"{EVENTS}::test_the_state_of_the_user_is_told_and_can_be_asked_for",
    "UserInputTranscribedEvent": f"{EVENTS}::test_events_of_a_typed_turn_come_in_the_order_of_the_field",
    "ConversationItemAddedEvent": f"{EVENTS}::test_events_of_a_typed_turn_come_in_the_order_of_the_field",
    "FunctionToolsExecutedEvent": f"{EVENTS}::test_calls_and_answers_of_different_number_are_refused",
    "MetricsCollectedEvent": f"{EVENTS}::test_latency_and_tokens_are_metrics",
    "SpeechCreatedEvent": f"{EVENTS}::test_each_speech_is_told_once_with_a_handle_and_who_asked_for_it",
    "ErrorEvent": f"{EVENTS}::test_errors_are_told_with_their_source",
    "CloseEvent": f"{EVENTS}::test_the_close_of_a_session_is_told_once_with_its_reason",
    "CloseReason": f"{EVENTS}::test_the_close_of_a_session_is_told_once_with_its_reason",
    "ChatMessage": f"{EVENTS}::test_the_history_has_what_was_said_around_the_calls_and_their_answers",
    "FunctionCall": f"{EVENTS}::test_the_history_has_what_was_said_around_the_calls_and_their_answers",
    "FunctionCallOutput": f"{EVENTS}::test_the_history_has_what_was_said_around_the_calls_and_their_answers",
    "mock_tools": "run_expectations::test_a_mock_stands_in_for_a_tool_with_the_arguments_that_it_names",
    "AgentHandoff": f"{EVENTS}::test_the_history_has_hand_offs_where_they_happened",
    "SpeechPriority": f"{SPEECHES}::test_speeches_wait_for_each_other_and_the_higher_priority_goes_first",
    "StopResponse": f"{ENDS}::test_a_turn_that_the_agent_drops_is_not_answered",
    "UserTurn": f"{ENDS}::test_the_agent_adds_context_for_a_turn_before_the_model_answers_it",
    "EndOfTurnModel": f"{PAUSES}::test_a_pause_in_which_more_is_expected_does_not_end_the_turn",
    "SmartTurn": f"{PAUSES}::test_the_bundled_model_says_how_to_install_what_it_lacks",
    "ServerDetection": f"{TURNS}::test_settings_of_the_servers_detector_are_part_of_the_setup",
}
"""The public names, each with a test that uses it in a session and fails without it."""

ABSENT_FAULTS: dict[int, tuple[str, ...]] = {
    1: (
        f"{TRANSCRIPT}::test_pieces_of_a_transcription_are_put_together",
        f"{TRANSCRIPT}::test_a_turn_without_the_users_words_does_not_repeat_the_last_ones",
        f"{FIGURES}::test_the_whole_of_what_was_said_in_a_turn_is_in_the_state_and_not_its_last_piece",
    ),
    2: (f"{TRANSCRIPT}::test_what_was_heard_of_an_answer_that_was_cut_stays_and_the_rest_is_kept_apart",),
    3: (
        f"{TRANSCRIPT}::test_words_of_an_answer_that_was_cut_do_not_come_into_the_next_turn",
        f"{CALLBACKS}::test_sound_of_the_next_answer_is_not_dropped_while_a_listener_is_busy",
    ),
    4: (
        f"{EXTRACTION}::test_a_slow_extractor_does_not_delay_the_conversation_and_counts_when_it_comes",
        f"{TOOLS}::test_calls_of_one_message_run_at_the_same_time",
        f"{TOOLS}::test_a_tool_that_takes_too_long_is_answered_with_that",
    ),
    5: (f"{TOOLS}::test_with_one_call_refused_and_a_listener_that_leaves_it_be_both_are_answered",),
    6: (
        f"{PHASES}::test_what_a_tool_writes_moves_the_conversation_before_its_answer_goes_out",
        f"{WATCHERS}::test_a_watcher_fires_when_a_tool_has_written",
        f"{TOOLS}::test_what_a_tool_has_written_is_in_the_turn_scope_until_the_next_turn_begins",
    ),
    7: (
        f"{RECONNECTING}::test_a_lost_connection_is_made_again_with_the_handle_and_the_instruction_of_now",
        f"{RECONNECTING}::test_after_a_fresh_start_the_model_is_told_everything_again",
        f"{RECONNECTING}::test_a_connection_is_left_in_a_pause_once_the_server_says_that_it_will_close",
    ),
    8: (
        f"{PHASES}::test_the_conversations_phase_and_the_wires_are_two_keys",
        f"{FIGURES}::test_a_tool_call_is_a_phase_of_the_wire_that_ends",
    ),
    9: (f"{PHASES}::test_the_initial_phase_is_entered_like_any_other",),
    10: (
        f"{SOFT}::test_a_turn_that_the_model_lets_pass_counts_after_the_silence",
        f"{CALLBACKS}::test_a_callback_is_called_at_its_moment_with_its_arguments",
        f"{FIGURES}::test_a_picture_makes_the_budget_that_of_video",
        f"{TOOLS}::test_failures_and_successes_are_counted_in_the_state",
        f"{REPAIR}::test_entering_a_phase_begins_the_count_anew",
        f"{BACKGROUND}::test_a_formatter_words_that_a_background_call_was_given_up",
        f"{KEPT}::test_a_session_that_was_kept_goes_on_where_it_stood",
        f"{PATTERNS}::test_a_detector_of_ones_own_sees_everything_that_can_be_counted",
        f"{REACTOR}::test_rules_hear_when_the_model_is_heard_and_when_all_of_it_was",
    ),
    11: (
        f"{FIGURES}::test_every_turn_is_measured_as_a_waterfall",
        f"{FIGURES}::test_figures_are_reported_at_intervals_without_anybody_listening",
        f"{PATTERNS}::test_turns_are_counted_in_turns_and_not_in_time",
        f"{PATTERNS}::test_events_of_the_session_are_counted_within_a_time",
    ),
    12: (
        f"{STEERING}::test_in_the_hybrid_mode_a_modifier_is_told_once_and_not_in_the_instruction_too",
        f"{STEERING}::test_context_that_did_not_change_is_not_sent_again",
        f"{STEERING}::test_an_amendment_is_added_and_taken_back_when_it_ends",
        f"{STEERING}::test_a_prompt_takes_the_context_that_waits_with_it",
        f"{STEERING}::test_steering_that_cannot_be_sent_is_sent_when_it_can",
        f"{PHASES}::test_the_description_of_the_navigation_is_that_of_the_phase_just_entered",
        f"{PHASES}::test_modifiers_are_part_of_the_instruction_while_they_apply",
    ),
    13: (
        f"{BACKGROUND}::test_a_background_call_is_acknowledged_at_once_and_its_result_carries_the_scheduling",
        f"{BACKGROUND}::test_a_background_result_is_in_the_transcript",
    ),
    14: (
        f"{EXTRACTION}::test_after_a_tool_call_the_call_and_its_result_are_read_in_the_first_turn_too",
        f"{EXTRACTION}::test_a_phase_change_is_read_after_the_phase_was_entered",
    ),
    15: (
        f"{KEPT}::test_a_session_that_was_kept_goes_on_where_it_stood",
        f"{KEPT}::test_snapshots_are_written_in_order_and_keep_nobody_waiting",
        f"{KEPT}::test_a_session_kept_in_a_file_is_private_versioned_and_taken_up",
        f"{KEPT}::test_what_holds_for_a_turn_or_a_session_only_is_not_kept",
    ),
    16: (
        f"{STATE}::test_a_transaction_that_fails_leaves_no_trace_and_makes_no_event",
        f"{STATE}::test_a_bare_name_reads_what_is_computed_wherever_one_asks",
        f"{FIGURES}::test_time_since_the_last_word_and_the_budget_are_read_live_and_make_no_events",
    ),
    17: (
        f"{CALLBACKS}::test_a_listener_that_raises_is_an_event_and_the_next_one_is_called",
        f"{CALLBACKS}::test_a_concurrent_listener_that_raises_is_an_event",
    ),
    18: (
        f"{STATE}::test_every_mutation_is_an_event_in_order",
        f"{WATCHERS}::test_a_firing_is_an_event_that_explains_itself",
        f"{STEERING}::test_the_end_of_a_turn_is_worked_through_in_its_order",
        f"{REPAIR}::test_the_model_is_nudged_once_the_needs_got_no_further_for_long_enough",
        f"{SUBSCRIBERS}::test_a_slow_subscriber_loses_the_oldest_of_a_class_and_it_is_told",
    ),
    19: (f"{SUBSCRIBERS}::test_a_slow_subscriber_loses_the_oldest_of_a_class_and_it_is_told",),
    20: (
        f"{CLIENT}::test_a_detector_finds_the_same_edges_in_any_chunking",
        f"{CLIENT}::test_the_audio_that_led_to_the_decision_is_sent_too",
        f"{CLIENT}::test_closing_the_microphone_ends_what_was_being_said",
    ),
}
"""Faults that runtimes like this one have had, by number, each with tests that show its absence."""

CHANGED = "agents_changed_in_a_session"
CUTS = "interruptions"
SESSIONS = "agent_sessions"
STATES = "user_states"
SWITCHES = "audio_switches"

VOICE_SESSION: dict[str, tuple[str, ...]] = {
    "a typed text interrupts and is answered": (
        f"{CUTS}::test_a_typed_text_a_key_and_the_server_each_are_a_rule_of_their_own",
        f"{SPEECHES}::test_the_user_who_types_is_answered_first_and_a_reply_goes_on_waiting",
    ),
    "text mode has no microphone": (f"{SWITCHES}::test_the_microphone_cannot_be_opened_in_text_mode",),
    "what was heard is what is kept": (
        f"{CUTS}::test_words_interrupt_what_is_paused_and_only_what_was_heard_is_kept",
        f"{EVENTS}::test_an_answer_that_is_cut_after_its_turn_is_added_with_what_was_heard",
    ),
    "an agent: instructions, tools, rules of its own": (
        f"{HANDING_OVER}::test_tools_among_an_agents_methods_work_on_its_object",
        f"{CUTS}::test_the_arguments_of_an_agent_are_those_of_the_builder",
        "rules_of_an_agent::test_no_answer_of_an_agent_that_may_not_be_interrupted_hears_the_user",
    ),
    "update_instructions": (f"{CHANGED}::test_an_agent_is_changed_before_and_while_it_speaks",),
    "update_tools": (f"{CHANGED}::test_tools_are_replaced_at_once_and_declared_by_the_next_connection",),
    "update_chat_ctx": (
        f"{CHANGED}::test_another_chat_context_is_what_the_model_is_told_on_a_session_of_its_own",
        "handoffs_of_a_dead_engine::test_messages_that_a_program_chose_are_all_that_the_next_engine_knows",
    ),
    "chat_ctx and history": (
        f"{EVENTS}::test_the_history_has_what_was_said_around_the_calls_and_their_answers",
        f"{EVENTS}::test_what_an_agent_that_began_anew_knows_begins_with_it",
        "fresh_chats::test_an_agent_that_takes_over_is_told_the_messages_that_were_chosen",
    ),
    "on_enter and on_exit": (
        f"{HANDING_OVER}::test_hooks_run_once_for_each_time_that_an_agent_speaks",
        "last_words::test_last_words_of_on_exit_are_spoken_before_the_other_agent_takes_over",
    ),
    "on_user_turn_completed": (
        f"{ENDS}::test_the_agent_adds_context_for_a_turn_before_the_model_answers_it",
        f"{ENDS}::test_a_turn_that_the_agent_drops_is_not_answered",
        f"{ENDS}::test_a_hook_that_would_never_be_called_is_refused_when_the_plan_is_made",
    ),
    "a session that does not run says so": (
        f"{SESSIONS}::test_a_session_that_was_not_started_says_so",
        f"{CHANGED}::test_an_agent_in_no_session_says_so",
    ),
    "min_consecutive_speech_delay": (f"{SPEECHES}::test_a_gap_between_speeches_is_kept",),
    "InlineTask": (
        f"{TASKS}::test_a_task_speaks_in_place_of_the_agent_and_its_result_is_that_of_the_await",
        f"{TASKS}::test_an_error_that_a_task_is_completed_with_is_raised_where_it_is_awaited",
        f"{TASKS}::test_a_task_is_awaited_once_and_only_in_its_place",
        f"{TASKS}::test_a_task_cannot_be_awaited_in_on_exit",
        f"{TASKS}::test_the_end_of_the_session_fails_a_task",
        "nested_tasks::test_every_order_of_two_nested_tasks_ends_each_await_and_leaves_the_right_agent",
    ),
    "tool_choice": (
        f"{SPEECHES_OF_TOOLS}::test_an_answer_without_tools_has_its_calls_refused",
        f"{SPEECHES}::test_what_the_live_api_cannot_do_is_refused_by_name",
    ),
    "RunContext": (
        f"{SPEECHES_OF_TOOLS}::test_a_tool_waits_until_what_the_model_said_before_was_heard_and_protects_its_speech",
        f"{SPEECHES_OF_TOOLS}::test_the_rounds_of_a_tool_are_steps_of_one_speech",
        f"{HANDING_OVER}::test_state_is_kept_and_initial_values_of_the_other_agent_do_not_replace_it",
    ),
    "start, aclose, context": (
        f"{SESSIONS}::test_a_session_is_started_closed_and_started_again",
        f"{SESSIONS}::test_tools_and_hooks_get_the_session_that_was_started",
    ),
    "drain": (
        f"{SESSIONS}::test_a_drain_finishes_the_answer_the_speeches_that_wait_and_the_tools_and_closes_then",
        f"{SESSIONS}::test_nothing_more_is_accepted_while_a_session_drains",
    ),
    "say": (f"{SPEECHES}::test_what_the_live_api_cannot_do_is_refused_by_name",),
    "generate_reply": (
        f"{SPEECHES}::test_a_reply_is_asked_for_at_once_when_nobody_speaks_and_its_handle_follows_it",
        f"{SPEECHES}::test_a_reply_to_what_a_program_says_for_the_user_is_sent_as_the_users_text",
    ),
    "interrupt": (
        f"{SPEECHES}::test_interrupting_stops_the_present_speech_and_drops_what_waits_up_to_a_protected_one",
        f"{SPEECHES}::test_a_protected_speech_is_interrupted_by_force_only",
    ),
    "commit_user_turn and clear_user_turn": (
        f"{ENDS}::test_a_commit_ends_the_turn_that_our_detector_has_begun",
        f"{ENDS}::test_a_cleared_turn_is_unknown_to_the_model_of_the_next_connection",
    ),
    "update_agent": (
        f"{HANDING_OVER}::test_an_agent_that_differs_in_its_instruction_takes_over_on_the_same_connection",
        f"{HANDING_OVER}::test_an_agent_without_phases_hands_over_to_one_with_phases_and_back",
    ),
    "update_options": (
        f"{TURNS}::test_our_detector_takes_over_with_a_renewed_connection",
        f"{CUTS}::test_rules_change_in_the_session_and_what_cannot_be_is_refused_with_a_reason",
    ),
    "options, conn_options, input, output": (
        f"{SESSIONS}::test_options_are_those_given_and_those_in_force",
        f"{SWITCHES}::test_a_program_mutes_and_opens_microphone_and_speaker",
        f"{SWITCHES}::test_the_options_of_the_connections_are_those_in_force_and_read_only",
    ),
    "current_speech and current_agent": (
        f"{SPEECHES}::test_speeches_wait_for_each_other_and_the_higher_priority_goes_first",
        "last_words::test_an_agent_says_its_last_words_again_when_it_is_left_again",
    ),
    "SpeechHandle": (
        f"{SPEECHES}::test_callbacks_and_waiters_of_a_speech_are_told_once_also_when_it_is_over",
        f"{SPEECHES}::test_waiting_for_other_things_ends_when_the_speech_is_interrupted",
        f"{SPEECHES_OF_TOOLS}::test_a_tool_cannot_wait_for_the_end_of_its_own_speech",
        f"{SPEECHES}::test_a_speech_that_was_interrupted_cannot_be_protected_any_more",
        "items_of_speeches::test_a_handle_has_the_messages_and_calls_of_its_speech",
    ),
    "a handle binds to what the server begins by itself": (
        f"{SPEECHES}::test_the_answer_to_the_user_is_a_speech_of_its_own_and_a_reply_waits_behind_it",
    ),
    "allow_interruptions": (
        f"{SPEECHES}::test_the_microphone_is_silent_while_a_protected_speech_is_spoken",
        "rules_of_an_agent::test_a_greeting_may_be_protected_alone_or_left_open_alone",
    ),
    "min_interruption_duration": (
        f"{CUTS}::test_a_voice_that_is_too_short_pauses_nothing_and_the_event_says_what_it_lacked",
    ),
    "min_interruption_words": (
        f"{CUTS}::test_fewer_words_than_the_agent_wants_leave_the_speech_going_and_enough_stop_it",
    ),
    "false interruption": (
        f"{CUTS}::test_without_words_the_speech_goes_on_with_the_sample_after_the_last_one",
        f"{CUTS}::test_after_the_servers_interrupted_nothing_goes_on",
    ),
    "endpointing delays": (
        f"{TURNS}::test_a_longer_delay_keeps_a_turn_open_for_longer",
        f"{PAUSES}::test_the_longer_delay_ends_a_turn_of_which_more_was_expected_in_vain",
        f"{TURNS}::test_settings_of_the_servers_detector_are_part_of_the_setup",
    ),
    "max_tool_steps": (
        "tool_steps::test_the_call_after_the_third_round_is_answered_with_an_error_and_the_model_speaks",
    ),
    "user_away_timeout": (
        f"{STATES}::test_after_fifteen_seconds_of_silence_on_both_sides_the_user_is_away_once",
        f"{STATES}::test_a_tool_keeps_the_user_from_being_away",
        f"{STATES}::test_while_the_model_speaks_and_without_a_connection_the_time_stands_still",
    ),
    "AgentState": (
        f"{EVENTS}::test_the_agent_is_initializing_until_it_is_connected_and_idle_without_a_connection",
        f"{EVENTS}::test_events_of_a_typed_turn_come_in_the_order_of_the_field",
    ),
    "turn_detection": (
        f"{TURNS}::test_the_choice_is_made_once_and_told",
        f"{TURNS}::test_our_detector_and_the_switch_change_places_on_one_connection",
        f"{PAUSES}::test_a_pause_in_which_more_is_expected_does_not_end_the_turn",
    ),
    "error budget": ("error_budget::test_the_fourth_failure_in_a_row_gives_the_connection_up_with_a_notice",),
    "user_state_changed": (f"{EVENTS}::test_the_state_of_the_user_is_told_and_can_be_asked_for",),
    "user_input_transcribed": (f"{EVENTS}::test_words_of_the_user_are_told_as_they_come_and_once_as_final",),
    "conversation_item_added": (
        f"{EVENTS}::test_sound_that_plays_after_its_turn_is_told_when_it_was_heard",
        f"{EVENTS}::test_the_history_has_hand_offs_where_they_happened",
    ),
    "function_tools_executed": (
        f"{EVENTS}::test_calls_of_one_message_are_told_with_their_answers_once_all_have_ended",
        f"{EVENTS}::test_calls_and_answers_of_different_number_are_refused",
    ),
    "metrics_collected": (f"{EVENTS}::test_latency_and_tokens_are_metrics",),
    "speech_created": (f"{EVENTS}::test_each_speech_is_told_once_with_a_handle_and_who_asked_for_it",),
    "error": (f"{EVENTS}::test_errors_are_told_with_their_source",),
    "close": (f"{EVENTS}::test_the_close_of_a_session_is_told_once_with_its_reason",),
    "on, off and iteration": (
        f"{EVENTS}::test_a_listener_is_added_by_a_decorator_and_taken_away",
        f"{EVENTS}::test_events_are_read_by_iteration_until_the_session_ends",
        f"{EVENTS}::test_an_unknown_event_is_refused_with_the_nearest_name",
    ),
    "run": (
        f"{SPEECHES}::test_what_followed_a_text_is_told_for_tests_of_agents",
        "run_expectations::test_the_cursor_moves_over_what_is_expected_and_skipped",
    ),
}
"""Abilities of a voice session in the manner of LiveKit Agents, each with the session tests that fail without it."""
