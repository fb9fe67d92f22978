"""Tell errors of nodes that are being removed from those that end the console.

Keys within milliseconds close a screen before it has composed itself, or while its worker runs: what looks for its
parts, or for the screen below it, then finds none.
"""

from __future__ import annotations

from traceback import walk_tb

from textual.app import ScreenStackError
from textual.css.query import NoMatches
from textual.dom import DOMNode, NoScreen
from textual.worker import WorkerFailed


def is_of_removed(error: BaseException) -> bool:
    """Return True when a node that is being removed has looked for others in vain."""
    cause = error.error if isinstance(error, WorkerFailed) else error
    if not isinstance(cause, NoMatches | NoScreen | ScreenStackError | IndexError):
        return False
    asking = (frame.f_locals.get("self") for frame, _ in walk_tb(cause.__traceback__))
    return any(isinstance(node, DOMNode) and _is_removed(node) for node in asking)


def _is_removed(node: DOMNode) -> bool:
    return any(one._closing or one._closed or one._pruning for one in node.ancestors_with_self)
