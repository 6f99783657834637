"""What ProtoJSON of the models looks like, and what is said of JSON that is none."""

from __future__ import annotations

import pytest
from kinds_generated.state.generated import (
    DefaultsModel,
    ForestModel,
    PartModel,
    ScalarsModel,
    TreeModel,
)
from kinds_generated.support import pb, protojson


def test_all_problems_come_at_once_with_their_paths() -> None:
    """And without the values."""
    with pytest.raises(protojson.JsonError) as error:
        protojson.loads(
            ForestModel,
            '{"trees": [{"children": [{"valu": 1}]}, 3], "canary": "canary-7"}',
        )
    assert error.value.problems == (
        "`trees[0].children[0].valu`: unknown field",
        "`trees[1]`: want an object",
        "`canary`: unknown field",
    )
    assert "canary-7" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not JSON"),
        ('{"anInt32": NaN}', "not JSON"),
        ('{"anInt32": 1, "anInt32": 2}', "an object has the same key twice"),
        ('{"anInt32": 1, "an_int32": 2}', "`an_int32`: unknown field"),
        ('{"aString": "\\ud800"}', "`aString`: want valid Unicode"),
        ("null", "want an object"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_text_that_is_refused(text: str, problem: str) -> None:
    """What JSON or ProtoJSON does not allow."""
    with pytest.raises(protojson.JsonError) as error:
        protojson.loads(DefaultsModel, text)
    assert str(error.value) == problem


def test_presence_is_exact() -> None:
    """A field with a default of its own is unset until it is set, to the default too."""
    assert protojson.to_json(DefaultsModel()) == {}
    assert DefaultsModel().an_int32 is None
    model = protojson.loads(DefaultsModel, '{"anInt32": 0, "aString": ""}')
    assert protojson.to_json(model) == {"anInt32": 0, "aString": ""}
    assert protojson.to_json(ScalarsModel()) == {}


def test_unknown_fields_can_be_ignored() -> None:
    """A newer peer may send what this contract does not know."""
    text = '{"later": {"a": 1}, "anInt32": 1, "grade": "GRADE_LATER"}'
    model = protojson.loads(DefaultsModel, text, ignore_unknown=True)
    assert protojson.to_json(model) == {"anInt32": 1}


def test_any_holds_a_message_of_the_contract() -> None:
    """Packed, printed, read and unpacked; its message is checked too."""
    part = PartModel()
    packed = pb.Any.pack(part)
    printed = {"@type": "type.googleapis.com/kinds.v1.Part"}
    assert protojson.to_json(packed) == printed
    assert protojson.from_json(pb.Any, printed).unpack(PartModel) == part
    with pytest.raises(ValueError, match="not a kinds.v1.Tree"):
        packed.unpack(TreeModel)
    with pytest.raises(protojson.JsonError, match="not among the models"):
        protojson.loads(pb.Any, '{"@type": "type.googleapis.com/acme.Unknown"}')
    with pytest.raises(protojson.JsonError, match="nope"):
        protojson.from_json(pb.Any, {**printed, "nope": 1})


def test_any_holds_well_known_types() -> None:
    """Those with a JSON form of their own stand under the key `value`."""
    text = '{"@type": "type.googleapis.com/google.protobuf.Duration", "value": "1.50s"}'
    packed = protojson.loads(pb.Any, text)
    assert packed.value == {"value": "1.500s"}
    assert packed.unpack(pb.Duration) == pb.Duration(seconds=1, nanos=500_000_000)
    assert pb.Any.pack(pb.Duration(seconds=1)).value == {"value": "1s"}


def test_recursion_has_a_limit() -> None:
    """A document that nests too deeply is refused; no stack overflows."""
    for depth, refused in ((200, False), (300, True), (600, True)):
        text = '{"children":[' * depth + "]}" * depth
        if refused:
            with pytest.raises(protojson.JsonError, match="^nested too deeply$"):
                protojson.loads(TreeModel, text)
        else:
            tree = protojson.loads(TreeModel, text)
            assert protojson.loads(TreeModel, protojson.dumps(tree)) == tree
