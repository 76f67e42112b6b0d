"""Reading LM Studio's conversation files, whatever build or plugin wrote them."""

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from throughline_nb.chat import ChatKey
from throughline_nb.errors import NotFoundError, UnreadableFileError
from throughline_nb.hosts.lmstudio.files import (
    Conversation,
    LMStudioChats,
    conversations,
    read_conversation,
)
from throughline_nb.hosts.lmstudio.format import unwrap

DATA = Path(__file__).parents[1] / "data" / "conversations"
SAMPLE = DATA / "Runtime research" / "1764500000000.conversation.json"


def text(words, **more):
    return {"type": "text", "text": words, **more}


def user(*parts, **more):
    return {"type": "singleStep", "role": "user", "content": list(parts), **more}


def assistant(*steps):
    return {"type": "multiStep", "role": "assistant", "steps": list(steps)}


def block(*parts, **more):
    return {"type": "contentBlock", "content": list(parts), "style": {"type": "default"}, **more}


def slot(*versions, selected=0):
    return {"versions": list(versions), "currentlySelected": selected}


def call(ident, name="fetch", **args):
    return block({"type": "toolCallRequest", "callId": ident, "name": name, "parameters": args})


def result(ident, content, name="fetch"):
    return block({"type": "toolCallResult", "callId": ident, "name": name, "content": content})


def status(ident, kind):
    return {"type": "toolStatus", "callId": ident, "statusState": {"status": {"type": kind}}}


@pytest.fixture
def chat(tmp_path):
    def read(*slots, **top) -> Conversation:
        path = tmp_path / "17.conversation.json"
        path.write_text(json.dumps({"messages": list(slots), **top}), encoding="utf-8")
        return read_conversation(path)

    return read


def test_the_bundled_chat_is_read_whole():
    chat = read_conversation(SAMPLE)
    assert chat.key == ChatKey("lmstudio", "1764500000000")
    assert (chat.name, chat.created) == ("Inference runtimes", 1764500000.0)
    assert [turn.turn for turn in chat.turns] == list(range(1, 27))
    assert chat.skipped == (("step toolApprovalBlock", 1),)
    regenerated = chat.turns[6].answers[0]
    assert [len(version) for version in regenerated.versions] == [7, 9]
    assert regenerated.messages == regenerated.versions[1]
    edited = chat.turns[8]
    assert edited.prompts[0].typed == "What about TensorRT?"
    assert edited.prompt.typed.startswith("What about TensorRT-LLM?")
    attached = chat.turns[9]
    assert attached.user.files == ("mlx-lm-notes.txt",)
    assert "0.28.3" in attached.user.text
    assert "0.28.3" not in attached.prompt.typed


def test_a_failed_page_is_failed_and_a_read_one_is_not():
    turn = read_conversation(SAMPLE).turns[1]
    failed = [message.tool for message in turn.messages if message.failed]
    assert failed == ["fetch", "fetch"]  # the call and its result


def test_thinking_and_what_is_not_in_the_context_is_no_text(chat):
    read = chat(
        slot(user(text("hello"))),
        slot(
            assistant(
                block(text("let me see"), style={"type": "thinking"}),
                block(text("left out"), shouldIncludeInContext=False),
                block(text("<|end|>", isStructural=True)),
                {"type": "debugInfoBlock", "debugInfo": "x"},
                {"type": "status", "state": {}},
                block(text("Hello"), text(" there.")),
                block(text("labelled"), style={"type": "customLabel", "label": "Note"}),
            )
        ),
    )
    assert [m.text for m in read.turns[0].messages] == ["hello", "Hello there.", "labelled"]
    assert read.skipped == ()


def test_a_call_taken_out_of_the_context_still_happened(chat):
    read = chat(
        slot(user(text("go"))),
        slot(assistant(call("1", url="https://example.org") | {"shouldIncludeInContext": False})),
    )
    assert read.turns[0].messages[1].args == {"url": "https://example.org"}


@pytest.mark.parametrize("kind", ["toolCallFailed", "toolCallDenied"])
def test_failed_and_denied_calls(chat, kind):
    read = chat(
        slot(user(text("go"))),
        slot(
            assistant(
                call(1),
                status(1, kind),
                result(1, "no"),
                call(2),
                status(2, "toolCallSucceeded"),
                result(2, "yes"),
            )
        ),
    )
    assert [m.failed for m in read.turns[0].messages[1:]] == [True, True, False, False]


