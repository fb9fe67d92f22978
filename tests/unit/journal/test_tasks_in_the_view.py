"""The view ends the tasks of an engine that has died."""

from __future__ import annotations

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.session_fold import fold


def test_a_task_of_an_engine_that_died_runs_no_more() -> None:
    runs = ev.TaskChanged(call_id="c", task_id="t1", tool="order_taxi", status="running", fraction=0.38)
    again = ev.TaskChanged(call_id="c", task_id="t2", tool="order_taxi", status="running")
    goes_on = ev.SessionResumed(kept=1, after="crash", wall=0.0, record="text", program="test")
    payloads = (runs, goes_on, again)
    view = fold(ev.Event(seq=number, t=float(number), turn=1, gen=0, payload=p) for number, p in enumerate(payloads, 1))
    died = view.harness.tasks["t1"]
    assert (died.status, died.end, died.fraction) == ("interrupted", 2.0, 0.38)
    assert view.harness.running == [view.harness.tasks["t2"]]
