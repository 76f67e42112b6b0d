"""The stand-in host refuses what LM Studio's own schemas do not allow, in either direction."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .standin import Chat, Host, MalformedFrameError, eventually, user
from .toolchain import HERE, node

OPEN = {"type": "channelCreate", "endpoint": "setPromptPreprocessor", "channelId": 0}
TOOLS = {"type": "channelCreate", "endpoint": "setToolsProvider", "channelId": 1}
DONE = {"type": "rpcCall", "endpoint": "pluginInitCompleted", "callId": 0}


def on(channel: int, **message: Any) -> dict[str, Any]:
    return {"type": "channelSend", "channelId": channel, "message": message}


def call(endpoint: str, **parameter: Any) -> dict[str, Any]:
    return {"type": "rpcCall", "endpoint": endpoint, "callId": 1, "parameter": parameter}


def update(**values: Any) -> dict[str, Any]:
    return call("processingHandleUpdate", pci="1", token="t", update=values)


COMPLETE = on(0, type="complete", taskId="1", processed=user("Hello"))
STATUS = update(type="status.create", id="1", state={"status": "done", "text": "Fine"})
SESSION = on(
    1,
    type="sessionInitialized",
    sessionId="1",
    toolDefinitions=[
        {
            "type": "function",
            "function": {
                "name": "recall",
                "description": "Finds.",
                "parameters": {"type": "object", "properties": {}},
            },
        }
    ],
)
MALFORMED: dict[str, Any] = {
    "no JSON": "{",
    "no object": [1],
    "no type": {"channelId": 0},
    "a type that is not known": {**COMPLETE, "type": "channelThrow"},
    "a field that is not known": {**COMPLETE, "colour": "green"},
    "a field that is missing": {"type": "channelSend", "message": COMPLETE["message"]},
    "an id that is no number": {**COMPLETE, "channelId": "0"},
    "a channel that is not open": {**COMPLETE, "channelId": 7},
    "a channel that is open already": OPEN,
    "an endpoint that is not known": {**OPEN, "channelId": 9, "endpoint": "setColour"},
    "a call that is not known": call("processingPaint", pci="1", token="t"),
    "a call without its token": call("processingNeedsNaming", pci="1"),
    "a call with more than it takes": call("processingNeedsNaming", pci="1", token="t", more=1),
    "a status that is not known": update(
        type="status.create", id="1", state={"status": "great", "text": "Fine"}
    ),
    "an update that is not known": update(type="status.paint", id="1"),
    "an answer of another channel": on(0, **SESSION["message"]),
    "a role that is not known": on(
        0, type="complete", taskId="1", processed={**user("Hello"), "role": "robot"}
    ),
    "a part that is not known": on(
        0, type="complete", taskId="1", processed={"role": "user", "content": [{"type": "smell"}]}
    ),
    "a part with more than it has": on(
        0,
        type="complete",
        taskId="1",
        processed={"role": "user", "content": [{"type": "text", "text": "Hello", "bold": True}]},
    ),
    "a tool whose arguments are a list": on(
        1,
        type="sessionInitialized",
        sessionId="1",
        toolDefinitions=[
            {"type": "function", "function": {"name": "recall", "parameters": {"type": "array"}}}
        ],
    ),
}


def speak(host: Host, packages: Path, *frames: Any) -> None:
    given = [frame if isinstance(frame, str) else json.dumps(frame) for frame in frames]
    command = [node(), str(HERE / "speak.mjs"), str(packages), str(host.port), *given]
    before = len(host.events.get("closed", ()))
    subprocess.run(command, check=True, timeout=30)
    host.event("closed", before)


def test_frames_that_fit_pass(bare_host: Host, packages: Path) -> None:
    speak(bare_host, packages, OPEN, TOOLS, DONE, COMPLETE, SESSION, STATUS)
    bare_host.check()
    assert bare_host.do("frames")["plugin"] == 7


@pytest.fixture(scope="module")
def listening(tmp_path_factory: pytest.TempPathFactory, packages: Path) -> Iterator[Host]:
    """A host whose connections come and go."""
    host = Host(tmp_path_factory.mktemp("user"))
    yield host
    host.malformed.clear()
    host.close()


@pytest.mark.parametrize("what", MALFORMED)
def test_a_malformed_frame_of_the_plugin_is_refused(
    listening: Host, packages: Path, what: str
) -> None:
    listening.malformed.clear()
    speak(listening, packages, OPEN, TOOLS, MALFORMED[what])
    assert len(listening.malformed) == 1
    with pytest.raises(MalformedFrameError):
        listening.check()


def test_a_malformed_frame_fails_the_run(tmp_path: Path, packages: Path) -> None:
    host = Host(tmp_path)
    speak(host, packages, OPEN, {**COMPLETE, "colour": "green"})
    with pytest.raises(MalformedFrameError, match="colour"):
        host.do("frames")
    with pytest.raises(MalformedFrameError):
        host.close()


@pytest.mark.parametrize(
    "given",
    [
        {"input": {"role": "robot", "content": []}},
        {"input": {"role": "user", "content": [], "mood": "good"}},
        {"input": user("Hello"), "plugins": ["rag-v1"]},
        {"input": user("Hello"), "working": 5},
    ],
    ids=["role", "more", "plugins", "folder"],
)
def test_a_malformed_frame_of_the_host_fails_the_run(
    tmp_path: Path, plugin: Path, given: dict[str, Any]
) -> None:
    host = Host(tmp_path)
    host.run(plugin)
    host.ask("preprocess", **{"working": "/chats/1", **given})
    eventually(lambda: host.malformed)
    with pytest.raises(MalformedFrameError):
        host.close()


def test_a_malformed_history_fails_the_run(tmp_path: Path, plugin: Path) -> None:
    host = Host(tmp_path)
    host.run(plugin)
    chat = Chat(host, "1764500000000")
    with pytest.raises(MalformedFrameError):
        chat.put([{"role": "tool", "content": [{"type": "text", "text": "of no tool"}]}])
    with pytest.raises(MalformedFrameError):
        host.close()
