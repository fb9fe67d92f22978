"""List the mutations: each takes one part out of a named function of the session."""

from __future__ import annotations

from tests.mutants import mutations_of_agents, mutations_of_sessions, mutations_of_steps

MUTATIONS = (*mutations_of_steps.MUTATIONS, *mutations_of_sessions.MUTATIONS, *mutations_of_agents.MUTATIONS)
"""Every mutation."""
