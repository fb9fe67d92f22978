"""Every example runs offline in virtual time and prints what it says it prints.

Together they use every public name.
"""

from __future__ import annotations

import ast
import io
import re
import runpy
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import pytest

import gemini_live_runtime

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))
AGENTS = sorted((ROOT / "runtime" / "gemini_live_runtime" / "agents").glob("*.py"))
MARK = "\n# Prints:\n"
MAX_LINES = 60

NAMES = """
State StateKey ComputedVar ComputedRegistry Watcher WatcherRegistry WatchPredicate TemporalPattern TemporalRegistry
PatternDetector SustainedDetector RateDetector TurnCountDetector ConsecutiveFailureDetector Phase PhaseMachine
PhaseInstruction InstructionModifier PhasePreparation PhaseTransition Transition TransitionEvaluation TransitionResult
TransitionTrigger SteeringMode ContextDelivery PendingContext DeferredWriter ContextBuilder NeedsFulfillment
RepairConfig RepairAction TurnExtractor LlmExtractor ExtractionTrigger FieldPromotion MergePolicy LiveReactor
ReactorRule Reaction ReactorEvent LiveEffect EffectPolicy EffectMode VoiceRuntimeState LiveEffectExecutor LiveEvent
InputVad InputVadSnapshot SoftTurnDetector TranscriptBuffer TranscriptTurn TranscriptWindow ToolCallSummary
ToolExecutionMode ResultFormatter DefaultResultFormatter BackgroundToolTracker BackgroundAgentDispatcher
EventCallbacks CallbackMode Live LiveHandle SessionSignals SessionType SessionTelemetry SessionPersistence
SessionSnapshot FsPersistence MemoryPersistence
"""
PUBLIC = NAMES.split()
"""The names that the project promises to an agent's author."""


def parts(path: Path) -> tuple[str, list[str]]:
    """Return an example's code, and the lines that it says it prints."""
    code, mark, printed = path.read_text("utf-8").partition(MARK)
    assert mark, f"{path.name} does not say what it prints"
    return code, [line.removeprefix("#").removeprefix(" ") for line in printed.splitlines()]


@cache
def used_names(path: Path) -> set[str]:
    """Names that are used in a file's code; to be imported is not to be used."""
    tree = ast.parse(path.read_text("utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_stands_below_it(path: Path) -> None:
    _, wanted = parts(path)
    out = io.StringIO()
    with redirect_stdout(out):
        runpy.run_path(str(path), run_name="__main__")
    assert [line.rstrip() for line in out.getvalue().splitlines()] == wanted


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_says_its_idea_first(path: Path) -> None:
    code, _ = parts(path)
    assert len(code.splitlines()) <= MAX_LINES
    idea = ast.get_docstring(ast.parse(code))
    assert idea is not None
    assert "\n" not in idea


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_offered_and_shown(name: str) -> None:
    assert hasattr(gemini_live_runtime, name)
    assert [path.stem for path in (*EXAMPLES, *AGENTS) if name in used_names(path)]


def test_the_examples_import_no_name_that_begins_with_an_underscore() -> None:
    for path in EXAMPLES:
        assert not re.search(r"import .*\b_\w", path.read_text("utf-8")), path.name
