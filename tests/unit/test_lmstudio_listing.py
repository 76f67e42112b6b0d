"""Names of chats out of files of any size, whatever their shape."""

import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from throughline_nb.errors import NotFoundError
from throughline_nb.hosts.lmstudio import listing
from throughline_nb.hosts.lmstudio.listing import NAMELESS, UNREADABLE, chat_name, chats, lines
from throughline_nb.store.home import Home

LONG = "x" * (2 * listing.HEAD_BYTES)


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"name": "Runtimes", "messages": [', "Runtimes"),  # half written
        ('\ufeff{"name": "Runtimes"}', "Runtimes"),
        (
            json.dumps({"systemPrompt": LONG, "name": "Behind a long prompt"}),
            "Behind a long prompt",
        ),
        (json.dumps({"messages": [{"name": "not this"}], "name": "Last"}), "Last"),
        (json.dumps({"messages": [{"name": LONG}], "name": "Last"}), "Last"),
        ('{"a": ' + "[" * 100_000, UNREADABLE),
        ('{"name": null, "messages": []}', NAMELESS),
        ('{"name": 7}', NAMELESS),
        ('{"name": "  "}', NAMELESS),
        ('{"messages": []}', NAMELESS),
        ('{"name": "half \\ud83d"}', "half ?"),
        (json.dumps({"a": LONG})[:-1] + ', "b": "\\ud83d", "name": "Slow"}', "Slow"),
        ("[]", UNREADABLE),
        ("", UNREADABLE),
        ("{", UNREADABLE),
        ('{"name" "x"}', UNREADABLE),
        ("{name: 1}", UNREADABLE),
        (b'{"name": "caf\xe9"}', "caf\ufffd"),
        (b"\x00" * 1000, UNREADABLE),
    ],
)
def test_names(tmp_path, text, name):
    assert chat_name(written(tmp_path / "1.conversation.json", text)) == name


def test_a_file_that_is_gone(tmp_path):
    assert chat_name(tmp_path / "none") == UNREADABLE


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON), st.integers(0, 2), st.booleans())
def test_the_fields_are_those_that_the_json_has(value, indent, ascii_only):
    text = json.dumps(value, indent=indent or None, ensure_ascii=ascii_only)
    assert dict(listing._fields(text)) == value


@given(st.dictionaries(st.text(), JSON, min_size=1), st.integers(min_value=0))
def test_what_is_cut_gives_only_whole_fields(value, cut):
    text = json.dumps(value)
    found = dict(listing._fields(text[: cut % len(text)]))
    assert all(value[name] == each for name, each in found.items())


@given(st.binary(max_size=200))
def test_any_bytes_give_a_name(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "1.conversation.json"
    assert chat_name(written(path, data))


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "conversations"
    (made / "Work" / "Deep").mkdir(parents=True)
    for number, (where, name) in enumerate([("", "Old"), ("Work/Deep", "New"), ("Work", "Middle")]):
        path = made / where / f"{number}.conversation.json"
        path.write_text(json.dumps({"name": name, "messages": []}), encoding="utf-8")
        age = {"Old": 300, "Middle": 200, "New": 100}[name]
        os.utime(path, (time.time() - age, time.time() - age))
    (made / "Work" / "notes.txt").write_text("", encoding="utf-8")
    return made


def state(home, ident, **more):
    file = home.chats / "lmstudio" / ident / "state.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"format": 1, "key": f"lmstudio/{ident}", **more}), encoding="utf-8")


def test_the_list(folder, tmp_path):
    home = Home(tmp_path / "home")
    state(home, "0", project="compare-runtimes")
    state(home, "2", off=True)
    state(home, "9", project="of-a-chat-that-is-gone")
    found = chats(folder, home)
    assert [(chat.name, chat.folder, chat.project, chat.off) for chat in found] == [
        ("New", "Work/Deep", "", False),
        ("Middle", "Work", "", True),
        ("Old", "", "compare-runtimes", False),
    ]
    shown = list(lines(found, folder))
    assert shown[0] == f"3 chats in {folder}, 1 KiB, 1 project."
    assert shown[1].split()[2:] == ["1", "KiB", "-", "Work/Deep/New"]
    assert shown[2].strip() == str(Path("Work", "Deep", "1.conversation.json"))
    assert shown[5].split()[2:] == ["1", "KiB", "compare-runtimes", "Old"]
    assert shown[3].split()[4] == "off"


def test_no_chats(tmp_path):
    (tmp_path / "conversations").mkdir()
    found = chats(tmp_path / "conversations", Home(tmp_path))
    assert list(lines(found, tmp_path)) == [f"No chats yet in {tmp_path}."]


def test_no_folder_is_one_line(tmp_path):
    with pytest.raises(NotFoundError, match="start LM Studio once"):
        chats(tmp_path / "none", Home(tmp_path))


def test_a_name_with_line_breaks_stays_in_its_line(folder, tmp_path):
    written(folder / "8.conversation.json", json.dumps({"name": "a\n\n b"}))
    assert sum("a b" in line for line in lines(chats(folder, Home(tmp_path)), folder)) == 1


def test_a_bar_shows_only_where_it_takes_long(folder, tmp_path, monkeypatch, capsys):
    chats(folder, Home(tmp_path))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(listing, "BAR_SECONDS", 0.05)
    monkeypatch.setattr(listing, "chat_name", lambda path: time.sleep(0.15) or path.name)
    chats(folder, Home(tmp_path))
    assert "chat" in capsys.readouterr().err
