"""Describe a tool's arguments to the model, and read those of a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.plain_types import MisfitError, PlainType, plain_type
from gemini_live_runtime.state.values import IMMUTABLE
from gemini_live_runtime.tools.argument import REQUIRED, Argument

if TYPE_CHECKING:
    from gemini_live_runtime.tools.argument_model import ArgumentModel


class Arguments:
    """Arguments of a tool by name, with their JSON schema.

    Pydantic is imported for a type that is not plain, and for a call whose values have to be converted or refused.
    Raises `AgentError` for a type without a schema.
    """

    def __init__(self, tool: str, arguments: Mapping[str, Argument]) -> None:
        self._tool = tool
        self._arguments = arguments
        self._plain = {name: _plain(argument) for name, argument in arguments.items()}
        self._made_model: ArgumentModel | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments, as an object."""
        properties: dict[str, Any] = {}
        for name, argument in self._arguments.items():
            if (plain := self._plain[name]) is None:
                return self._model.schema
            properties[name] = dict(plain.schema)
            if argument.description:
                properties[name]["description"] = argument.description
            if argument.default is not REQUIRED:
                properties[name]["default"] = argument.default
        required = [name for name, argument in self._arguments.items() if argument.default is REQUIRED]
        return {"type": "object", "properties": properties, "required": required}

    def read(self, args: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Return the arguments of a call by name, and a sentence for each fault."""
        try:
            return {name: self._read_plain(name, args) for name in self._arguments}, []
        except MisfitError:
            return self._model.read(args)

    def _read_plain(self, name: str, args: Mapping[str, Any]) -> Any:
        plain, default = self._plain[name], self._arguments[name].default
        if plain is None or (name not in args and default is REQUIRED):
            raise MisfitError
        return plain.read(args[name]) if name in args else default

    @property
    def _model(self) -> ArgumentModel:
        if self._made_model is None:
            # Imported here, for pydantic takes much memory and most tools have plain arguments.
            from gemini_live_runtime.tools.argument_model import ArgumentModel

            self._made_model = ArgumentModel(self._tool, self._arguments)
        return self._made_model


def _plain(argument: Argument) -> PlainType | None:
    """Return the plain type of an argument whose default is plain, too, or None."""
    default = argument.default
    return plain_type(argument.annotation) if default is REQUIRED or type(default) in IMMUTABLE else None
