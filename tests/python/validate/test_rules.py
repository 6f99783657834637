"""Where the rules of protovalidate hold; what each rule means is its own suite's."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from shop_generated.harness.generated import sample
from shop_generated.state.generated import (
    STATE,
    LineModel,
    OrderModel,
    PlaceOrderRequestModel,
    PlaceOrderResponseModel,
    Shipping,
    ShopStateInput,
    ShopStateModel,
)
from shop_generated.support import behaviors, cel, pb, protojson, rules
from shop_generated.support.errors import InputError, UpdateError

LINE = {"article": "A-1", "count": 1}
ORDER: dict[str, Any] = {
    "email": "ada@example.com",
    "lines": [LINE],
    "shipping": Shipping.SHIPPING_AIR,
    "street": "Main Street 1",
}


def wrong(fields: dict[str, Any]) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the ids of the rules that an order breaks, and where."""
    with pytest.raises(ValidationError) as error:
        OrderModel(**{**ORDER, **fields})
    return [(e["type"], e["loc"]) for e in error.value.errors()]


def test_an_order_that_keeps_every_rule() -> None:
    """Fields that may be left out are."""
    order = OrderModel(**ORDER)
    assert order.target == "street"
    assert protojson.from_json(OrderModel, protojson.to_json(order)) == order


BROKEN = [
    ({"order_id": "x"}, "string.uuid", ("order_id",)),
    ({"email": "ada"}, "string.email", ("email",)),
    ({"email": ""}, "string.email_empty", ("email",)),
    ({"lines": []}, "too_short", ("lines",)),
    ({"lines": [LINE] * 11}, "too_long", ("lines",)),
    ({"lines": [{**LINE, "article": "B"}]}, "string.prefix", ("lines", 0, "article")),
    ({"lines": [{**LINE, "count": 0}]}, "greater_than_equal", ("lines", 0, "count")),
    (
        {"lines": [{**LINE, "notes": ["a", "a"]}]},
        "repeated.unique",
        ("lines", 0, "notes"),
    ),
    ({"shipping": Shipping.SHIPPING_UNSPECIFIED}, "enum.not_in", ("shipping",)),
    ({"shipping": 7}, "enum.defined_only", ("shipping",)),
    ({"coupon": "abcd"}, "string_pattern_mismatch", ("coupon",)),
    ({"discount": 51.0}, "less_than_equal", ("discount",)),
    (
        {"ordered_at": pb.Timestamp.parse("2999-01-01T00:00:00Z")},
        "timestamp.lt_now",
        ("ordered_at",),
    ),
    ({"patience": pb.Duration.parse("59s")}, "duration.gte_lt", ("patience",)),
    ({"labels": {"A": "a"}}, "string_pattern_mismatch", ("labels", "A", "[key]")),
    ({"labels": {"a": "ääääää"}}, "string.max_bytes", ("labels", "a")),
    ({"street": None, "locker": 7}, "uint32.multiple_of", ("locker",)),
    ({"street": None}, "required", ("target",)),
    ({"nickname": "odd"}, "string.even_length", ("nickname",)),
    ({"mask": pb.FieldMask(paths=["email"])}, "field_mask.in", ("mask",)),
    ({"distance": 0}, "number.gt_lt_exclusive", ("distance",)),
    ({"coupon": "ABCD", "discount": 1.0}, "message.oneof", ()),
    (
        {
            "ordered_at": pb.Timestamp.parse("2024-01-02T00:00:00Z"),
            "delivered_at": pb.Timestamp.parse("2024-01-01T00:00:00Z"),
        },
        "order.dates",
        (),
    ),
]


@pytest.mark.parametrize(("fields", "rule", "loc"), BROKEN)
def test_a_broken_rule(fields: dict[str, Any], rule: str, loc: tuple[Any, ...]) -> None:
    """It is reported by its id, and alone."""
    assert wrong(fields) == [(rule, loc)]


@pytest.mark.parametrize(("fields", "rule", "loc"), BROKEN)
def test_protojson_keeps_the_rules(
    fields: dict[str, Any], rule: str, loc: tuple[Any, ...]
) -> None:
    """What no model would be is no valid document either."""
    # What is read from a checkpoint may break the rules of today.
    document = protojson.to_json(OrderModel.model_construct(**{**ORDER, **fields}))
    with pytest.raises(protojson.JsonError):
        protojson.from_json(OrderModel, document)


def test_all_problems_come_at_once() -> None:
    """Of the fields, of their parts, and the oneof that is missing."""
    found = wrong({"email": "x", "lines": [{"count": 100}], "street": None})
    assert found == [
        ("string.email", ("email",)),
        ("missing", ("lines", 0, "article")),
        ("less_than_equal", ("lines", 0, "count")),
        ("required", ("target",)),
    ]


def test_messages_do_not_repeat_the_value() -> None:
    """LangGraph stores the texts of errors."""
    with pytest.raises(ValidationError) as error:
        OrderModel(**{**ORDER, "email": "secret-value"})
    assert "secret-value" not in str(error.value)


def test_the_empty_state_is_valid() -> None:
    """A state begins empty, whatever its rules say."""
    assert ShopStateModel() == ShopStateModel(wish="")
    assert ShopStateModel(wish="x").wish == "x"


