"""The checks that LangGraph leaves open: what goes into a state, and what comes out."""

from __future__ import annotations

import functools
import operator
import types
import typing
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar

from langchain_core.messages import BaseMessage, RemoveMessage, convert_to_messages
from langgraph.channels import UntrackedValue
from langgraph.graph.message import add_messages
from langgraph.types import Command, Overwrite, Send
from pydantic import BaseModel, TypeAdapter, ValidationError

from . import pb, protojson
from .errors import InputError, UpdateError

InputT = TypeVar("InputT", bound=pb.Message)
OutputT = TypeVar("OutputT", bound=pb.Message)


class StateContract(Generic[InputT, OutputT]):
    """The state of an agent: its schemas and the checks of what nodes write.

    Attributes:
        agent_id: The agent.
        schema: The state model.
        update_schema: The fields that a node may return, with their rules.
        input_schema: The fields that callers may set.
        output_schema: The fields that callers see.
    """

    def __init__(
        self,
        *,
        agent_id: str,
        schema: type[pb.Message],
        update_schema: type,
        input_schema: type[InputT],
        output_schema: type[OutputT],
        types: Iterable[type] = (),
    ) -> None:
        """Bind the schemas of one agent.

        Args:
            agent_id: The agent.
            schema: The state model.
            update_schema: The fields that a node may return, with their rules.
            input_schema: The fields that callers may set.
            output_schema: The fields that callers see.
            types: The generated models and enums, which checkpoints may hold.
        """
        self.agent_id = agent_id
        self.schema = schema
        self.update_schema = update_schema
        self.input_schema = input_schema
        self.output_schema = output_schema
        self._types = (schema, input_schema, output_schema, *types)

    @cached_property
    def output_keys(self) -> list[str]:
        """The names of the public output fields."""
        return list(self.output_schema.model_fields)

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return typing.get_type_hints(self.schema, include_extras=True)

    @cached_property
    def _adapters(self) -> dict[str, TypeAdapter[Any]]:
        hints = typing.get_type_hints(self.update_schema, include_extras=True)
        return {name: TypeAdapter(_written(hint)) for name, hint in hints.items()}

    @cached_property
    def _conversations(self) -> set[str]:
        return {
            name
            for name, hint in self._hints.items()
            if add_messages in getattr(hint, "__metadata__", ())
        }

    @cached_property
    def untracked(self) -> set[str]:
        """The names of the fields that are never checkpointed."""
        return {
            name
            for name, hint in self._hints.items()
            if any(
                isinstance(m, UntrackedValue)
                or (isinstance(m, type) and issubclass(m, UntrackedValue))
                for m in getattr(hint, "__metadata__", ())
            )
        }

    @cached_property
    def _rivals(self) -> dict[str, tuple[str, ...]]:
        """The other members of a field's oneof, by field."""
        return {
            name: tuple(m for m in group.members if m != name)
            for group in pb.one_ofs(self.schema)
            for name in group.members
        }

    def parse_input(self, value: InputT | Mapping[str, Any]) -> dict[str, Any]:
        """Check the input of a run and return the update that it makes.

        Args:
            value: An input model, of which the fields that were set count, or a
                mapping of field names to values.

        Raises:
            InputError: If the value is no public input.
        """
        if isinstance(value, self.input_schema):
            model = value
        elif isinstance(value, Mapping):
            model = self._parse_fields(value)
        else:
            raise InputError(
                self.agent_id,
                [
                    f"want a {self.input_schema.__name__} or a mapping, "
                    f"got a {type(value).__name__}"
                ],
            )
        return {name: getattr(model, name) for name in model.model_fields_set}

    def _parse_fields(self, value: Mapping[str, Any]) -> InputT:
        fields = {str(name): item for name, item in value.items()}
        problems = []
        for name in self._conversations & fields.keys():
            try:
                fields[name] = _messages(fields[name])
            except ValueError as error:
                problems.append(f"`{name}`: {error}")
        if problems:
            raise InputError(self.agent_id, sorted(problems))
        try:
            return self.input_schema(**fields)
        except ValidationError as error:
            raise InputError(self.agent_id, protojson.problems_of(error)) from None

    def check(self, node: str, update: Any) -> Any:
        """Check what a node returned, and coerce it once.

        Args:
            node: The name of the node.
            update: What LangGraph accepts from a node: None, a mapping, a `Command`,
                or a list of these.

        Returns:
            The update with every value as the state holds it: models instead of
            mappings, and the other members of a oneof cleared.

        Raises:
            UpdateError: If a key is unknown or a value has the wrong type.
        """
        if update is None:
            return None
        if isinstance(update, Command):
            return self._check_command(node, update)
        if isinstance(update, (list, tuple)):
            return [self.check(node, item) for item in update]
        if isinstance(update, BaseModel):
            raise UpdateError(
                self.agent_id,
                node,
                None,
                f"returned a {type(update).__name__}, which would write every field; "
                "return a dict of the fields that change",
            )
        if not isinstance(update, Mapping):
            raise UpdateError(
                self.agent_id,
                node,
                None,
                f"returned a {type(update).__name__}; return a dict of the fields "
                "that change, or None",
            )
        out = {name: self._check_value(node, name, v) for name, v in update.items()}
        self._clear_rivals(node, out)
        return out

    def _check_command(self, node: str, command: Command[Any]) -> Command[Any]:
        if command.graph is not None:
            return command
        update = command.update
        if isinstance(update, (list, tuple)) and all(
            isinstance(item, tuple) and len(item) == 2 for item in update
        ):
            update = dict(update)
        goto = command.goto
        return Command(
            update=self.check(node, update),
            resume=command.resume,
            goto=self.without_untracked(goto if isinstance(goto, list) else [goto])
            if not isinstance(goto, (str, tuple))
            else goto,
        )

    def without_untracked(self, destinations: Iterable[Any]) -> list[Any]:
        """Keep untracked fields out of `Send` packets, which are checkpointed.

        A state model in a packet becomes the dict of its fields: LangGraph cleans
        dicts only.
        """
        return [
            Send(d.node, _fields_set(d.arg), timeout=d.timeout)
            if isinstance(d, Send) and isinstance(d.arg, self.schema)
            else d
            for d in destinations
        ]

    def _check_value(self, node: str, name: str, value: Any) -> Any:
        adapter = self._adapters.get(name)
        if adapter is None:
            known = ", ".join(self._adapters)
            raise UpdateError(
                self.agent_id,
                node,
                name,
                f"the state has no such field; it has {known}",
            )
        if isinstance(value, Overwrite):
            return Overwrite(self._check_value(node, name, value.value))
        if name in self._conversations:
            try:
                return _messages(value)
            except ValueError as error:
                raise UpdateError(self.agent_id, node, name, str(error)) from None
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            problems = "; ".join(protojson.problems_of(error))
            raise UpdateError(self.agent_id, node, name, problems) from None

    def _clear_rivals(self, node: str, update: dict[str, Any]) -> None:
        for name in [n for n in update if n in self._rivals]:
            if update[name] is None:
                continue
            for rival in self._rivals[name]:
                if update.get(rival) is not None:
                    raise UpdateError(
                        self.agent_id,
                        node,
                        name,
                        f"set together with `{rival}` of the same oneof",
                    )
                update[rival] = None

    @cached_property
    def checkpoint_types(self) -> set[tuple[str, str]]:
        """Module and name of each type that a checkpoint of the state may hold."""
        types = [*self._types, *pb.WELL_KNOWN_TYPES]
        return {(t.__module__, t.__name__) for t in types}


