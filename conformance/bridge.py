"""Converts between generated models and the messages of Google's Python SDK.

Field by field, so that what the SDK's own JSON code gets wrong stays out of it.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from google.protobuf import symbol_database
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

_WRAPPERS = frozenset(
    f"google.protobuf.{kind}Value"
    for kind in (
        "Bool",
        "Bytes",
        "Double",
        "Float",
        "Int32",
        "Int64",
        "String",
        "UInt32",
        "UInt64",
    )
)


class Bridge:
    """Converts the messages of one generated package."""

    def __init__(self, pb: ModuleType, wire: ModuleType) -> None:
        """Use the modules `support.pb` and `support.wire` of the package."""
        self._pb = pb
        self._wire = wire
        self._symbols = symbol_database.Default()

    # From the SDK to the model.

    def to_model(self, message: Message) -> Any:
        """Convert an SDK message to a model, or to what stands for it in a model."""
        name = message.DESCRIPTOR.full_name
        if name.startswith("google.protobuf."):
            return self._well_known_to_model(name, message)
        cls = self._pb.message_class(name)
        return cls(**self.fields_of(cls, message))

    def fields_of(self, cls: Any, message: Message) -> dict[str, Any]:
        """Convert the fields of an SDK message to those of a model."""
        fields: dict[str, Any] = {}
        for attribute, descriptor in self._fields(cls, message):
            if descriptor.is_extension:
                if descriptor.is_repeated or message.HasExtension(descriptor):
                    value = message.Extensions[descriptor]
                    fields[attribute] = self._field_to_model(descriptor, value)
            elif not descriptor.has_presence or message.HasField(descriptor.name):
                value = getattr(message, descriptor.name)
                fields[attribute] = self._field_to_model(descriptor, value)
        return fields

    def _field_to_model(self, descriptor: FieldDescriptor, value: Any) -> Any:
        if _is_map(descriptor):
            item = descriptor.message_type.fields_by_name["value"]
            return {key: self._value_to_model(item, value[key]) for key in value}
        if descriptor.is_repeated:
            return [self._value_to_model(descriptor, item) for item in value]
        return self._value_to_model(descriptor, value)

    def _value_to_model(self, descriptor: FieldDescriptor, value: Any) -> Any:
        return self.to_model(value) if descriptor.message_type else value

    def _well_known_to_model(self, name: str, message: Any) -> Any:
        pb = self._pb
        if name in _WRAPPERS:
            return message.value
        match name.removeprefix("google.protobuf."):
            case "Timestamp":
                return pb.Timestamp(seconds=message.seconds, nanos=message.nanos)
            case "Duration":
                return pb.Duration(seconds=message.seconds, nanos=message.nanos)
            case "FieldMask":
                return pb.FieldMask(paths=list(message.paths))
            case "Empty":
                return pb.Empty()
            case "Struct" | "ListValue":
                return _json_of(message)
            case "Value":
                return pb.Value(value=_json_of(message))
            case "Any":
                return self._any_to_model(message)
        raise TypeError(f"no model for {name}")

    def _any_to_model(self, message: Any) -> Any:
        if not message.type_url:
            return self._pb.Any()
        name = message.type_url.rpartition("/")[2]
        payload = self._symbols.GetSymbol(name)()
        payload.ParseFromString(message.value)
        packed = self._wire.payload_of(name).pack(self.to_model(payload))
        return self._pb.Any(type_url=message.type_url, value=packed)

    # From the model to the SDK.

    def to_message(self, model: Any, message: Any) -> None:
        """Set the fields of an SDK message from a model."""
        name = message.DESCRIPTOR.full_name
        if name.startswith("google.protobuf."):
            self._well_known_to_message(name, model, message)
            return
        message.SetInParent()
        for attribute, descriptor in self._fields(type(model), message):
            value = getattr(model, attribute)
            if value is None or (
                not descriptor.has_presence and not descriptor.is_repeated and not value
            ):
                if not isinstance(value, float):
                    continue
            self._field_to_message(descriptor, value, message)

    def _field_to_message(
        self, descriptor: FieldDescriptor, value: Any, message: Any
    ) -> None:
        extension = descriptor.is_extension
        target = (
            message.Extensions[descriptor]
            if extension
            else getattr(message, descriptor.name)
        )
        if _is_map(descriptor):
            of_messages = descriptor.message_type.fields_by_name["value"].message_type
            for key, item in value.items():
                if of_messages:
                    self.to_message(item, target[key])
                else:
                    target[key] = item
        elif descriptor.is_repeated:
            for item in value:
                if descriptor.message_type:
                    self.to_message(item, target.add())
                else:
                    target.append(item)
        elif descriptor.message_type:
            self.to_message(value, target)
        elif extension:
            message.Extensions[descriptor] = value
        else:
            setattr(message, descriptor.name, value)

    def _well_known_to_message(self, name: str, model: Any, message: Any) -> None:
        message.SetInParent()
        if name in _WRAPPERS:
            message.value = model
            return
        match name.removeprefix("google.protobuf."):
            case "Timestamp" | "Duration":
                message.seconds, message.nanos = model.seconds, model.nanos
            case "FieldMask":
                message.paths.extend(model.paths)
            case "Empty":
                pass
            case "Struct" | "ListValue":
                _set_json(message, model)
            case "Value":
                _set_json(message, model.value)
            case "Any":
                if model.type_url:
                    name = model.type_url.rpartition("/")[2]
                    packed = self._symbols.GetSymbol(name)()
                    inner = self._wire.payload_of(name).unpack(model.value)
                    self.to_message(inner, packed)
                    message.type_url = model.type_url
                    message.value = packed.SerializeToString()

    def _fields(self, cls: Any, message: Message) -> Any:
        """Yield the attribute and the descriptor of every field."""
        pool = message.DESCRIPTOR.file.pool
        for attribute, info in cls.model_fields.items():
            names = [m.proto for m in info.metadata if isinstance(m, self._pb.Name)]
            name = names[0] if names else attribute
            if name.startswith("["):
                yield attribute, pool.FindExtensionByName(name.strip("[]"))
            else:
                yield attribute, message.DESCRIPTOR.fields_by_name[name]


def _is_map(descriptor: FieldDescriptor) -> bool:
    message = descriptor.message_type
    return message is not None and message.GetOptions().map_entry


def _json_of(message: Any) -> Any:
    match message.DESCRIPTOR.name:
        case "Struct":
            return {key: _json_of(value) for key, value in message.fields.items()}
        case "ListValue":
            return [_json_of(value) for value in message.values]
    match message.WhichOneof("kind"):
        case "struct_value":
            return _json_of(message.struct_value)
        case "list_value":
            return _json_of(message.list_value)
        case "number_value":
            return message.number_value
        case "string_value":
            return message.string_value
        case "bool_value":
            return message.bool_value
        case "null_value":
            return None
    raise ValueError("a Value without a kind has no ProtoJSON form")


def _set_json(message: Any, value: Any) -> None:
    match message.DESCRIPTOR.name:
        case "Struct":
            for key, item in value.items():
                _set_json(message.fields[key], item)
            return
        case "ListValue":
            for item in value:
                _set_json(message.values.add(), item)
            return
    match value:
        case None:
            message.null_value = 0
        case bool():
            message.bool_value = value
        case int() | float():
            message.number_value = value
        case str():
            message.string_value = value
        case dict():
            message.struct_value.SetInParent()
            _set_json(message.struct_value, value)
        case _:
            message.list_value.SetInParent()
            _set_json(message.list_value, value)
