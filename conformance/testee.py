"""The program that protobuf's conformance_test_runner tests: the generated models.

JSON to JSON goes through the models alone. Binary goes through the classes of
Google's SDK into the models, and out again; the models have no binary form of
their own, so binary to binary is skipped, and so is the text format.
"""

from __future__ import annotations

import importlib
import os
import struct
import sys
from typing import Any

sys.path[:0] = os.environ["CONFORMANCE_PATH"].split(os.pathsep)

from bridge import Bridge  # noqa: E402
from google.protobuf import symbol_database  # noqa: E402
from google.protobuf.message import DecodeError, EncodeError  # noqa: E402
from pydantic import ValidationError  # noqa: E402

from conformance import conformance_pb2 as conformance  # noqa: E402

for _module in os.environ["CONFORMANCE_MESSAGES"].split(os.pathsep):
    importlib.import_module(_module)


class Testee:
    """One message type: its model and the SDK's class."""

    def __init__(self, message_type: str, package: str) -> None:
        """Load the generated package of an agent that reaches the type."""
        importlib.import_module(f"{package}.state.generated")
        pb = importlib.import_module(f"{package}.support.pb")
        self.protojson = importlib.import_module(f"{package}.support.protojson")
        self.model = pb.message_class(message_type)
        self.message = symbol_database.Default().GetSymbol(message_type)
        wire = importlib.import_module(f"{package}.support.wire")
        self.bridge = Bridge(pb, wire)

    def run(self, request: Any, response: Any) -> None:
        """Convert the payload of a request as it asks."""
        try:
            model = self._read(request)
        except (self.protojson.JsonError, DecodeError) as error:
            response.parse_error = str(error)[:1000]
            return
        except (ValidationError, ValueError) as error:
            response.serialize_error = str(error)[:1000]
            return
        try:
            if request.requested_output_format == conformance.JSON:
                response.json_payload = self.protojson.dumps(model)
            else:
                message = self.message()
                self.bridge.to_message(model, message)
                response.protobuf_payload = message.SerializeToString()
        except (self.protojson.JsonError, EncodeError, ValueError) as error:
            response.serialize_error = str(error)[:1000]

    def _read(self, request: Any) -> Any:
        if request.WhichOneof("payload") == "json_payload":
            ignore = conformance.JSON_IGNORE_UNKNOWN_PARSING_TEST
            return self.protojson.loads(
                self.model,
                request.json_payload,
                ignore_unknown=request.test_category == ignore,
            )
        message = self.message()
        message.ParseFromString(request.protobuf_payload)
        return self.bridge.to_model(message)


def answer(testees: dict[str, Testee], request: Any) -> Any:
    """Answer one request of the runner."""
    response = conformance.ConformanceResponse()
    formats = {request.WhichOneof("payload"), request.requested_output_format}
    if request.message_type == "conformance.FailureSet":
        response.protobuf_payload = b""
    elif request.message_type not in testees:
        response.skipped = f"no model of {request.message_type}"
    elif formats == {"protobuf_payload", conformance.PROTOBUF}:
        response.skipped = "the models have no binary form"
    elif not formats <= {
        "json_payload",
        "protobuf_payload",
        conformance.JSON,
        conformance.PROTOBUF,
    }:
        response.skipped = "the models have JSON only"
    else:
        try:
            testees[request.message_type].run(request, response)
        except Exception as error:
            response.runtime_error = f"{type(error).__name__}: {error}"[:1000]
    return response


def main() -> None:
    """Answer requests until the runner has no more."""
    testees = {}
    for pair in os.environ["CONFORMANCE_TYPES"].split(os.pathsep):
        message_type, package = pair.split("=")
        testees[message_type] = Testee(message_type, package)
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    while len(header := stdin.read(4)) == 4:
        (size,) = struct.unpack("<I", header)
        request = conformance.ConformanceRequest.FromString(stdin.read(size))
        payload = answer(testees, request).SerializeToString()
        stdout.write(struct.pack("<I", len(payload)) + payload)
        stdout.flush()


if __name__ == "__main__":
    main()