def test_models_have_rules_in_their_json_schemas() -> None:
    """As keywords, where JSON Schema has one."""
    order = OrderModel.model_json_schema()["properties"]
    assert order["email"]["format"] == "email"
    assert order["coupon"]["pattern"] == "^[A-Z]{4}$"
    assert (order["lines"]["minItems"], order["lines"]["maxItems"]) == (1, 10)
    assert order["shipping"]["not"] == {"enum": ["SHIPPING_UNSPECIFIED"]}
    values = order["labels"]["patternProperties"]["^[a-z]+$"]
    assert values["minLength"] == 1
    line = LineModel.model_json_schema()["properties"]
    assert line["article"]["pattern"] == r"^A\-"
    assert (line["count"]["minimum"], line["count"]["maximum"]) == (1, 99)
    assert line["notes"]["uniqueItems"] is True


def test_samples_keep_the_rules() -> None:
    """As many fields are set as there are samples for, through ProtoJSON too."""
    order = sample(OrderModel)
    assert order.coupon == "AAAA" and order.lines[0].article == "A-"
    assert protojson.from_json(OrderModel, protojson.to_json(order)) == order
    assert sample(ShopStateModel).order == order


def test_nodes_keep_the_rules() -> None:
    """Also those in CEL, and those of the items."""
    assert STATE.check("n", {"wish": "tea", "tries": 9, "remarks": ["short"]})
    for update, problem in [
        ({"wish": "x"}, "at least 3 characters"),
        ({"tries": 10}, "must be less than ten"),
        ({"remarks": ["long" * 10]}, "at most 20 characters"),
        ({"remarks": ["a"] * 5}, "at most 4 items"),
        ({"order": {"email": "x"}}, "must be an email address"),
    ]:
        with pytest.raises(UpdateError, match=problem):
            STATE.check("n", update)


def test_callers_keep_the_rules() -> None:
    """The empty text is too short, so that the field has to be given."""
    assert STATE.parse_input({"wish": "tea"}) == {"wish": "tea"}
    with pytest.raises(InputError, match="at least 3"):
        STATE.parse_input({"wish": "x"})
    with pytest.raises(InputError, match="wish"):
        STATE.parse_input({})
    with pytest.raises(ValidationError):
        ShopStateInput()  # type: ignore[call-arg]


def test_ignored_rules() -> None:
    """A message may break its rules where the contract says so, types apart."""
    broken: dict[str, Any] = {
        "email": "x",
        "lines": [{"count": 0}],
        "labels": {"A": ""},
    }
    response = PlaceOrderResponseModel(refused=broken, tried=[{"article": "B"}])
    assert response.refused is not None and response.refused.email == "x"
    assert response.refused.lines[0].count == 0
    assert response.tried[0].article == "B"
    document = protojson.to_json(response)
    assert protojson.from_json(PlaceOrderResponseModel, document) == response
    with pytest.raises(ValidationError, match="want|valid string"):
        PlaceOrderResponseModel(refused={"email": 1})
    for wrong_document in ({"order": document["refused"]}, {"refused": {"email": 1}}):
        with pytest.raises(protojson.JsonError):
            protojson.from_json(PlaceOrderResponseModel, wrong_document)


def test_checkpoints_outlive_rules() -> None:
    """What was stored before a rule is read as it is; a wrong type is not."""
    order = OrderModel.model_construct(lines=[{"article": "B"}], discount=99.0)
    assert (order.email, order.street, order.discount) == ("", None, 99.0)
    assert order.lines[0] == LineModel.model_construct(article="B", count=0)
    with pytest.raises(ValidationError, match="valid string"):
        OrderModel.model_construct(lines=[], email=1)


def test_required_by_behavior() -> None:
    """A request must set what is REQUIRED, wherever it is."""
    order = OrderModel(**ORDER).model_copy(update={"email": ""})
    request = PlaceOrderRequestModel.model_construct(order=order)
    assert list(behaviors.missing(request)) == ["order.email"]
    assert not list(
        behaviors.missing(PlaceOrderRequestModel(order=OrderModel(**ORDER)))
    )


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("this +", "this +"),
        ("this.size() > 1", "this"),
        ("this + 1", "gives neither a bool nor a text"),
    ],
)
def test_an_expression_that_is_wrong(expression: str, problem: str) -> None:
    """It is the contract's mistake, not the value's."""
    with pytest.raises(cel.RuleError) as error:
        list(rules.Cel(expression).check(1))
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("expression", "this"),
    [
        ("this.all(i, i > 0u)", ([1, 2], list[pb.UInt32])),
        ("this['a'] == 1u", ({"a": 1}, dict[pb.String, pb.UInt64])),
        ("has(this.count) && !has(this.notes)", (LineModel(**LINE), None)),
        (
            "this.notes.size() == 0 && this.article.startsWith('A')",
            (LineModel(**LINE), None),
        ),
        ("this > timestamp('2020-01-01T00:00:00Z')", (pb.Timestamp.now(), None)),
        ("this < duration('2s')", (pb.Duration.parse("1.5s"), None)),
        ("this == b'\\x01'", (b"\x01", None)),
        ("this == 2", (Shipping.SHIPPING_AIR, None)),
        ("'%s %d %.1f %x'.format([this, 1, 2.0, 255]) == 'a 1 2.0 ff'", ("a", None)),
        ("this.isNan() || this.isInf()", (float("inf"), None)),
    ],
)
def test_values_in_expressions(expression: str, this: tuple[Any, Any]) -> None:
    """Values have the types that CEL has for those of protobuf."""
    value, kind = this
    assert list(rules.Cel(expression, this_type=kind).check(value)) == []
