"""``/tl share``, ``/tl sync``, ``throughline-nb clone``: what a person sees and a chat hears."""

import os
import subprocess
import sys

import pytest
from chat_host import ChatHost
from stores import NOW, USER, everything, finding, git

from throughline_nb.engine.session import Engine
from throughline_nb.errors import RefusedError, ThroughLineError
from throughline_nb.store.home import Home

PASSWORD = "hunter22hunter22"


class Machine:
    """An engine with a home of its own, and one chat."""

    def __init__(self, folder, name, ident="1764500000000"):
        self.engine = Engine(Home(folder / name), lambda: self.now)
        self.now = NOW
        self.chat = ChatHost(self.engine, ident)

    def say(self, text):
        self.now += 60
        return self.chat.turn_with(text)

    def command(self, line, project="runtimes"):
        self.now += 60
        return self.engine.command(line, project=project)

    @property
    def project(self):
        return self.engine.projects.find("runtimes")


@pytest.fixture
def pair(tmp_path):
    """Two machines; the project of the first is shared and open in a chat of each."""
    from throughline_nb.engine.sharing import cloned

    first, second = Machine(tmp_path, "a"), Machine(tmp_path, "b")
    first.say("/tl start Compare seven runtimes")
    first.say("/tl rename runtimes")
    for _ in range(2):
        first.say(f"/tl share {tmp_path / 'remote'}")
    assert cloned(second.engine, str(tmp_path / "remote")).name == "runtimes"
    second.say("/tl open runtimes")
    return first, second


def test_nothing_is_sent_before_it_is_said_again(tmp_path):
    first = Machine(tmp_path, "a")
    first.say("/tl start Compare seven runtimes")
    first.say("/tl rename runtimes")
    first.chat.say("go")
    first.chat.tool("ledger_record", kind="finding", text="the port is 11434")
    first.chat.tool("ledger_record", kind="finding", text="the port is 1", source="user")
    project = first.project
    project.change(lambda led: _retract(led, "F2"), USER)
    path = project.path / "ledger.md"
    path.write_text(path.read_text("utf-8").replace("11434", "11435"), "utf-8")
    told = first.command(f"share {tmp_path / 'remote'}")
    assert told.text.startswith(
        "Your edit of ledger.md was merged: F1 changed. Nothing is sent yet"
    )
    assert "Nothing is sent yet" in told.text
    assert f"/tl share {tmp_path / 'remote'}" in told.text
    assert not (tmp_path / "remote").exists()
    for words in ("hand edit, as typed", "retracted findings: F2", "lmstudio/1764500000000"):
        assert words in told.shown
    done = first.command(f"share {tmp_path / 'remote'}")
    assert done.text.startswith("Synced with")
    assert "F1" in done.text
    assert git(tmp_path / "remote", "rev-parse", "main").strip() == project.repo.head()
    again = first.command(f"share {tmp_path / 'remote'}")
    assert "nothing new on either side" in again.text


def _retract(ledger, ident):
    from throughline_nb.ledger import edits
    from throughline_nb.ledger.edits import By

    done = edits.retract(ledger, ident, By("user"), "it was wrong")
    return done.ledger, done.sentence


def test_a_yes_to_one_place_is_none_to_another(tmp_path):
    first = Machine(tmp_path, "a")
    first.say("/tl start Compare seven runtimes")
    first.say("/tl rename runtimes")
    first.command(f"share {tmp_path / 'one'}")
    assert "Nothing is sent" in first.command(f"share {tmp_path / 'two'}").text
    assert "Synced" in first.command(f"share {tmp_path / 'one'}").text
    first.now += 7000  # a yes does not wait for ever
    told = first.command(f"share {tmp_path / 'two'}").text
    assert "Nothing is sent yet" in told
    assert "takes the place of the remote" in told
    assert "Synced" in first.command(f"share {tmp_path / 'two'}").text
    assert first.project.remotes() == ["origin"]
    first.command("constraint Only primary sources count")
    first.command("sync")
    assert "C1" in git(tmp_path / "two", "log", "--format=%s", "main")
    assert "C1" not in git(tmp_path / "one", "log", "--format=%s", "main")


def test_what_a_sync_says_and_the_chats_hear(pair):
    first, second = pair
    first.chat.say("go")
    first.chat.tool("ledger_record", kind="finding", text="the port is 11434")
    second.chat.say("go")
    second.chat.tool("ledger_record", kind="finding", text="the default is 4,096")
    assert "1 to send: /tl sync" in first.say("what now?").status
    first.say("/tl sync")
    assert "to send" not in first.say("what now?").status
    said = second.say("/tl sync").text
    assert "came: F1 added" in said
    assert "renumbered: F1 is now F2" in said
    heard = second.say("what now?")
    assert "Shared changes were merged: F1 added (renumbered: F1 is now F2)" in heard.text
    assert "[throughLine: background state" in heard.text
    assert "the port is 11434" in heard.text  # a digest, not a header
    assert "the port is 11434" not in second.say("and now?").text


