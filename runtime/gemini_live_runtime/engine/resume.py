"""Start an engine that goes on with a recorded session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gemini_live_runtime import paths
from gemini_live_runtime.engine.launch import connect, start_engine
from gemini_live_runtime.engine.registry import STOPPED_FILE, engine_folder, is_alive
from gemini_live_runtime.engine.saved_spec import SavedSpec, saved_spec
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import EngineError

if TYPE_CHECKING:
    from gemini_live_runtime.engine.link import Link


async def resume_engine(folder: Path, *, asked: bool, root: Path | None = None) -> Link:
    """Start an engine for the session recorded in `folder`, and return a link to it.

    When one runs already, the link is to that one. An engine that the user has ended by force is started again only
    when `asked`. Raises `GeminiLiveError`.
    """
    session_id = paths.safe_name(folder.name, field="session id")
    running = engine_folder(session_id, root)
    if is_alive(running):
        return await connect(session_id, root=root)
    if not asked and (running / STOPPED_FILE).exists():
        raise EngineError("The engine was ended by gemini-live-tui stop", field="session id", value=session_id)
    saved = saved_spec(folder)
    try:
        engine = start_engine(_spec_to_resume(saved, folder), root=root, where=Path(saved.working_folder))
    except EngineError:
        if not is_alive(running):
            raise
        # Another console was faster.
        return await connect(session_id, root=root)
    return await connect(session_id, engine=engine, root=root)


def _spec_to_resume(saved: SavedSpec, folder: Path) -> EngineSpec:
    spec = replace(saved.spec, session_id=folder.name, resume=True, headless=False)
    if folder.parent.name == "sessions":
        spec = replace(spec, data_dir=str(folder.parent.parent.absolute()))
    if spec.audio == "files":
        # The microphone's file has been heard, and the model's must not be written over.
        spec = replace(spec, input="", output="")
    elif spec.audio == "program":
        spec = replace(spec, audio="none")
    return spec
