"""Large artifacts, kept outside of the state.

The state holds references only; a store, chosen by the application, holds the bytes.
"""

from __future__ import annotations

import hashlib
import threading
from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

from .errors import AgentError

__all__ = ["BlobError", "BlobRef", "BlobStore", "InMemoryBlobStore", "check_blob"]


class BlobError(AgentError):
    """A blob is missing, or is not what its reference says."""


class BlobRef(BaseModel):
    """A reference to a blob.

    Attributes:
        uri: Where the blob is.
        sha256: Its checksum, in lower-case hexadecimal.
        size: Its size in bytes.
        content_type: Its media type.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    uri: Annotated[str, Field(min_length=1)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    size: Annotated[int, Field(ge=0)]
    content_type: str = "application/octet-stream"


class BlobStore(Protocol):
    """Holds blobs."""

    def put(self, data: bytes, *, content_type: str) -> BlobRef:
        """Store a blob. The same bytes may get the same reference."""
        ...

    def get(self, ref: BlobRef) -> bytes:
        """Return a blob, checked as `check_blob` does."""
        ...

    async def aput(self, data: bytes, *, content_type: str) -> BlobRef:
        """Store a blob without blocking the event loop."""
        ...

    async def aget(self, ref: BlobRef) -> bytes:
        """Return a blob without blocking the event loop."""
        ...


def check_blob(ref: BlobRef, data: bytes) -> bytes:
    """Return bytes that are what a reference says.

    Raises:
        BlobError: If size or checksum differ.
    """
    if len(data) != ref.size:
        raise BlobError(f"blob {ref.uri}: has {len(data)} bytes instead of {ref.size}")
    if hashlib.sha256(data).hexdigest() != ref.sha256:
        raise BlobError(f"blob {ref.uri}: its checksum is wrong")
    return data


class InMemoryBlobStore:
    """Keeps blobs in this process, for tests and development."""

    def __init__(self) -> None:
        """Start empty."""
        self._lock = threading.Lock()
        self._blobs: dict[str, bytes] = {}

    def put(
        self, data: bytes, *, content_type: str = "application/octet-stream"
    ) -> BlobRef:
        """Store a blob under its checksum."""
        data = bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        uri = f"memory:{digest}"
        with self._lock:
            self._blobs[uri] = data
        return BlobRef(
            uri=uri, sha256=digest, size=len(data), content_type=content_type
        )

    def get(self, ref: BlobRef) -> bytes:
        """Return a blob.

        Raises:
            BlobError: If there is none, or it is not what the reference says.
        """
        with self._lock:
            data = self._blobs.get(ref.uri)
        if data is None:
            raise BlobError(f"blob {ref.uri}: not found")
        return check_blob(ref, data)

    async def aput(
        self, data: bytes, *, content_type: str = "application/octet-stream"
    ) -> BlobRef:
        """Store a blob as `put` does."""
        return self.put(data, content_type=content_type)

    async def aget(self, ref: BlobRef) -> bytes:
        """Return a blob as `get` does."""
        return self.get(ref)