def test_every_chat_of_the_project_gets_a_digest(pair):
    first, second = pair
    other = ChatHost(second.engine, "1764500000001")
    other.turn_with("/tl open runtimes")
    other.turn_with("hello")
    first.chat.say("go")
    first.chat.tool("ledger_record", kind="finding", text="the port is 11434")
    first.say("/tl sync")
    second.say("/tl sync")
    assert "the port is 11434" in other.turn_with("hello").text


def test_undo_takes_back_a_change_and_not_a_merge(pair):
    first, second = pair
    for machine, text in ((first, "of the first"), (second, "of the second")):
        machine.chat.say("go")
        machine.chat.tool("ledger_record", kind="finding", text=text)
        machine.say("/tl sync")
    assert second.project.history(1)[0].actor == "engine"
    assert "Undone" in second.say("/tl undo").text
    assert [e.text for e in second.project.read().ledger.findings] == ["of the first"]


def test_sync_without_a_remote(tmp_path):
    first = Machine(tmp_path, "a")
    first.say("/tl start Compare seven runtimes")
    first.say("/tl rename runtimes")
    with pytest.raises(RefusedError, match="is not shared; nothing was sent: /tl share"):
        first.command("sync")
    with pytest.raises(ThroughLineError, match="allowed: --bundle FILE, or nothing"):
        first.command("sync now")


def test_a_secret_in_an_address_goes_nowhere(tmp_path):
    first = Machine(tmp_path, "a")
    first.say("/tl start Compare seven runtimes")
    out = first.say(f"/tl share https://someone:{PASSWORD}@example.org/x.git")
    assert "holds a password" in out.text
    assert PASSWORD not in out.text + out.status
    kept = [path for path in (tmp_path / "a").rglob("*") if path.is_file()]
    assert not [path for path in kept if PASSWORD.encode() in path.read_bytes()]


def test_what_was_removed_for_good_does_not_come_back(pair, tmp_path):
    first, second = pair
    secret = "the staging token is tr0ub4dor"
    first.chat.say("go")
    first.chat.tool("ledger_record", kind="finding", text=secret)
    first.chat.tool("ledger_record", kind="finding", text="an ordinary claim")
    first.say("/tl sync")
    second.say("/tl sync")
    for _ in range(2):
        first.command("purge F1")
    assert b"tr0ub4dor" not in everything(first.project.path)
    second.project.change(finding("of the second"), USER)
    second.say("/tl sync")
    told = first.command("sync").text
    assert "F1 was removed for good here; the remote still has it" in told
    assert "say /tl sync again" in told
    found = [e.text for e in first.project.read().ledger.findings]
    assert found == ["an ordinary claim", "of the second"]
    assert b"tr0ub4dor" not in everything(first.project.path)
    assert b"tr0ub4dor" in everything(tmp_path / "remote")
    first.command("sync")
    assert "tr0ub4dor" not in git(tmp_path / "remote", "log", "-p", "main")
    out = second.say("/tl sync").text
    assert "F1 was removed for good on another machine" in out
    assert [e.text for e in second.project.read().ledger.findings] == found
    assert "tr0ub4dor" not in git(second.project.path, "log", "-p", "main")
    for machine in (first, second):
        assert "nothing new" in machine.command("sync").text


def test_an_id_that_was_purged_before_it_left_is_another_machines(pair):
    first, second = pair
    first.chat.say("go")
    first.chat.tool("ledger_record", kind="finding", text="the staging token is tr0ub4dor")
    for _ in range(2):
        first.command("purge F1")
    second.chat.say("go")
    second.chat.tool("ledger_record", kind="finding", text="the port is 11434")
    second.say("/tl sync")
    first.command("sync")
    path = first.project.path / "ledger.md"
    path.write_text(path.read_text("utf-8").replace("11434", "11435"), "utf-8")
    first.command("status")
    assert [e.text for e in first.project.read().ledger.findings] == ["the port is 11435"]


