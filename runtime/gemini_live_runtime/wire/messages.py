"""Gather every message class of the Live API in one namespace.

Each class is defined in the module of its subject.
"""

from gemini_live_runtime.wire.base import *
from gemini_live_runtime.wire.client import *
from gemini_live_runtime.wire.content import *
from gemini_live_runtime.wire.declarations import *
from gemini_live_runtime.wire.enums import *
from gemini_live_runtime.wire.server import *
from gemini_live_runtime.wire.setup import *
