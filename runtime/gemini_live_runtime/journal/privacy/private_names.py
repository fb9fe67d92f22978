"""Classify values by their names: state keys, fields, arguments, results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias

PrivateKind: TypeAlias = Literal["name", "yes", "measure", "memory", ""]
"""Kind of the values under a name.

"name": private, a person's name; "yes": private; "measure": a figure, which stays; "memory": what an agent remembers,
in which each value is private; "": unknown, to be searched.
"""

PRIVATE_SCOPE = "user:"

_MEMORY_SCOPES = "session:memory:"
"""Beginning of the state keys under which an agent's memories are."""

_MEMORY_TOOLS = "memory_"
"""Beginning of the names of the tools by which a model remembers."""

NAME_WORDS = frozenset(("name", "firstname", "lastname", "fullname", "surname", "nickname"))
"""Names of values that are people's names: each word of such a value is private, too."""

PRIVATE_WORDS = NAME_WORDS | frozenset(
    (
        *("phone", "telephone", "tel", "mobile", "fax", "email", "mail", "contact", "whatsapp"),
        *("card", "account", "iban", "bic", "cvv", "cvc", "sortcode", "routing"),
        *("dob", "birth", "birthday", "birthdate", "born", "age", "gender"),
        *("address", "street", "postcode", "postalcode", "zip", "zipcode", "ip"),
        *("ssn", "passport", "licence", "license", "insurance", "patient", "taxid", "nationalid"),
        *("token", "key", "apikey", "secret", "password", "passphrase", "pin", "otp", "credential", "auth", "cookie"),
    )
)
"""Words of a value's name, singular or plural, that make the value private."""

_PEOPLE = frozenset(("caller", "customer", "client", "guest", "patient", "person", "user"))
"""Names of values that are a person's name when they are the whole name."""

_ENDINGS = ("name", "phone", "email", "mail", "address", "birth", "password", "token", "card", "account", "number")
_NOT_PRIVATE = frozenset(("filename", "hostname", "toolname", "typename", "classname", "keyname", "phasename"))

_MEASURES = frozenset(("count", "ms", "s", "seconds", "size", "length", "limit", "index", "total", "version"))
"""Last words of the names of figures: these are not private as such, only searched."""

_NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_STATE_KEY = re.compile(r"(?:app|user|session|turn|bg|temp|derived):")


@lru_cache(maxsize=4096)
def kind_of(name: str) -> PrivateKind:
    """Return the kind of the values under `name`."""
    if name.startswith(_MEMORY_SCOPES):
        return "memory"
    rest = name.split(":", 1)[-1] if is_state_key(name) else name
    parts = [part.lower() for part in _NAME_PART.findall(rest)]
    if parts and parts[-1] in _MEASURES:
        return "yes" if name.startswith(PRIVATE_SCOPE) else "measure"
    words = set(parts)
    words |= {word.rstrip("s") for word in words}
    whole = "".join(char for char in rest.lower() if char.isalnum())
    if whole in _NOT_PRIVATE:
        return "yes" if name.startswith(PRIVATE_SCOPE) else ""
    if words & NAME_WORDS or whole.endswith("name") or whole in _PEOPLE:
        return "name"
    if name.startswith(PRIVATE_SCOPE) or words & PRIVATE_WORDS or whole in PRIVATE_WORDS:
        return "yes"
    return "yes" if any(whole.endswith(ending) and whole != ending for ending in _ENDINGS) else ""


def is_state_key(name: str) -> bool:
    """Return True when `name` begins with a scope of the state."""
    return _STATE_KEY.match(name) is not None


def is_memory_tool(name: str) -> bool:
    """Return True for the name of a tool by which a model remembers."""
    return name.startswith(_MEMORY_TOOLS)


def kind_in_memory(key: str) -> PrivateKind:
    """Return the kind of the value that is remembered under `key`."""
    return "name" if kind_of(key) == "name" else "yes"


def kind_of_record(record: Mapping[str, Any]) -> PrivateKind:
    """Return the kind of the key or field that a record is about."""
    for which in ("key", "field"):
        name = record.get(which)
        if isinstance(name, str) and (kind := kind_of(name)):
            return kind
    return ""


def kind_of_reads(record: Mapping[str, Any]) -> PrivateKind:
    """Return the kind of the first private key that an explanation has read."""
    reads = record.get("reads")
    if isinstance(reads, Sequence) and not isinstance(reads, str):
        for read in reads:
            if isinstance(read, Mapping) and (kind := kind_of_record(read)) not in ("measure", ""):
                return kind
    return ""