def test_call_ids_of_two_answers_do_not_meet(chat):
    answer = assistant(call("1"), result("1", "x"))
    read = chat(slot(user(text("a"))), slot(answer, answer), slot(user(text("b"))), slot(answer))
    answers = [*read.turns[0].answers[0].versions, *read.turns[1].answers[0].versions]
    ids = [{m.call_id for m in version} for version in answers]
    assert [len(one) for one in ids] == [1, 1, 1]
    assert len(set.union(*ids)) == 3


@pytest.mark.parametrize("selected", [7, -1, None, "0", 1.5, True])
def test_an_index_that_is_none_means_the_last_version(chat, selected):
    read = chat(
        slot(user(text("first")), user(text("last")), selected=selected),
        slot(assistant(block(text("one"))), assistant(block(text("two"))), selected=selected),
    )
    assert [m.text for m in read.turns[0].messages] == ["last", "two"]


def test_both_places_for_what_plugins_stored(chat):
    kept = [text("hello, with context")]
    for stored in (
        {"preprocessed": {"role": "user", "content": kept}},
        {"processed": kept},
        {"processed": [{"role": "user", "content": kept}]},
    ):
        prompt = chat(slot(user(text("hello"), **stored))).turns[0].prompt
        assert (prompt.typed, prompt.stored) == ("hello", "hello, with context")
    prompt = chat(slot(user(text("hello"), preprocessed=None))).turns[0].prompt
    assert prompt.stored == "hello"


def test_files_of_either_naming(chat):
    parts = [
        {"type": "file", "fileIdentifier": "a.pdf", "fileType": "application/pdf"},
        {"type": "file", "name": "b.txt", "identifier": "123"},
    ]
    assert chat(slot(user(text("x"), *parts))).turns[0].user.files == ("a.pdf", "b.txt")


def test_turns_count_user_messages_and_keep_all_that_answers(chat):
    read = chat(
        slot({"role": "system", "content": [text("be brief")]}),
        slot(assistant(block(text("greeting before anyone spoke")))),
        slot(user(text("one"))),
        slot(assistant(block(text("a")))),
        slot({"type": "singleStep", "role": "assistant", "content": [text("an old build's")]}),
        slot(user(text("two"))),
        name=None,
        createdAt=None,
    )
    assert [[m.text for m in turn.messages] for turn in read.turns] == [
        ["one", "a", "an old build's"],
        ["two"],
    ]
    assert (read.name, read.created) == ("", None)
    assert read.skipped == (("message of assistant", 1),)


@pytest.mark.parametrize(
    "stored",
    [
        'plain "text" [1]',
        json.dumps('plain "text" [1]'),
        json.dumps([{"type": "text", "text": 'plain "text" [1]'}]),
        json.dumps(json.dumps([{"type": "text", "text": 'plain "text" [1]'}])),
        [{"type": "text", "text": 'plain "text" [1]'}],
        [{"type": "resource", "resource": {"uri": "x", "text": 'plain "text" [1]'}}],
    ],
)
def test_results_are_unwrapped(stored):
    assert unwrap(stored) == 'plain "text" [1]'


@pytest.mark.parametrize(
    ("stored", "same"),
    [
        ("[1, 2]", "[1, 2]"),
        ('[{"title": "a"}]', '[{"title": "a"}]'),
        ('"open', '"open'),
        ("[not json]", "[not json]"),
        ({"a": 1}, '{"a":1}'),
        (None, ""),
        ("", ""),
    ],
)
def test_results_that_are_something_else_stay(stored, same):
    assert unwrap(stored) == same


def test_arguments_may_be_text_or_nested_as_the_sdk_has_them(chat):
    quoted = {"type": "toolCallRequest", "callId": "1", "name": "f", "arguments": '{"a": 1}'}
    inner = {"id": "2", "type": "function", "name": "g", "arguments": {"b": 2}}
    nested = {"type": "toolCallRequest", "toolCallRequest": inner}
    broken = {"type": "toolCallRequest", "callId": "3", "name": "h", "arguments": "{"}
    late = {"type": "toolCallResult", "toolCallId": "2", "content": "done"}
    turn = chat(slot(user(text("x"))), slot(assistant(block(quoted, nested, broken, late)))).turns[
        0
    ]
    calls = [(m.tool, dict(m.args)) for m in turn.messages[1:]]
    assert calls == [("f", {"a": 1}), ("g", {"b": 2}), ("h", {}), ("g", {})]
    assert turn.messages[2].call_id == turn.messages[4].call_id


