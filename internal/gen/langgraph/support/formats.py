"""Recognises the forms of text that validation rules name, as protovalidate does."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import unquote_to_bytes

__all__ = [
    "is_address",
    "is_email",
    "is_host_and_port",
    "is_hostname",
    "is_ip",
    "is_ip_prefix",
    "is_uri",
    "is_uri_ref",
    "matcher",
]


def matcher(pattern: str) -> Callable[[str], bool]:
    """Return a function that tells whether a whole text has a form."""
    match = re.compile(pattern, re.ASCII).fullmatch
    return lambda text: match(text) is not None


_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
# What HTML takes for an address in a form, which is less than mail allows.
is_email = matcher(rf"[a-zA-Z0-9.!#$%&'*+/=?^_`{{|}}~-]+@{_LABEL}(?:\.{_LABEL})*")
is_uuid = matcher(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
is_trimmed_uuid = matcher(r"[0-9a-fA-F]{32}")
is_ulid = matcher(r"[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}")
is_fqn = matcher(r"[A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*")
is_dot_fqn = matcher(r"(?:\.[A-Za-z_][A-Za-z_0-9]*)+")

_HOSTNAME = re.compile(rf"(?:{_LABEL}\.)*({_LABEL})\.?", re.ASCII)


def is_hostname(text: str) -> bool:
    """Tell whether a text is the name of a host, with a final dot or without."""
    match = _HOSTNAME.fullmatch(text)
    return match is not None and len(text) <= 253 and not match[1].isdigit()


_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}", re.ASCII)
_HEX_GROUP = re.compile(r"[0-9a-fA-F]{1,4}", re.ASCII)


def _ipv4(text: str) -> int | None:
    if _IPV4.fullmatch(text) is None:
        return None
    return int.from_bytes(bytes(map(int, text.split("."))))


def _ipv6(text: str) -> int | None:
    head, gap, tail = text.partition("::")
    if gap and "::" in tail or ":::" in text:
        return None
    left = _groups(head, last=not gap)
    right = _groups(tail, last=True) if gap else []
    if left is None or right is None:
        return None
    missing = 8 - len(left) - len(right)
    if missing < 1 if gap else missing:
        return None
    groups = [*left, *[0] * missing, *right]
    return int.from_bytes(b"".join(group.to_bytes(2) for group in groups))


def _groups(text: str, *, last: bool) -> list[int] | None:
    """Read groups of 16 bits, of which the last two may be written as an IPv4."""
    groups: list[int] = []
    parts = text.split(":") if text else []
    for index, part in enumerate(parts):
        if _HEX_GROUP.fullmatch(part):
            groups.append(int(part, 16))
            continue
        address = _ipv4(part) if last and index == len(parts) - 1 else None
        if address is None:
            return None
        groups += divmod(address, 2**16)
    return groups


def is_ip(text: str, version: int = 0) -> bool:
    """Tell whether a text is an IP address of a version, or of any (0)."""
    if version in (0, 4) and _ipv4(text) is not None:
        return True
    address, percent, zone = text.partition("%")
    if percent and not zone or "\0" in zone:
        return False
    return version in (0, 6) and _ipv6(address) is not None


_PREFIX_LENGTH = re.compile(r"0|[1-9][0-9]{0,2}", re.ASCII)


def is_ip_prefix(text: str, version: int = 0, *, strict: bool = False) -> bool:
    """Tell whether a text is an IP address and the length of a prefix.

    Args:
        text: The text.
        version: The version of the address, 0 for any.
        strict: Whether nothing may follow the prefix but zeros.
    """
    address, slash, length = text.partition("/")
    if not slash or _PREFIX_LENGTH.fullmatch(length) is None:
        return False
    for read, bits, is_version in ((_ipv4, 32, 4), (_ipv6, 128, 6)):
        number = read(address) if version in (0, is_version) else None
        if number is not None and int(length) <= bits:
            rest = number & ((1 << (bits - int(length))) - 1)
            return not strict or rest == 0
    return False


def is_address(text: str) -> bool:
    """Tell whether a text is the name of a host or an IP address."""
    return is_hostname(text) or is_ip(text)


_PORT = re.compile(r"0|[1-9][0-9]{0,4}", re.ASCII)


def _is_port(text: str) -> bool:
    return _PORT.fullmatch(text) is not None and int(text) <= 65535


def is_host_and_port(text: str, *, port_required: bool = True) -> bool:
    """Tell whether a text is a host and a port; an IPv6 stands in brackets."""
    if text.startswith("["):
        host, bracket, rest = text[1:].rpartition("]")
        if not bracket or not is_ip(host, 6):
            return False
        if not rest:
            return not port_required
        return rest.startswith(":") and _is_port(rest[1:])
    host, colon, port = text.rpartition(":")
    if not colon:
        return not port_required and (is_hostname(text) or is_ip(text, 4))
    return (is_hostname(host) or is_ip(host, 4)) and _is_port(port)


# The grammar of RFC 3986, in its own words.
_UNRESERVED = r"A-Za-z0-9\-._~"
_SUB_DELIMS = r"!$&'()*+,;="
_ENCODED = r"%[0-9A-Fa-f]{2}"
_PCHAR = rf"(?:[{_UNRESERVED}{_SUB_DELIMS}:@]|{_ENCODED})"
_SCHEME = r"[A-Za-z][A-Za-z0-9+\-.]*"
_USERINFO = rf"(?:[{_UNRESERVED}{_SUB_DELIMS}:]|{_ENCODED})*"
_ABEMPTY = rf"(?:/{_PCHAR}*)*"
_ABSOLUTE = rf"/(?:{_PCHAR}+(?:/{_PCHAR}*)*)?"
_ROOTLESS = rf"{_PCHAR}+(?:/{_PCHAR}*)*"
_NO_SCHEME = rf"(?:[{_UNRESERVED}{_SUB_DELIMS}@]|{_ENCODED})+(?:/{_PCHAR}*)*"
_AUTHORITY = (
    rf"(?:(?P<userinfo>{_USERINFO})@)?(?P<host>\[[^\]]*\]|[^\[\]@:/?#]*)(?::[0-9]*)?"
)
_QUERY = rf"(?:\?(?:{_PCHAR}|[/?])*)?(?:\#(?:{_PCHAR}|[/?])*)?"
_URI = re.compile(
    rf"{_SCHEME}:(?://{_AUTHORITY}{_ABEMPTY}|{_ABSOLUTE}|{_ROOTLESS}|){_QUERY}",
    re.ASCII,
)
_RELATIVE = re.compile(
    rf"(?://{_AUTHORITY}{_ABEMPTY}|{_ABSOLUTE}|{_NO_SCHEME}|){_QUERY}", re.ASCII
)
_REG_NAME = re.compile(rf"(?:[{_UNRESERVED}{_SUB_DELIMS}]|{_ENCODED})*", re.ASCII)
_IP_FUTURE = re.compile(rf"[vV][0-9A-Fa-f]+\.[{_UNRESERVED}{_SUB_DELIMS}:]+", re.ASCII)
_ZONE = re.compile(rf"(?:[{_UNRESERVED}]|{_ENCODED})+", re.ASCII)


def _is_host(text: str) -> bool:
    if not text.startswith("["):
        return _REG_NAME.fullmatch(text) is not None and _is_utf8(text)
    inner = text[1:-1]
    if _IP_FUTURE.fullmatch(inner):
        return True
    address, percent, zone = inner.partition("%25")
    if percent and (_ZONE.fullmatch(zone) is None or not _is_utf8(zone)):
        return False
    return "%" not in address and _ipv6(address) is not None


def _is_utf8(encoded: str) -> bool:
    try:
        unquote_to_bytes(encoded).decode()
    except UnicodeDecodeError:
        return False
    return True


def _matches(grammar: re.Pattern[str], text: str) -> bool:
    match = grammar.fullmatch(text)
    return match is not None and (match["host"] is None or _is_host(match["host"]))


def is_uri(text: str) -> bool:
    """Tell whether a text is a URI."""
    return _matches(_URI, text)


def is_uri_ref(text: str) -> bool:
    """Tell whether a text is a URI or a relative reference."""
    return _matches(_URI, text) or _matches(_RELATIVE, text)
