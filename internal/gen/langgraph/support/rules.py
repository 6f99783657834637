"""The validation rules that Pydantic has no constraints of its own for.

They stand in the annotations of generated models, beside Pydantic's `Field`:

    email: Annotated[pb.String, Field(max_length=254), rules.EMAIL]

Every rule is a constraint of Pydantic and holds when a model is made, when ProtoJSON
is read, and for what nodes write to the state. The errors of a rule have its id in
protovalidate as their type, such as `string.email`.
"""

from __future__ import annotations

import base64
import math
import operator
import re
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import (
    CoreSchema,
    InitErrorDetails,
    PydanticCustomError,
    SchemaValidator,
    core_schema,
)

from . import formats, pb

Location = tuple[typing.Union[int, str], ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """A rule that a value breaks.

    Attributes:
        rule: The id of the rule.
        message: What is wrong, in words that say nothing of the value.
        location: Where in the value.
    """

    rule: str
    message: str
    location: Location = ()

    def details(self) -> InitErrorDetails:
        """Return the problem as Pydantic's."""
        error = PydanticCustomError(
            self.rule, "{message}", {"message": self.message, _RULE: self.rule}
        )
        return InitErrorDetails(type=error, loc=self.location, input=None)


def refuse(problems: list[Problem]) -> None:
    """Raise Pydantic's error if there are problems."""
    if problems:
        raise ValidationError.from_exception_data(
            "rules", [problem.details() for problem in problems]
        )


_PYDANTIC = frozenset(
    {
        "bytes_too_long",
        "bytes_too_short",
        "finite_number",
        "greater_than",
        "greater_than_equal",
        "less_than",
        "less_than_equal",
        "missing",
        "string_pattern_mismatch",
        "string_too_long",
        "string_too_short",
        "too_long",
        "too_short",
    }
)


def are_broken(error: ValidationError) -> bool:
    """Tell whether nothing is wrong but rules: the values have the right types."""
    return all(
        item["type"] in _PYDANTIC or _RULE in item.get("ctx", {})
        for item in error.errors(include_url=False, include_input=False)
    )


_RULE = "rule"


class Rule:
    """Base of the rules for single values, which Pydantic calls."""

    def check(self, value: Any) -> Iterator[Problem]:
        """Say what is wrong with a value of the right type."""
        raise NotImplementedError

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Check the value after all that stands before the rule.

        Rules that follow each other are one validator, which reports all problems.
        """
        inner = handler(source)
        rules: tuple[Rule, ...] = (self,)
        before = inner.get("metadata", {}).get(_RULES)
        if before is not None and inner["type"] == "function-after":
            rules, inner = (*before, self), inner["schema"]

        def checked(value: Any) -> Any:
            if value is not None:
                refuse([problem for rule in rules for problem in rule.check(value)])
            return value

        return core_schema.no_info_after_validator_function(
            checked, inner, metadata={_RULES: rules}
        )

    def keywords(self) -> dict[str, Any]:
        """Say the rule in JSON Schema, as far as that has words for it."""
        return {}

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Add the keywords to the schema of the value."""
        shown = handler(schema)
        keywords = self.keywords()
        if "$ref" in shown or "anyOf" in shown or keywords.keys() & shown.keys():
            return {"allOf": [shown, keywords]} if keywords else shown
        return shown | keywords


_RULES = "rules"


def _kind(value: Any) -> str:
    """Name the set of rules that is for a value; numbers are `number`."""
    for types, kind in _KINDS:
        if isinstance(value, types):
            return kind
    return "number"


_KINDS: list[tuple[Any, str]] = [
    (pb.Enum, "enum"),
    (bool, "bool"),
    (str, "string"),
    (bytes, "bytes"),
    (pb.Duration, "duration"),
    (pb.Timestamp, "timestamp"),
    (pb.FieldMask, "field_mask"),
    (list, "repeated"),
    (dict, "map"),
]


class _Outer:
    """Base of what looks at a value before the rules that stand before it."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Look whether the value is the zero value of its type."""
        base = typing.get_origin(source) or source

        def validate(
            value: Any, inner: core_schema.ValidatorFunctionWrapHandler
        ) -> Any:
            kinds = (str, bytes, int, float, list, dict)
            if type(value) in kinds or isinstance(value, (bool, pb.Enum)):
                if (base is Any or isinstance(value, base)) and is_zero(value):
                    return self.take_zero(value)
            return inner(value)

        return core_schema.no_info_wrap_validator_function(validate, handler(source))

    def take_zero(self, value: Any) -> Any:
        """Take the zero value."""
        raise NotImplementedError


class Required(_Outer):
    """Not the zero value of the type, and not empty."""

    def take_zero(self, value: Any) -> Any:
        """Refuse it, and say nothing of the other rules."""
        refuse([Problem("required", "a value is required")])


class IgnoreZero(_Outer):
    """Lets the zero value pass all that stands before it in the annotation."""

    def take_zero(self, value: Any) -> Any:
        """Return it."""
        return value


class Ignored:
    """Takes back the rules of the messages in a value: they may break them here."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Take a message that is wrong by its rules alone."""

        def validate(
            value: Any, inner: core_schema.ValidatorFunctionWrapHandler
        ) -> Any:
            try:
                return inner(value)
            except ValidationError as error:
                if not are_broken(error):
                    raise
            from . import stored

            return stored.read(source, value)

        return core_schema.no_info_wrap_validator_function(validate, handler(source))


def is_zero(value: Any) -> bool:
    """Tell whether a value is what protobuf has for an unset field."""
    if isinstance(value, float):
        return not value and math.copysign(1, value) > 0
    if isinstance(value, pb.ClosedEnum):
        return value is next(iter(type(value)))
    return not isinstance(value, pb.Message) and not value


def zero(annotation: Any) -> Any:
    """Return what a field reads as that has no default and was not given."""
    while typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    kind = typing.get_origin(annotation) or annotation
    if issubclass(kind, pb.ClosedEnum):
        return next(iter(kind))
    if issubclass(kind, pb.Enum):
        return kind(0)
    return None if issubclass(kind, pb.Message) else kind()


@dataclass(frozen=True)
class Const(Rule):
    """Exactly this value."""

    value: Any

    def check(self, value: Any) -> Iterator[Problem]:
        """Compare the value."""
        if value != self.value:
            yield Problem(f"{_kind(value)}.const", f"must be {show(self.value)}")

    def keywords(self) -> dict[str, Any]:
        """Say the value."""
        return {"enum": [_json(self.value)]}


class In(Rule):
    """One of some values."""

    def __init__(self, *values: Any) -> None:
        """Allow these values."""
        self.values = values

    def check(self, value: Any) -> Iterator[Problem]:
        """Seek the value."""
        if value not in self.values:
            shown = ", ".join(map(show, self.values))
            yield Problem(f"{_kind(value)}.in", f"must be one of {shown}")

    def keywords(self) -> dict[str, Any]:
        """List the values."""
        return {"enum": [_json(value) for value in self.values]}


class NotIn(Rule):
    """None of some values."""

    def __init__(self, *values: Any) -> None:
        """Refuse these values."""
        self.values = values

    def check(self, value: Any) -> Iterator[Problem]:
        """Seek the value."""
        if value in self.values:
            shown = ", ".join(map(show, self.values))
            yield Problem(f"{_kind(value)}.not_in", f"must not be any of {shown}")

    def keywords(self) -> dict[str, Any]:
        """List the values."""
        return {"not": {"enum": [_json(value) for value in self.values]}}


def _json(value: Any) -> Any:
    """Return a value of a rule in ProtoJSON."""
    if isinstance(value, pb.Enum):
        return pb.proto_name(value) or int(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53:
        return str(value)
    return value if isinstance(value, (str, bool, int, float)) else show(value)


def show(value: Any) -> str:
    """Print a value of a rule."""
    if isinstance(value, pb.Enum):
        return pb.proto_name(value) or str(int(value))
    if isinstance(value, (pb.Duration, pb.Timestamp)):
        return str(value)
    if isinstance(value, pb.FieldMask):
        return ",".join(value.paths) or "empty"
    return repr(value)


_BOUNDS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "gt": ("greater than", operator.gt),
    "gte": ("at least", operator.ge),
    "lt": ("less than", operator.lt),
    "lte": ("at most", operator.le),
}


def _range(kind: str, value: Any, bounds: Mapping[str, Any]) -> Iterator[Problem]:
    """Check a range, or what lies outside of it where its ends are swapped."""
    low = next((name for name in ("gt", "gte") if name in bounds), "")
    high = next((name for name in ("lt", "lte") if name in bounds), "")
    tests = [_BOUNDS[name][1](value, bounds[name]) for name in (low, high) if name]
    if not tests:
        return
    says = [f"{_BOUNDS[n][0]} {show(bounds[n])}" for n in (low, high) if n]
    rule, joined = f"{kind}.{low or high}", " and "
    passed = all(tests)
    if low and high:
        rule += f"_{high}"
        if bounds[high] < bounds[low]:
            rule, joined, passed = rule + "_exclusive", " or ", any(tests)
    if not passed:
        yield Problem(rule, f"must be {joined.join(says)}")


class Outside(Rule):
    """Outside of a range: above its one end, or below its other end."""

    def __init__(
        self,
        *,
        gt: float | None = None,
        gte: float | None = None,
        lt: float | None = None,
        lte: float | None = None,
    ) -> None:
        """Allow what is greater than the one bound, or less than the other."""
        bounds = {"gt": gt, "gte": gte, "lt": lt, "lte": lte}
        self.bounds = {name: b for name, b in bounds.items() if b is not None}

    def check(self, value: Any) -> Iterator[Problem]:
        """Compare the value."""
        yield from _range("number", value, self.bounds)


@dataclass(frozen=True, kw_only=True)
class ByteLength(Rule):
    """The length of a text in UTF-8: exactly, or at least and at most."""

    exact: int | None = None
    min: int | None = None
    max: int | None = None

    def check(self, value: str) -> Iterator[Problem]:
        """Count the bytes."""
        length = len(value.encode())
        if self.exact is not None and length != self.exact:
            yield Problem("string.len_bytes", f"must have {self.exact} bytes")
        if self.min is not None and length < self.min:
            yield Problem("string.min_bytes", f"must have at least {self.min} bytes")
        if self.max is not None and length > self.max:
            yield Problem("string.max_bytes", f"must have at most {self.max} bytes")


@dataclass(frozen=True)
class Prefix(Rule):
    """The start of a text or of bytes."""

    value: Any

    def check(self, value: Any) -> Iterator[Problem]:
        """Look at the start."""
        if not value.startswith(self.value):
            yield Problem(f"{_kind(value)}.prefix", f"must start with {self.value!r}")

    def keywords(self) -> dict[str, Any]:
        """Say the start of a text."""
        return _pattern("^", self.value, "")


@dataclass(frozen=True)
class Suffix(Rule):
    """The end of a text or of bytes."""

    value: Any

    def check(self, value: Any) -> Iterator[Problem]:
        """Look at the end."""
        if not value.endswith(self.value):
            yield Problem(f"{_kind(value)}.suffix", f"must end with {self.value!r}")

    def keywords(self) -> dict[str, Any]:
        """Say the end of a text."""
        return _pattern("", self.value, "$")


@dataclass(frozen=True)
class Contains(Rule):
    """A part of a text or of bytes."""

    value: Any

    def check(self, value: Any) -> Iterator[Problem]:
        """Seek the part."""
        if self.value not in value:
            yield Problem(f"{_kind(value)}.contains", f"must contain {self.value!r}")

    def keywords(self) -> dict[str, Any]:
        """Say the part of a text."""
        return _pattern("", self.value, "")


def _pattern(before: str, text: Any, behind: str) -> dict[str, Any]:
    if not isinstance(text, str):
        return {}
    return {"pattern": before + re.escape(text) + behind}


@dataclass(frozen=True)
class NotContains(Rule):
    """What is no part of a text."""

    value: str

    def check(self, value: str) -> Iterator[Problem]:
        """Seek the part."""
        if self.value in value:
            yield Problem("string.not_contains", f"must not contain {self.value!r}")


class BytesPattern(Rule):
    """A regular expression that is found in bytes, which must be UTF-8."""

    def __init__(self, pattern: str) -> None:
        """Compile the expression, as Pydantic does."""
        self.pattern = pattern
        self._validator = SchemaValidator(core_schema.str_schema(pattern=pattern))

    def check(self, value: bytes) -> Iterator[Problem]:
        """Seek the pattern."""
        try:
            self._validator.validate_python(value.decode())
        except UnicodeDecodeError:
            yield Problem("bytes.pattern", "must be UTF-8 text")
        except ValidationError:
            yield Problem("bytes.pattern", f"must match {self.pattern!r}")


class Format(Rule):
    """A form of text; of bytes, a number of them."""

    def __init__(
        self,
        rule: str,
        noun: str,
        has_form: Callable[[str], bool],
        *byte_lengths: int,
    ) -> None:
        """Name a form.

        Args:
            rule: The id of the rule, without the type.
            noun: What has the form, in words.
            has_form: Tells whether a text has the form.
            *byte_lengths: The lengths of bytes that have it.
        """
        self.rule = rule
        self.noun = noun
        self.has_form = has_form
        self.byte_lengths = byte_lengths

    def check(self, value: str | bytes) -> Iterator[Problem]:
        """Recognise the form."""
        if isinstance(value, bytes):
            has_form = len(value) in self.byte_lengths
        else:
            has_form = self.has_form(value)
        if not has_form:
            rule = f"{_kind(value)}.{self.rule}"
            yield Problem(rule if value else f"{rule}_empty", f"must be {self.noun}")

    def keywords(self) -> dict[str, Any]:
        """Name the form, if JSON Schema has a name for it."""
        return {"format": _FORMATS[self.rule]} if self.rule in _FORMATS else {}


_FORMATS = {
    "email": "email",
    "hostname": "hostname",
    "ipv4": "ipv4",
    "ipv6": "ipv6",
    "uri": "uri",
    "uri_ref": "uri-reference",
    "uuid": "uuid",
}


def _ip(version: int) -> Callable[[str], bool]:
    return lambda text: formats.is_ip(text, version)


def _ip_prefix(version: int, *, strict: bool) -> Callable[[str], bool]:
    return lambda text: formats.is_ip_prefix(text, version, strict=strict)


EMAIL = Format("email", "an email address", formats.is_email)
HOSTNAME = Format("hostname", "a hostname", formats.is_hostname)
ADDRESS = Format("address", "a hostname or an IP address", formats.is_address)
HOST_AND_PORT = Format("host_and_port", "a host and a port", formats.is_host_and_port)
IP = Format("ip", "an IP address", _ip(0), 4, 16)
IPV4 = Format("ipv4", "an IPv4 address", _ip(4), 4)
IPV6 = Format("ipv6", "an IPv6 address", _ip(6), 16)
IP_WITH_PREFIXLEN = Format(
    "ip_with_prefixlen",
    "an IP address with a prefix length",
    _ip_prefix(0, strict=False),
)
IPV4_WITH_PREFIXLEN = Format(
    "ipv4_with_prefixlen",
    "an IPv4 address with a prefix length",
    _ip_prefix(4, strict=False),
)
IPV6_WITH_PREFIXLEN = Format(
    "ipv6_with_prefixlen",
    "an IPv6 address with a prefix length",
    _ip_prefix(6, strict=False),
)
# The address has nothing behind the prefix.
IP_PREFIX = Format("ip_prefix", "an IP prefix", _ip_prefix(0, strict=True))
IPV4_PREFIX = Format("ipv4_prefix", "an IPv4 prefix", _ip_prefix(4, strict=True))
IPV6_PREFIX = Format("ipv6_prefix", "an IPv6 prefix", _ip_prefix(6, strict=True))
URI = Format("uri", "a URI", formats.is_uri)
URI_REF = Format("uri_ref", "a URI or a relative reference", formats.is_uri_ref)
UUID = Format("uuid", "a UUID", formats.is_uuid, 16)
TUUID = Format("tuuid", "a UUID without hyphens", formats.is_trimmed_uuid)
ULID = Format("ulid", "a ULID", formats.is_ulid)
PROTOBUF_FQN = Format("protobuf_fqn", "a full name of protobuf", formats.is_fqn)
PROTOBUF_DOT_FQN = Format(
    "protobuf_dot_fqn",
    "a full name of protobuf with a dot before it",
    formats.is_dot_fqn,
)
HTTP_HEADER_NAME = Format(
    "well_known_regex.header_name",
    "the name of an HTTP header",
    formats.matcher(r":?[0-9a-zA-Z!#$%&'*+\-.^_|~`]+"),
)
HTTP_HEADER_VALUE = Format(
    "well_known_regex.header_value",
    "the value of an HTTP header",
    formats.matcher(r"[^\x00-\x08\n-\x1f\x7f]*"),
)
_is_line = formats.matcher(r"[^\x00\n\r]*")
# Whatever has no line break and no NUL; a name is not empty.
LOOSE_HTTP_HEADER_NAME = Format(
    "well_known_regex.header_name",
    "the name of an HTTP header",
    lambda text: text != "" and _is_line(text),
)
LOOSE_HTTP_HEADER_VALUE = Format(
    "well_known_regex.header_value", "the value of an HTTP header", _is_line
)


class Defined(Rule):
    """A value that the enum declares."""

    def check(self, value: pb.Enum) -> Iterator[Problem]:
        """Seek the value."""
        if pb.proto_name(value) is None:
            yield Problem("enum.defined_only", "must be a declared value")


class Unique(Rule):
    """A list without repetitions."""

    def check(self, value: list[Any]) -> Iterator[Problem]:
        """Seek two equal items; NaN is equal to nothing."""
        seen = set()
        for item in value:
            if item in seen and item == item:
                yield Problem("repeated.unique", "must not have the same item twice")
                return
            seen.add(item)

    def keywords(self) -> dict[str, Any]:
        """Say so."""
        return {"uniqueItems": True}


class AnyIn(Rule):
    """An Any of one of some types."""

    def __init__(self, *type_urls: str) -> None:
        """Allow these types."""
        self.type_urls = type_urls

    def check(self, value: pb.Any) -> Iterator[Problem]:
        """Look at the type."""
        if value.type_url not in self.type_urls:
            shown = ", ".join(self.type_urls)
            yield Problem("any.in", f"its type must be one of {shown}")


class AnyNotIn(Rule):
    """An Any of none of some types."""

    def __init__(self, *type_urls: str) -> None:
        """Refuse these types."""
        self.type_urls = type_urls

    def check(self, value: pb.Any) -> Iterator[Problem]:
        """Look at the type."""
        if value.type_url in self.type_urls:
            shown = ", ".join(self.type_urls)
            yield Problem("any.not_in", f"its type must not be any of {shown}")


class Duration(Rule):
    """A span of time in a range; spans are written as in ProtoJSON: `1.5s`."""

    def __init__(self, **bounds: str) -> None:
        """Allow what the bounds allow.

        Args:
            **bounds: `gt`, `gte`, `lt`, `lte`; where they are swapped, what lies
                outside is allowed.
        """
        self.bounds = {n: pb.Duration.parse(text) for n, text in bounds.items()}

    def check(self, value: pb.Duration) -> Iterator[Problem]:
        """Compare the span."""
        yield from _range("duration", value, self.bounds)


class Timestamp(Rule):
    """A point in time in a range; written as in ProtoJSON, spans too."""

    def __init__(
        self,
        *,
        lt_now: bool = False,
        gt_now: bool = False,
        within: str | None = None,
        **bounds: str,
    ) -> None:
        """Allow what the bounds allow.

        Args:
            lt_now: Whether the time must have passed.
            gt_now: Whether the time must lie ahead.
            within: How far from now the time may be.
            **bounds: `gt`, `gte`, `lt`, `lte`; where they are swapped, what lies
                outside is allowed.
        """
        self.lt_now, self.gt_now = lt_now, gt_now
        self.within = None if within is None else pb.Duration.parse(within)
        self.shown = within
        self.bounds = {n: pb.Timestamp.parse(text) for n, text in bounds.items()}

    def check(self, value: pb.Timestamp) -> Iterator[Problem]:
        """Compare the time, with now where the rule says so."""
        yield from _range("timestamp", value, self.bounds)
        if not (self.lt_now or self.gt_now or self.within):
            return
        now = _nanos(pb.Timestamp.now())
        at = _nanos(value)
        if self.lt_now and at > now:
            yield Problem("timestamp.lt_now", "must have passed")
        if self.gt_now and at < now:
            yield Problem("timestamp.gt_now", "must lie ahead")
        if self.within is not None and abs(at - now) > _nanos(self.within):
            yield Problem("timestamp.within", f"must be within {self.shown} of now")


def _nanos(time: pb.Timestamp | pb.Duration) -> int:
    return time.seconds * 1_000_000_000 + time.nanos


class PathsIn(Rule):
    """A field mask with some paths only, or paths below them."""

    def __init__(self, *paths: str) -> None:
        """Allow these paths."""
        self.paths = paths

    def check(self, value: pb.FieldMask) -> Iterator[Problem]:
        """Seek each path."""
        if not all(_is_below(path, self.paths) for path in value.paths):
            shown = ", ".join(self.paths)
            yield Problem("field_mask.in", f"must only have paths of {shown}")


class PathsNotIn(Rule):
    """A field mask without some paths and those below them."""

    def __init__(self, *paths: str) -> None:
        """Refuse these paths."""
        self.paths = paths

    def check(self, value: pb.FieldMask) -> Iterator[Problem]:
        """Seek each path."""
        if any(_is_below(path, self.paths) for path in value.paths):
            shown = ", ".join(self.paths)
            yield Problem("field_mask.not_in", f"must not have paths of {shown}")


def _is_below(path: str, roots: tuple[str, ...]) -> bool:
    return any(path == root or path.startswith(root + ".") for root in roots)


class MessageRule:
    """Base of the rules for whole messages."""

    def check(self, message: pb.Message) -> Iterator[Problem]:
        """Say what is wrong with a message of which every field is right."""
        raise NotImplementedError


class AtMostOne(MessageRule):
    """At most one of some fields is set."""

    def __init__(self, *fields: str, required: bool = False) -> None:
        """Group fields.

        Args:
            *fields: The names of the fields.
            required: Whether one must be set.
        """
        self.fields = fields
        self.required = required

    def check(self, message: pb.Message) -> Iterator[Problem]:
        """Count the fields that are set."""
        count = 0
        for name in self.fields:
            value = getattr(message, name)
            info = type(message).model_fields[name]
            if info.is_required() or info.default is None:
                count += value is not None
            else:
                count += not is_zero(value)
        shown = ", ".join(self.fields)
        if count > 1:
            yield Problem("message.oneof", f"only one of {shown} can be set")
        elif self.required and count == 0:
            yield Problem("message.oneof", f"one of {shown} must be set")


class Cel(Rule, MessageRule):
    """A rule in the Common Expression Language.

    In an annotation it is about that value, of a message about the whole.

    Attributes:
        expression: True for what is valid, or the empty text.
        id: The id of the rule; the expression itself if it has none.
        message: What is wrong, in words; of an expression that gives a text, that.
        rule: The value of a predefined rule, `rule` in the expression.
        this_type: The type of the value, where Python's does not say it.
        rule_type: The type of `rule`, where Python's does not say it.
    """

    def __init__(
        self,
        expression: str,
        *,
        id: str = "",
        message: str = "",
        rule: Any = None,
        this_type: Any = None,
        rule_type: Any = None,
    ) -> None:
        """Hold an expression; it is compiled when it is first needed."""
        self.expression = expression
        self.id = id or expression
        self.message = message
        self.rule = rule
        self.this_type = this_type
        self.rule_type = rule_type

    def check(self, value: Any) -> Iterator[Problem]:
        """Evaluate the expression.

        Raises:
            cel.RuleError: If it cannot be evaluated.
        """
        from . import cel

        said = cel.evaluate(
            self.expression,
            cel.convert(self.this_type, value),
            rule=cel.convert(self.rule_type, self.rule),
        )
        if said is True or said == "":
            return
        words = said if isinstance(said, str) else self.message
        yield Problem(self.id, words or f"`{self.expression}` must hold")

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Check the value, of which the annotation says the type."""
        if self.this_type is None and typing.get_origin(source) in (list, dict):
            self.this_type = source
        return super().__get_pydantic_core_schema__(source, handler)


def check_message(
    cls: type[pb.Message],
    value: Any,
    validate: Callable[[Any], pb.Message],
) -> pb.Message:
    """Validate a message by its fields, then by the rules for the whole.

    A required oneof of which no field was given is reported with the problems of
    the fields.
    """
    required = [group for group in pb.one_ofs(cls) if group.required]
    try:
        message = validate(value)
    except ValidationError as error:
        if isinstance(value, dict):
            found = error.errors(include_url=False)
            # Pydantic may come twice: what it reuses of a model has this already.
            known = {item["loc"] for item in found}
            given = {name for name, item in value.items() if item is not None}
            missing = [
                _missing(group)
                for group in required
                if (group.name,) not in known and not given & {*group.members}
            ]
            if missing:
                details = [_details(item) for item in found]
                details += [problem.details() for problem in missing]
                raise ValidationError.from_exception_data(cls.__name__, details)
        raise
    check(message)
    return message


def check(message: pb.Message) -> None:
    """Check the rules for the whole of a message of which every field is right.

    Raises:
        ValidationError: If it breaks any.
    """
    cls = type(message)
    problems = [
        _missing(group)
        for group in pb.one_ofs(cls)
        if group.required and group.__get__(message, cls) is None
    ]
    problems += [p for rule in cls.__rules__ for p in rule.check(message)]
    refuse(problems)


def _missing(group: pb.OneOf) -> Problem:
    members = ", ".join(group.members)
    return Problem("required", f"one of {members} must be set", (group.name,))


def _details(error: Any) -> InitErrorDetails:
    """Return one of Pydantic's errors as it was raised."""
    kind: Any = error["type"]
    if _RULE in error.get("ctx", {}):
        return Problem(kind, error["msg"], error["loc"]).details()
    return InitErrorDetails(
        type=kind,
        loc=error["loc"],
        input=error["input"],
        ctx=error.get("ctx", {}),
    )