def test_half_an_emoji_is_no_reason_to_fail(tmp_path):
    path = tmp_path / "1.conversation.json"
    said = json.dumps({"messages": [slot(user(text("a \ud83d b")))]})
    path.write_text("\ufeff" + said, encoding="utf-8")
    assert read_conversation(path).turns[0].user.text == "a ? b"
    path.write_bytes(said.encode().replace(b"\\ud83d", b"\xff"))
    assert read_conversation(path).turns[0].user.text == "a \ufffd b"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not complete JSON"),
        (b'{"messages": [{"versions"', "not complete JSON"),
        (b"\x00\xff", "not complete JSON"),
        (b"[]", "not an LM Studio conversation"),
        (b'{"name": "x"}', "not an LM Studio conversation"),
        (b'{"messages": {}}', "not an LM Studio conversation"),
        (b"3", "not an LM Studio conversation"),
    ],
)
def test_what_is_no_conversation_is_one_line(tmp_path, content, says):
    path = tmp_path / "1.conversation.json"
    path.write_bytes(content)
    with pytest.raises(UnreadableFileError, match=says) as caught:
        read_conversation(path)
    assert "\n" not in str(caught.value)


def test_what_is_not_there_is_one_line(tmp_path):
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(NotFoundError, match="no conversation file"):
            read_conversation(path)


def in_folders(tmp_path):
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    for path in (tmp_path / "2.conversation.json", deep / "1.conversation.json"):
        path.write_text("{}", encoding="utf-8")
    (deep / "notes.json").write_text("{}", encoding="utf-8")
    return deep


def found_in(tmp_path):
    return [path.relative_to(tmp_path).as_posix() for path in conversations(tmp_path)]


def test_chat_folders_are_searched(tmp_path):
    in_folders(tmp_path)
    assert found_in(tmp_path) == ["2.conversation.json", "a/b/1.conversation.json"]


def test_links_are_not_followed(tmp_path):
    deep = in_folders(tmp_path)
    try:
        (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
        (tmp_path / "3.conversation.json").symlink_to(deep / "1.conversation.json")
    except OSError:
        pytest.skip("links need a privilege here")
    assert found_in(tmp_path) == ["2.conversation.json", "a/b/1.conversation.json"]


def test_a_missing_folder_is_not_an_empty_one(tmp_path):
    with pytest.raises(OSError, match="none"):
        list(conversations(tmp_path / "none"))


def places(value, here=()):
    """The path of every value inside a JSON value."""
    yield here
    listed = dict(enumerate(value)) if isinstance(value, list) else value
    for key, inner in listed.items() if isinstance(listed, dict) else ():
        yield from places(inner, (*here, key))


SMALL = {
    "messages": [
        slot(user(text("q"), {"type": "file", "fileIdentifier": "a"}), user(text("r"))),
        slot(
            assistant(
                block(text("t")),
                call("1", url="u"),
                status("1", "toolCallFailed"),
                result("1", json.dumps([text("p")])),
            )
        ),
    ],
    "name": "n",
    "createdAt": 1,
    "lastUsedModel": {"identifier": "m"},
}
SMALL["messages"][0]["versions"][0]["preprocessed"] = {"role": "user", "content": [text("s")]}
PLACES = [place for place in places(SMALL) if place not in ((), ("messages",))]
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(st.lists(st.tuples(st.sampled_from(PLACES), ANYTHING), min_size=1, max_size=4))
def test_any_value_anywhere_below_the_messages_is_read(tmp_path_factory, changed):
    chat = copy.deepcopy(SMALL)
    for place, value in changed:
        at = chat
        try:
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    path = tmp_path_factory.getbasetemp() / "any.conversation.json"
    path.write_text(json.dumps(chat), encoding="utf-8", errors="surrogatepass")
    for turn in read_conversation(path).turns:
        assert all(isinstance(m.text, str) and isinstance(m.args, dict) for m in turn.messages)


def test_the_bundled_chats_are_what_their_sources_say():
    from tests.demo.make_conversations import made

    for path, text in made().items():
        assert path.read_text(encoding="utf-8") == text, (
            f"run make_conversations.py for {path.name}"
        )


def test_the_listing_says_in_which_folder_a_chat_lies(tmp_path):
    for name in ("1", "work/2", "work/deep/3"):
        file = tmp_path / f"{name}.conversation.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}", encoding="utf-8")
    found = LMStudioChats(tmp_path).snapshot()
    assert found.folders == {"1": "", "2": "work", "3": "work/deep"}
