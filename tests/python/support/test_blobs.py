from __future__ import annotations

import asyncio
import hashlib

import pytest
from pydantic import ValidationError
from support.blobs import BlobError, BlobRef, BlobStore, InMemoryBlobStore, check_blob


def test_round_trip() -> None:
    store: BlobStore = InMemoryBlobStore()
    ref = store.put(b"data", content_type="text/plain")
    digest = hashlib.sha256(b"data").hexdigest()
    assert ref == BlobRef(
        uri=f"memory:{digest}", sha256=digest, size=4, content_type="text/plain"
    )
    assert store.get(ref) == b"data"

    async def main() -> bytes:
        return await store.aget(await store.aput(b"", content_type="text/plain"))

    assert asyncio.run(main()) == b""


def test_what_is_stored_does_not_change() -> None:
    store = InMemoryBlobStore()
    data = bytearray(b"data")
    ref = store.put(data)  # type: ignore[arg-type]
    data[0] = 0
    assert store.get(ref) == b"data"


def test_missing() -> None:
    ref = InMemoryBlobStore().put(b"data")
    with pytest.raises(BlobError, match="not found"):
        InMemoryBlobStore().get(ref)


def test_corrupt() -> None:
    store = InMemoryBlobStore()
    ref = store.put(b"data")
    store._blobs[ref.uri] = b"date"
    with pytest.raises(BlobError, match="its checksum is wrong"):
        store.get(ref)
    store._blobs[ref.uri] = b"dat"
    with pytest.raises(BlobError, match="has 3 bytes instead of 4"):
        store.get(ref)
    assert check_blob(ref, b"data") == b"data"


@pytest.mark.parametrize(
    "change",
    [
        {"uri": ""},
        {"sha256": "A" * 64},
        {"sha256": "0" * 63},
        {"sha256": "0" * 64 + "\n"},
        {"size": -1},
        {"more": 1},
    ],
)
def test_bad_reference(change: dict[str, object]) -> None:
    fields = {"uri": "memory:x", "sha256": "0" * 64, "size": 0}
    BlobRef.model_validate(fields)
    with pytest.raises(ValidationError):
        BlobRef.model_validate(fields | change)
