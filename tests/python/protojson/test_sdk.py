"""The models against Google's SDK: the same JSON for the same message, both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kinds_generated.state.generated import MODELS
from kinds_generated.support import pb, protojson

MESSAGES = sorted(
    name
    for name in (model.__proto__ for model in MODELS)
    # ChatMessage is LangChain's in the models, so its JSON goes another way.
    if name not in ("kinds.v1.KindsState", "kinds.v1.InvokeRequest")
    and name != "kinds.v1.InvokeResponse"
)


SCALARS: dict[int, st.SearchStrategy[Any]] = {
    FieldDescriptor.CPPTYPE_BOOL: st.booleans(),
    FieldDescriptor.CPPTYPE_INT32: st.integers(-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: st.integers(0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: st.integers(-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: st.integers(0, 2**64 - 1),
    FieldDescriptor.CPPTYPE_DOUBLE: st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["Infinity", "-Infinity"]),
    FieldDescriptor.CPPTYPE_FLOAT: st.floats(
        allow_nan=False, allow_infinity=False, width=32
    )
    | st.sampled_from(["Infinity", "-Infinity"]),
}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1000, 1000).map(float)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=4,
)


def values(field: FieldDescriptor, depth: int) -> st.SearchStrategy[Any]:
    """Return the values of one element of a field, as `ParseDict` takes them."""
    if field.message_type is not None:
        return documents(field.message_type, depth + 1)
    if field.enum_type is not None:
        return st.sampled_from([value.name for value in field.enum_type.values])
    if field.type == FieldDescriptor.TYPE_STRING:
        return st.text(max_size=8)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return st.binary(max_size=8).map(_base64)
    return SCALARS[field.cpp_type]


def _base64(value: bytes) -> str:
    import base64

    return base64.b64encode(value).decode()


WELL_KNOWN: dict[str, st.SearchStrategy[Any]] = {
    "Timestamp": st.builds(
        lambda s, n: str(pb.Timestamp(seconds=s, nanos=n)),
        st.integers(-62135596800, 253402300799),
        st.integers(0, 999_999_999),
    ),
    "Duration": st.builds(
        lambda s, n, sign: str(pb.Duration(seconds=sign * s, nanos=sign * n)),
        st.integers(0, 315_576_000_000 - 1),
        st.integers(0, 999_999_999),
        st.sampled_from([1, -1]),
    ),
    "FieldMask": st.lists(st.sampled_from(["a", "fooBar", "a.bC"]), max_size=3).map(
        ",".join
    ),
    "Empty": st.just({}),
    "Struct": st.dictionaries(st.text(max_size=5), JSON, max_size=3),
    "Value": JSON,
    "ListValue": st.lists(JSON, max_size=3),
    "Any": st.just({"@type": "type.googleapis.com/kinds.v1.Part"}),
}


def documents(descriptor: Descriptor, depth: int = 0) -> st.SearchStrategy[Any]:
    """Return the ProtoJSON documents of a message."""
    name = descriptor.full_name
    if name.startswith("google.protobuf."):
        short = name.removeprefix("google.protobuf.")
        if short in WELL_KNOWN:
            return WELL_KNOWN[short]
        return values(descriptor.fields_by_name["value"], depth)
    if depth > 3:
        return st.just({})
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    members: dict[str, list[str]] = {}
    for field in descriptor.fields:
        into = required if field.is_required else optional
        into[field.json_name] = field_values(field, depth)
        if field.containing_oneof is not None:
            members.setdefault(field.containing_oneof.name, []).append(field.json_name)

    def one_of_each(document: dict[str, Any]) -> dict[str, Any]:
        dropped = set()
        for names in members.values():
            dropped.update([n for n in names if n in document][1:])
        return {k: v for k, v in document.items() if k not in dropped}

    return st.fixed_dictionaries(required, optional=optional).map(one_of_each)


def field_values(field: FieldDescriptor, depth: int) -> st.SearchStrategy[Any]:
    """Return the JSON of a whole field."""
    message = field.message_type
    if message is not None and message.GetOptions().map_entry:
        keys = values(message.fields_by_name["key"], depth).map(
            lambda key: str(key).lower() if isinstance(key, bool) else str(key)
        )
        return st.dictionaries(
            keys, values(message.fields_by_name["value"], depth), max_size=2
        )
    if field.is_repeated:
        return st.lists(values(field, depth), max_size=2)
    return values(field, depth)


@pytest.mark.parametrize("name", MESSAGES)
@settings(
    max_examples=60,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_models_and_sdk_agree(
    name: str, sdk: Callable[[str], type[Message]], data: st.DataObject
) -> None:
    """What one reads, the other reads, and both print the same."""
    message_class, model_class = sdk(name), pb.message_class(name)
    assert model_class is not None
    document = data.draw(documents(message_class.DESCRIPTOR))
    message = json_format.ParseDict(document, message_class())
    expected = json_format.MessageToDict(message)

    model = protojson.from_json(model_class, document)
    assert protojson.to_json(model) == expected
    assert protojson.from_json(model_class, expected) == model
    again = json_format.ParseDict(protojson.to_json(model), message_class())
    assert again.SerializeToString(deterministic=True) == message.SerializeToString(
        deterministic=True
    )


def test_every_model_is_compared() -> None:
    """None is left out by mistake."""
    assert len(MESSAGES) == len(MODELS) - 3
