"""Bundled agents, and finding other people's."""

from __future__ import annotations