def test_bundles_there_and_back(pair, tmp_path):
    first, second = pair
    file = tmp_path / "to b.bundle"
    first.project.change(finding("of the first"), USER)
    second.project.change(finding("of the second"), USER)
    said = first.command(f"share --bundle {file}")
    assert str(file) in said.text
    assert "versions of ledger.md" in said.shown
    done = second.command(f"sync --bundle {file}")
    assert done.text.startswith("Merged from to b.bundle: came: F")
    second.command(f"share --bundle {tmp_path / 'back.bundle'}")
    first.command(f"sync --bundle={tmp_path / 'back.bundle'}")
    for machine in (first, second):
        assert len(machine.project.read().ledger.findings) == 2
    assert first.project.read().ledger == second.project.read().ledger
    for line in ("share --bundle", "sync --bundle /no/such/file", f"share --bundle {tmp_path}"):
        with pytest.raises(ThroughLineError):
            first.command(line)
    (tmp_path / "letter").write_text("dear", "utf-8")
    with pytest.raises(ThroughLineError, match="is no bundle"):
        first.command(f"share --bundle {tmp_path / 'letter'}")
    assert (tmp_path / "letter").read_text("utf-8") == "dear"


def test_bundles_crosswise_agree_without_a_server(pair, tmp_path):
    first, second = pair
    first.project.change(finding("of the first"), USER)
    second.project.change(finding("of the second"), USER)
    first.command(f"share --bundle {tmp_path / 'a.bundle'}")
    second.command(f"share --bundle {tmp_path / 'b.bundle'}")
    first.command(f"sync --bundle {tmp_path / 'b.bundle'}")
    second.command(f"sync --bundle {tmp_path / 'a.bundle'}")
    assert first.project.read().ledger == second.project.read().ledger
    first.command("sync")
    second.command("sync")
    first.command("sync")
    assert first.project.read().ledger == second.project.read().ledger
    assert first.project.repo.head() == second.project.repo.head()


def test_a_bundle_is_cloned_and_is_not_shared(pair, tmp_path):
    from throughline_nb.engine.sharing import cloned

    first, _ = pair
    first.command(f"share --bundle {tmp_path / 'x.bundle'}")
    third = Machine(tmp_path, "c")
    cloned(third.engine, str(tmp_path / "x.bundle"), "Seven")
    made = third.engine.projects.find("seven")
    assert made.remotes() == []
    assert made.read().ledger.goal == "Compare seven runtimes"
    git(tmp_path, "clone", "-q", "x.bundle", "plain")
    assert (tmp_path / "plain" / "ledger.md").exists()


def test_a_chat_that_fails_to_sync_is_told_in_one_sentence(pair, tmp_path):
    first, _ = pair
    (tmp_path / "remote").rename(tmp_path / "away")
    out = first.say("/tl sync")
    assert "did not work" in out.text
    assert "is not there; nothing was changed" in out.text
    report = first.command("doctor")
    assert "is not there" in report.shown
    assert "is shared with" in report.shown
    (tmp_path / "away").rename(tmp_path / "remote")
    assert "The last sync failed" in first.command("doctor").shown
    first.command("sync")
    assert "The last sync failed" not in first.command("doctor").shown


def run(folder, *arguments, ok=True):
    done = subprocess.run(
        [sys.executable, "-m", "throughline_nb", *map(str, arguments)],
        capture_output=True, text=True, check=False, cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"}, encoding="utf-8",
    )  # fmt: skip
    assert (done.returncode == 0) is ok, done.stderr
    return done.stdout if ok else done.stderr


def test_at_the_command_line(tmp_path):
    a, b = ("--home", tmp_path / "a"), ("--home", tmp_path / "b")
    named = ("--project", "compare-seven-runtimes")
    run(tmp_path, *a, "start", "Compare", "seven", "runtimes")
    assert "Nothing is sent yet" in run(tmp_path, *a, *named, "share", "remote")
    assert "throughline-nb share" in run(tmp_path, *a, *named, "share", "other place")
    assert "Synced with" in run(tmp_path, *a, *named, "share", "remote")
    assert "throughline-nb open compare-seven-runtimes" in run(tmp_path, *b, "clone", "remote")
    run(tmp_path, *b, *named, "constraint", "Only primary sources count")
    assert "went: C1 added" in run(tmp_path, *b, *named, "sync")
    assert "came: C1 added" in run(tmp_path, *a, *named, "sync")
    assert "x.bundle" in run(tmp_path, *a, *named, "share", "--bundle", "x.bundle")
    assert "named" in run(tmp_path, *b, "clone", "x.bundle", "named")
    assert "nothing new" in run(tmp_path, *b, "--project", "named", "sync", "--bundle", "x.bundle")
    refused = run(tmp_path, *b, "clone", "ext::sh -c x", ok=False)
    assert refused.startswith("throughline-nb: ")
    assert "helper program" in refused
    assert "Traceback" not in refused


def test_progress_is_told(pair, monkeypatch):
    first, second = pair
    seen = []
    first.engine.watch = lambda *args: seen.append(args)
    for n in range(40):
        first.project.change(finding(f"claim {n}"), USER)
    first.command("sync")
    second.command("sync")
    assert any(what == "writing objects" and done == total for what, done, total in seen)