def _written(hint: Any) -> Any:
    """Return the type of a value that is written, without `Overwrite`."""
    if typing.get_origin(hint) not in (typing.Union, types.UnionType):
        return hint
    kinds = [a for a in typing.get_args(hint) if a is not Overwrite]
    return functools.reduce(operator.or_, kinds)


def _messages(value: Any) -> list[BaseMessage]:
    """Coerce one message or several, in any form that LangChain takes."""
    out: list[BaseMessage] = []
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, RemoveMessage):
            out.append(item)
            continue
        try:
            out += convert_to_messages([item])
        except (ValueError, NotImplementedError, TypeError, KeyError):
            raise ValueError(
                f"want messages, got a {type(item).__name__} that is none"
            ) from None
    return out


def _fields_set(model: BaseModel) -> dict[str, Any]:
    return {name: getattr(model, name) for name in model.model_fields_set}


def reducer_of(annotation: Any) -> str:
    """Name the reducer of a state field's annotation, as the contract does."""
    for item in reversed(getattr(annotation, "__metadata__", ())):
        reducer = getattr(item, "reducer", item)
        name = getattr(reducer, "__name__", "")
        if reducer is add_messages:
            return "ADD_MESSAGES"
        if name in ("replace", "append_list", "merge_map"):
            return name.upper()
        if isinstance(item, UntrackedValue) and not item.guard:
            return "REPLACE"
    return ""
