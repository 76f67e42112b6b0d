"""Whatever stands in a line, decoding gives a record or one error that can be told."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from throughline_nb.chat import Message, storable
from throughline_nb.hosts.bridge import messages as wire
from throughline_nb.hosts.bridge.translate import Translator

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
NAMES = ("jsonrpc", "id", "method", "params", "result", "error", "turn", "role", "parts", "type")
SHAPED = st.dictionaries(st.sampled_from(NAMES), VALUES | st.sampled_from(["2.0", "turn"]))
PARAMS = (wire.Hello, wire.TurnParams, wire.ToolsParams, wire.CallParams, wire.Cancel, wire.Page)
PARTS = st.fixed_dictionaries(
    {"type": st.just("text"), "text": st.text(st.characters(codec=None))}
) | st.fixed_dictionaries(
    {
        "type": st.just("toolCallRequest"),
        "id": st.text(max_size=3),
        "name": st.text(max_size=9),
        "arguments": st.none() | st.dictionaries(st.text(), VALUES, max_size=3),
    }
) | st.fixed_dictionaries(
    {
        "type": st.just("toolCallResult"),
        "id": st.text(max_size=3),
        "content": st.text() | VALUES.map(json.dumps),
    }
)  # fmt: skip


def tried(action):
    try:
        return action()
    except wire.RpcError as error:
        assert error.message
        assert "\n" not in error.message
        wire.encode(wire.Answer(None, error=wire.Fault(error.code, error.message)))
        return None


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes(line):
    tried(lambda: wire.envelope(line))


@given(SHAPED | VALUES)
def test_any_json(value):
    line = json.dumps(value).encode()
    message = tried(lambda: wire.envelope(line))
    assert message is None or message.jsonrpc == "2.0"
    for record in PARAMS:
        tried(lambda record=record: wire.decoded(line, record, "it"))


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(PARTS, max_size=4)), max_size=6))
def test_every_message_that_fits_can_be_taken_in(given_messages):
    sent = [
        {"turn": turn, "role": "assistant", "parts": parts}
        for turn, parts in sorted(given_messages, key=lambda each: each[0])
    ]
    line = json.dumps({"messages": sent, "more": False, "turn": 3, "head": ""}).encode()
    page = tried(lambda: wire.decoded(line, wire.Page, "a page"))
    if page is None:  # a number of JavaScript's that is none of JSON's
        assert b"NaN" in line or b"Infinity" in line
        return
    for message in storable(tuple(Translator().messages(page.messages))):
        assert isinstance(message, Message)
        msgspec.json.encode(message)


@pytest.mark.parametrize("text", ["\ud83d", "a\ude00b", "\ud83d\ud83d\ude00", "😀\udfff"])
def test_halves_of_a_pair_become_text(text):
    line = json.dumps({"chat": "1", "settings": {"x": text}}).encode()
    mended = wire.decoded(line, wire.ToolsParams, "tools").settings["x"]
    assert mended.encode()
    assert len(mended) == len(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
