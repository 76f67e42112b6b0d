"""A disk that is full, a home that cannot be written, and chats that were deleted."""

import os
import stat
import sys
import time

import pytest
from bridge_plugin import Conversation, Plugin

from throughline_nb.hosts.lmstudio.files import SUFFIX

POSIX = pytest.mark.skipif(os.name == "nt", reason="limits and rights of POSIX")

MAIN = """
from throughline_nb.hosts.cli import main
sys.argv = ["throughline-nb", "bridge"]
main()
"""

FULL = (
    """
import os, resource, signal, sys
from throughline_nb.engine.session import Engine
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
before = resource.getrlimit(resource.RLIMIT_FSIZE)
def limited(real):
    def call(self, *given, **named):
        full = os.path.exists(os.environ["FULL"])
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]) if full else before)
        return real(self, *given, **named)
    return call
Engine.turn, Engine.call = limited(Engine.turn), limited(Engine.call)
"""
    + MAIN
)

NO_RIGHTS = (
    """
import ctypes, os, sys
if os.geteuid() == 0:  # an administrator like all others: without CAP_DAC_OVERRIDE, bit 1
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(24, 1, 0, 0, 0) == 0
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    sets[0] &= ~2
    sets[1] &= ~2
    assert libc.capset(header, sets) == 0
"""
    + MAIN
)


@POSIX
def test_a_full_disk_stops_no_chat_and_is_told(tmp_path):
    full = tmp_path / "disk-is-full"
    command = [sys.executable, "-c", FULL]
    with Plugin(tmp_path, command=command, env={"FULL": str(full)}) as plugin:
        chat = Conversation(plugin)
        chat.exchange("/tl start Compare servers")
        chat.exchange("First")
        full.touch()
        told = chat.say("Second")
        assert told["text"].startswith("Second\n\n[throughLine: ")
        assert "large" in told["status"] or "space" in told["status"]
        claim = {"kind": "finding", "text": "Port 8,471", "source": "https://example.org/a"}
        assert chat.tool("ledger_record", **claim).startswith("Not done: ")
        chat.tool("read_webpage", "The server listens on port 8,471.", url="https://example.org/a")
        chat.answer()
        failed = chat.exchange("/tl goal Compare clients")["text"]
        assert "did not work" in failed
        chat.exchange("Third")
        full.unlink()
        assert chat.say("Fourth")["status"] == "throughLine: compare-servers"
        assert "F1" in chat.tool("ledger_record", **claim)
        chat.answer()
        chat.exchange("Fifth")
        ledger = chat.call("ledger_view")
        assert "F1. Port 8,471 (verified; source https://example.org/a)" in ledger
        assert "Compare clients" not in ledger
        assert plugin.end() == 0
        assert plugin.stderr == ""


@POSIX
@pytest.mark.skipif(sys.platform != "linux" and os.geteuid() == 0, reason="capabilities of Linux")
def test_a_home_that_can_only_be_read(tmp_path):
    with Plugin(tmp_path) as plugin:
        chat = Conversation(plugin)
        chat.exchange("/tl start Compare servers")
        chat.exchange("First")
        assert plugin.end() == 0
    set_rights(plugin.home, writable=False)
    try:
        with Plugin(tmp_path, command=[sys.executable, "-c", NO_RIGHTS]) as plugin:
            chat.plugin = plugin
            told = chat.exchange("Second")
            assert told["text"].startswith("Second\n\n[throughLine: ")
            assert "Compare servers" in told["text"]
            assert "permission denied" in told["status"].lower()
            assert "ledger_record" in chat.offered()
            assert "Compare servers" in chat.call("ledger_view")
            refused = chat.call("ledger_record", kind="question", text="Which?")
            assert refused.startswith("Not done: ")
            assert "did not work" in chat.exchange("/tl goal x")["text"]
            fresh = Conversation(plugin, "another")
            assert fresh.exchange("hello") | {"held": None} == {
                "text": "hello", "status": "", "name": "", "held": None,
            }  # fmt: skip
            assert "did not work" in fresh.exchange("/tl start Another")["text"]
            assert plugin.end() == 0
            assert plugin.stderr == ""
    finally:
        set_rights(plugin.home, writable=True)
    with Plugin(tmp_path) as plugin:
        chat.plugin = plugin
        assert chat.exchange("Third")["status"] == "throughLine: compare-servers"


def set_rights(folder, *, writable):
    write = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
    for path in (folder, *folder.rglob("*")):
        mode = path.stat().st_mode
        path.chmod(mode | stat.S_IWUSR if writable else mode & ~write)


def test_a_home_that_cannot_be_made(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"")
    with Plugin(tmp_path, env={"THROUGHLINE_HOME": str(file / "home")}) as plugin:
        chat = Conversation(plugin)
        assert chat.exchange("hello")["text"] == "hello"
        failed = chat.exchange("/tl start Compare servers")["text"]
        assert "did not work" in failed
        assert "THROUGHLINE_HOME" in failed or "could not be" in failed
        assert chat.offered() == []
        assert plugin.end() == 0
        assert plugin.stderr == ""


def conversations(tmp_path, *idents):
    folder = tmp_path / ".lmstudio" / "conversations" / "a folder"
    folder.mkdir(parents=True, exist_ok=True)
    for ident in idents:
        (folder / f"{ident}{SUFFIX}").write_bytes(b"{}")
    return folder


def test_what_belonged_to_deleted_chats_goes_when_the_engine_starts(tmp_path):
    folder = conversations(tmp_path, "1", "2")
    with Plugin(tmp_path) as plugin:
        for ident in ("1", "2"):
            Conversation(plugin, ident).exchange(f"/tl start Project of {ident}")
        assert plugin.end() == 0
    (folder / f"1{SUFFIX}").unlink()
    with Plugin(tmp_path) as plugin:
        wait_for(lambda: not (plugin.home / "chats" / "lmstudio" / "1").exists())
        assert (plugin.home / "chats" / "lmstudio" / "2" / "state.json").exists()
        index = plugin.home / "index.json"
        wait_for(lambda: "project-of-1" in index.read_text(encoding="utf-8"))


def test_without_a_folder_of_conversations_nothing_is_deleted(tmp_path):
    with Plugin(tmp_path) as plugin:
        Conversation(plugin, "1").exchange("/tl start Project of 1")
        assert plugin.end() == 0
    with Plugin(tmp_path) as plugin:
        Conversation(plugin, "1").exchange("hello")
        assert plugin.end() == 0
    assert (plugin.home / "chats" / "lmstudio" / "1" / "state.json").exists()


def wait_for(true, seconds=15):
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.02)
