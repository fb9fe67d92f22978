"""The bundled agents, and the loader for agents in other files."""

from __future__ import annotations
