"""A small server on loopback that answers as an OpenAI-style one does, from a script.

It checks what it is sent as strictly as a server may: the tools' schemas are JSON Schema, every
call that its model made is answered, by its id. What it received is kept for the test.
"""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from jsonschema import Draft202012Validator


class ModelServer(ThreadingHTTPServer):
    """The server.

    Args:
        script: For each round the tool calls ``(name, arguments)`` of the model, or its last words.
    """

    def __init__(self, script):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = list(script)
        self.received = []
        self.faults = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self._answer({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        server.received.append(body)
        try:
            _check(body)
        except Exception as fault:  # noqa: BLE001 - told where the test can see it
            server.faults.append(fault)
        step = server.script.pop(0) if server.script else "That is all."
        message = {"role": "assistant", "content": step if isinstance(step, str) else None}
        if not isinstance(step, str):
            message["tool_calls"] = [
                {
                    "id": f"call-{len(server.received)}-{n}",
                    "type": "function",
                    "function": {"name": name, "arguments": _text(arguments)},
                }
                for n, (name, arguments) in enumerate(step)
            ]
        finish = "stop" if isinstance(step, str) else "tool_calls"
        self._answer(
            {
                "object": "chat.completion",
                "model": "scripted",
                "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            }
        )

    def _answer(self, answer):
        data = json.dumps(answer).encode("utf-8")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Say nothing."""


def _text(arguments):
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _check(body):
    for tool in body["tools"]:
        assert tool.keys() == {"type", "function"}
        assert tool["type"] == "function"
        assert tool["function"].keys() == {"name", "description", "parameters"}
        Draft202012Validator.check_schema(tool["function"]["parameters"])
        assert tool["function"]["parameters"]["type"] == "object"
    asked = [c["id"] for m in body["messages"] for c in m.get("tool_calls") or ()]
    answered = [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"]
    assert asked == answered
    assert all(isinstance(m["content"], str) for m in body["messages"] if m["role"] == "tool")


@contextmanager
def model_server(script):
    """A server for as long as the block runs; what it found wrong fails the test."""
    server = ModelServer(script)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
    assert not server.faults
