"""Write the tables of the docs: `python -m tests.docs.tables`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

from tests.docs import fault_tables, key_tables, theme_tables
from tests.docs.limits import page as limits_page

from gemini_live_runtime.conversation import extraction
from gemini_live_runtime.session.agent import background_agents, settle_engine, turn_extraction, user_code
from gemini_live_runtime.session.agent.handover import lifecycle
from gemini_live_runtime.session.agent.listeners import callback_runner
from gemini_live_runtime.session.definition.callbacks import CALLBACKS
from gemini_live_runtime.session.endpointing.policy import PRESETS
from gemini_live_runtime.session.persistence.snapshot import PERSISTENT_SCOPES
from gemini_live_runtime.session.ports.capabilities import capabilities_of
from gemini_live_runtime.state.scopes import SCOPES
from gemini_live_runtime.tools import declaration

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "agents.md"
EXAMPLES = DOCS / "examples"
_MARK = re.compile(r"<!-- table: (\w+) -->\n(?:\n(?:\|.*\n)+)?")

SCOPE_MEANINGS = {
    "app": "the agent's own values",
    "user": "values about the user",
    "session": "values that the session itself writes, see below",
    "turn": "cleared when the next turn begins",
    "bg": "results of background work",
    "temp": "values for this run only",
    "derived": "computed; cannot be written",
}

CALLBACK_MEANINGS = {
    "on_audio": "a chunk of the model's voice, s16le at 24 kHz",
    "on_text": "a piece of a text model's answer",
    "on_text_complete": "the whole answer",
    "on_input_transcript": "the user's words, spoken or typed; final at the end of the turn",
    "on_output_transcript": "the model's words; final at the end of the turn, as it was heard",
    "on_thought": "a thought summary",
    "on_vad_start": "the user begins to speak",
    "on_vad_end": "the user stops speaking",
    "on_phase": "the connection's status changed; the conversation's phase is `session:phase`",
    "on_usage": "token counts",
    "on_interrupted": "the model's answer was cut",
    "on_tool_call": "tools are called; a returned dict of id to result answers in their place",
    "on_tool_cancelled": "the server no longer wants these answers",
    "on_turn_complete": "all steps at a turn's end are done",
    "on_generation_complete": "the model has produced its answer, which may still be playing",
    "on_go_away": "the server will close the connection",
    "on_connected": "a new session with the server; `handle` is the `LiveHandle`",
    "on_disconnected": "the connection ended",
    "on_resumed": "a new connection continues the session",
    "on_error": "an error, as a sentence: a fault; a frame, sound, snapshot or recording that was lost",
    "on_extracted": "an extractor found something",
    "on_extraction_error": "an extractor failed",
    "on_teardown": "the session ends",
    "before_tool_response": "answers are about to be sent to the model; a returned list replaces them",
    "on_turn_boundary": "instruction and context were sent; send more with `writer`",
    "instruction_template": "a text in place of the whole instruction, or None",
    "instruction_amendment": "a text added to the instruction for as long as it is returned, or None",
}

SIGNALS = {
    "session:phase": "the conversation's phase",
    "session:phase_needs": "keys that the phase needs",
    "session:phase_requires": "keys that the phase required",
    "session:active_tools": "tools that the phase allows; missing when it allows all",
    "session:navigation_context": "the current phase and its transitions, in lines for a model",
    "session:presented:*": "true once a phase presented this",
    "session:called_ok:*": "successful calls of a tool",
    "session:memory:*": "memories of a scope that the agent reads, as a list of objects",
    "bg:*_failed": "true when a tool's last call failed",
    "session:repair:escalation": "true while repair escalates",
    "session:repair:unfulfilled": "the missing keys",
    "session:turn_count": "turns that are complete; at the end of a turn it counts",
    "session:last_input_transcription": "the user's newest words in the last turn (20,000 characters)",
    "session:last_output_transcription": "the model's newest words in the last turn (20,000 characters)",
    "session:wire_phase": "status of the connection: `disconnected`, `connecting`, `active`, `user_speaking`, ...",
    "session:is_user_speaking": "",
    "session:user_state": "`speaking`, `listening` or `away`",
    "session:is_model_speaking": "",
    "session:interrupt_count": "interrupted answers",
    "session:error_count": "number of errors: those of `on_error`, and faults of the agent's code",
    "session:last_error": "the last error, a sentence",
    "session:connected_at_ms": "time of the first connection on the session's clock",
    "session:disconnected": "true while there is no connection",
    "session:resumable": "true when the server can resume the session",
    "session:go_away_received": "true when the server will close the connection",
    "session:go_away_time_left": "time until then, as the server writes it",
    "session:go_away_time_left_ms": "the same in ms",
    "session:last_consumed_client_index": "the server's count of our messages",
    "session:session_type": "`audio_only`, or `audio_video` once a picture was sent",
    "session:elapsed_ms": "since the connection began; read live, without events",
    "session:remaining_budget_ms": "rest of the time that Google grants; read live",
    "session:silence_ms": "since the last speech or typed text; read live",
    "session:prompt_token_count": "tokens, as counted by the server",
    "session:response_token_count": "",
    "session:total_token_count": "",
    "session:thoughts_token_count": "",
    "session:cached_content_token_count": "",
}

MODELS = ("gemini-3.8-live", "gemini-3.1-flash-live", "gemini-live-2.5-flash", "local-concierge")
"""Models with different instruction routes, on the Developer API."""


def scopes() -> list[str]:
    rows = [f"| `{name}:` | {SCOPE_MEANINGS[name]} | {_yes(name in PERSISTENT_SCOPES)} |" for name in SCOPES]
    rows.append(f"| none | anything | {_yes('' in PERSISTENT_SCOPES)} |")
    return ["| scope | contents | restored |", "|---|---|---|", *rows]


def callbacks() -> list[str]:
    rows = [
        f"| `{name}` | {', '.join(f'`{argument}`' for argument in spec.arguments)} | {CALLBACK_MEANINGS[name]} "
        f"| {'inline' if spec.lane == 'fast' else ''}{'answer' if spec.answers else ''} |"
        for name, spec in CALLBACKS.items()
    ]
    return ["| callback | gets | when | |", "|---|---|---|---|", *rows]


def signals() -> list[str]:
    return ["| key | value |", "|---|---|", *(f"| `{key}` | {meaning} |" for key, meaning in SIGNALS.items())]


def routes() -> list[str]:
    rows = [f"| `{model}` | `{capabilities_of(model).instruction_route}` |" for model in MODELS]
    vertex = capabilities_of("gemini-live-2.5-flash", vertex=True).instruction_route
    rows.append(f"| others on Vertex AI | `{vertex}` |")
    return ["| model | route |", "|---|---|", *rows]


def presets() -> list[str]:
    rows = [
        f"| `{name}` | {policy.end_of_turn_hold_ms:g} ms | {policy.min_interruption_ms:g} ms |"
        for name, policy in PRESETS.items()
    ]
    return ["| preset | silence | speech |", "|---|---|---|", *rows]


def limits() -> list[str]:
    rows = [
        (
            "a hook, a preparation, a blocking watcher",
            f"{user_code.DEADLINE_S:g} s; reported above {user_code.SLOW_S:g} s",
        ),
        ("a blocking callback", f"{callback_runner.DEADLINE_S:g} s; reported above {callback_runner.CONTROL_S:g} s"),
        ("an inline callback", f"reported above {callback_runner.FAST_S:g} s"),
        ("a tool", f"{declaration.DEFAULT_TIMEOUT_S:g} s"),
        ("a background tool", f"{declaration.BACKGROUND_TIMEOUT_S:g} s"),
        ("a background agent", f"{background_agents.DEFAULT_TIMEOUT_S:g} s"),
        ("an extraction", f"{extraction.DEFAULT_DEADLINE_S:g} s"),
        ("the end of a turn, for extractors", f"{turn_extraction.EXTRACTION_GRACE_S:g} s"),
        ("watchers that trigger each other", f"{settle_engine.MAX_ROUNDS} rounds"),
        ("turns sent to a server that did not resume", f"{lifecycle.RECALLED}"),
    ]
    return ["| what | at most |", "|---|---|", *(f"| {what} | {most} |" for what, most in rows)]


def _yes(true: bool) -> str:
    return "yes" if true else ""


TABLES: dict[str, Callable[[], list[str]]] = {
    table.__name__: table for table in (scopes, callbacks, signals, routes, presets, limits)
}


def with_tables(page: str) -> str:
    """Return the page with every table brought up to date."""

    def table(mark: re.Match[str]) -> str:
        lines = "\n".join(TABLES[mark[1]]())
        return f"<!-- table: {mark[1]} -->\n\n{lines}\n"

    return _MARK.sub(table, page)


def list_of_examples() -> str:
    """Return the page that lists the examples, each with its first sentence."""
    ideas = {path.name: ast.get_docstring(ast.parse(path.read_text("utf-8"))) for path in sorted(EXAMPLES.glob("*.py"))}
    lines = [f"- [{name}]({name}): {idea}" for name, idea in ideas.items()]
    return "\n".join([_EXAMPLES, *lines, ""])


_EXAMPLES = """\
# Examples

Small programs, one idea each. They need no key and no network, and run at once, on a virtual clock. Each ends with its
output as comments, which a test compares.

```sh
python docs/examples/guards.py
```
"""


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
    (EXAMPLES / "README.md").write_text(list_of_examples(), "utf-8")
    key_tables.write()
    theme_tables.write()
    limits_page.write()
    fault_tables.write()
