"""A stored chat played turn by turn: what is handed in, executed, kept and shown."""

import json
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from throughline_nb.chat import Message
from throughline_nb.engine.session import Engine
from throughline_nb.errors import NotFoundError, UnreadableFileError
from throughline_nb.hosts.lmstudio.files import read_conversation
from throughline_nb.hosts.replay import Clock, Player, Screen, replay, replay_file
from throughline_nb.ledger.fence import CLOSING, OPENING, has_digest
from throughline_nb.store.home import Home

CHATS = Path(__file__).parents[1] / "data" / "conversations" / "Runtime research"
FIRST = CHATS / "1764500000000.conversation.json"


class Seen(Engine):
    """An engine that remembers what it was handed."""

    def __init__(self, home, clock):
        super().__init__(home, clock)
        self.histories = []
        self.called = []

    def turn(self, key, text, history, *, settings=None):
        self.histories.append((history.turn, history.changed, list(history.messages(1))))
        return super().turn(key, text, history, settings=settings)

    def call(self, key, name, given):
        result = super().call(key, name, given)
        self.called.append((name, dict(given), result))
        return result


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The bundled chat, played once: engine, outcomes by turn, and the lines on the screen."""
    lines, outcomes = [], {}
    conversation = read_conversation(FIRST)
    clock = Clock(conversation.created)
    engine = Seen(Home(tmp_path_factory.mktemp("home")), clock)
    player = Player(engine, conversation, Screen(lines.append), clock)
    for turn in conversation.turns:
        outcomes[turn.turn] = player.play(turn)
    return engine, outcomes, lines


def ledger(engine):
    return engine.projects.find("llm-runtimes").read().ledger


def test_history_is_handed_in_turn_by_turn_and_only_what_is_new(played):
    engine, _, _ = played
    assert [(turn, changed) for turn, changed, _ in engine.histories] == [
        (done, max(done, 1)) for done in range(26)
    ]
    assert engine.histories[0][2] == []
    assert engine.histories[1][2][0].text.startswith("Compare seven")


def test_what_was_added_stands_in_the_history_of_the_next_turns(played):
    engine, outcomes, _ = played
    last = engine.histories[-1][2]
    users = {message.turn: message.text for message in last if message.role == "user"}
    assert users[3] == outcomes[3].text
    assert has_digest(users[3])
    assert users[4].startswith("[throughLine: ")  # a command, as the model got it
    assert OPENING not in users[9]  # edited afterwards: no hook adds anything to it
    assert users[9].startswith("What about TensorRT-LLM?")


def test_results_in_the_history_are_those_of_the_calls_executed(played):
    engine, _, _ = played
    last = engine.histories[-1][2]
    tools = [m for m in last if m.role == "tool" and m.tool.startswith("ledger_")]
    assert tools
    assert "Recorded." not in [message.text for message in tools]
    assert {message.text for message in tools} <= {result for _, _, result in engine.called}
    pages = [m for m in last if m.tool == "read_webpage" and m.role == "tool"]
    assert all("4096" in page.text or "#" in page.text for page in pages)


def test_each_version_of_a_regenerated_answer_is_executed_in_its_order(played):
    engine, _, _ = played
    recorded = [
        (given["source"], result.splitlines()[0])
        for name, given, result in engine.called
        if name == "ledger_record" and "SGLang takes" in given.get("text", "")
    ]
    assert [source for source, _ in recorded] == [
        "https://blog.example.com/sglang-tips",
        "https://sglang.example.net/docs/server_arguments",
    ]
    finding = ledger(engine).get("F6")
    assert (finding.source, finding.state) == (recorded[1][0], "verified")
    selected = [m for m in engine.histories[-1][2] if m.turn == 7 and m.tool == "web_search"]
    assert selected == []  # the first answer is not in the chat any more


def test_the_ledger_that_comes_of_it(played):
    engine, _, _ = played
    found = ledger(engine)
    assert found.goal.startswith("Compare seven LLM inference runtimes")
    assert [c.text[:20] for c in found.constraints] == ["Only primary sources"]
    assert {step.status for step in found.plan} == {"done"}
    states = {finding.id: (finding.state, finding.missing) for finding in found.findings}
    assert states["F1"] == ("verified", "")
    assert states["F2"] == ("verified", "")  # its figure stands on the page given later
    assert states["F3"] == ("verified", "")  # read anew after the decision
    assert states["F4"] == ("not read", "")
    assert states["F5"][0] == "retracted"
    assert states["F9"] == ("verified", "")  # a file that was attached
    assert (found.decisions[0].because, found.decisions[0].suspect) == ("F3, F6", "")
    assert [question.answer != "" for question in found.questions] == [True, True]
    assert found.proposals == ()
    assert "birthday" not in repr(found)


def test_pages_of_all_turns_before_the_start_count_as_read(played):
    engine, _, _ = played
    records = engine.projects.find("llm-runtimes").history(0x7FFF)
    verified = next(r.version for r in reversed(records) if "F1" in r.subject and r.turn == 4)
    then = engine.projects.find("llm-runtimes").at(verified).ledger
    assert [(f.id, f.state, f.missing) for f in then.findings] == [
        ("F1", "verified", ""),
        ("F2", "verified", "32,000"),
        ("F3", "verified", ""),
        ("F4", "not read", ""),
        ("F5", "unverified", ""),
    ]


def test_refusals_are_one_line_and_leave_no_trace(played):
    engine, _, _ = played
    refused = [result for _, _, result in engine.called if result.startswith("Not done")]
    assert len(refused) == 3
    assert all("\n" not in result for result in refused)
    told = " ".join(refused)
    for part in ("personal fact", "nothing was recorded during it", "'fact'"):
        assert part in told


def test_other_commands_and_questions(played):
    _, outcomes, _ = played
    assert outcomes[19].text == "/compact"
    assert "llm-runtimes" in outcomes[8].text
    assert "started by itself" in outcomes[3].status
    assert outcomes[26].text.rstrip().endswith(CLOSING)


def test_what_the_screen_shows(played):
    _, _, lines = played
    shown = "\n".join(lines)
    for part in (
        "── Turn 26 ─",
        "     tools  none",
        "     tools  ledger_view, ledger_plan, ledger_record, ledger_resolve",
        "    status  throughLine: llm-runtimes, step 2 of 7",
        "  attached  mlx-lm-notes.txt",
        " edited to  What about TensorRT-LLM?",
        "(answer 2 of 2)",
        "calls  visit_website, fetch (failed), web_search",
        f"│ {CLOSING}",
        "│ F1 added: llama.cpp is MIT-licensed",
    ):
        assert part in shown
    assert all(len(line) <= 100 for row in lines for line in row.splitlines())
    assert "\033" not in shown


def test_colour_only_where_the_terminal_wants_it(monkeypatch):
    class Terminal:
        @staticmethod
        def isatty():
            return True

    def painted():
        lines = []
        Screen.standard(lines.append).heading("x")
        return "\033" in lines[0]

    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    assert not painted()
    monkeypatch.setattr("sys.stdout", Terminal())
    assert painted()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not painted()


def test_a_brief_screen_cuts_what_a_whole_one_wraps():
    long = "word " * 60
    brief, whole = [], []
    Screen(brief.append, brief=True).block(long)
    Screen(whole.append).block(long)
    assert len(brief) == 1
    assert brief[0].endswith("…")
    assert " ".join(line.partition("│ ")[2] for line in whole).split() == long.split()


def test_a_temporary_home_is_gone_afterwards(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    lines = []
    replay_file(CHATS / "1764590000000.conversation.json", None, lines.append)
    assert any("/tl list" in line for line in lines)
    assert list(tmp_path.iterdir()) == []


def test_a_home_that_was_given_keeps_the_project(tmp_path):
    replay_file(FIRST, Home(tmp_path / "home"), lambda _: None)
    assert (tmp_path / "home" / "projects" / "llm-runtimes" / "ledger.md").is_file()


def test_what_could_not_be_read_is_told(tmp_path):
    lines = []
    conversation = read_conversation(FIRST)
    clock = Clock(1.0)
    engine = Engine(Home(tmp_path), clock)
    few = type(conversation)(
        conversation.key, "", None, "", conversation.turns[:1], conversation.skipped
    )
    replay(few, engine, Screen(lines.append), clock)
    assert "Not understood and left out: step toolApprovalBlock ×1" in lines
    assert "(no name)" in lines[0]


def test_the_command_line_plays_a_file(tmp_path):
    from throughline_nb.hosts.cli import cli

    home = ["--home", str(tmp_path / "home")]
    done = CliRunner().invoke(cli, [*home, "replay", str(FIRST)])
    assert done.exit_code == 0, done.output
    assert "throughLine: llm-runtimes" in done.output
    listed = CliRunner().invoke(cli, [*home, "list"])
    assert "llm-runtimes" in listed.output


def test_a_file_that_is_none_is_one_line(tmp_path):
    with pytest.raises(NotFoundError):
        replay_file(tmp_path / "none.json", None, lambda _: None)
    path = tmp_path / "1.conversation.json"
    path.write_text(json.dumps([1]), encoding="utf-8")
    with pytest.raises(UnreadableFileError):
        replay_file(path, None, lambda _: None)


def test_an_answer_without_its_project_is_played_too(tmp_path):
    """A call of a ledger tool in a chat that has no project gets one line, and nothing breaks."""
    message = {"type": "text", "text": "hello"}
    call = {"type": "toolCallRequest", "callId": "1", "name": "ledger_view", "parameters": {}}
    chat = {
        "messages": [
            {"versions": [{"role": "user", "content": [message]}], "currentlySelected": 0},
            {
                "versions": [
                    {"role": "assistant", "steps": [{"type": "contentBlock", "content": [call]}]}
                ],
                "currentlySelected": 0,
            },
        ]
    }
    path = tmp_path / "2.conversation.json"
    path.write_text(json.dumps(chat), encoding="utf-8")
    lines = []
    replay_file(path, Home(tmp_path / "home"), lines.append)
    assert any("Not done: This chat has no project" in line for line in lines)
    left = [file.name for file in (tmp_path / "home").rglob("*") if file.is_file()]
    assert left == []  # a chat with no project leaves nothing on disk


def test_messages_are_the_records_of_the_engine(played):
    engine, _, _ = played
    assert all(isinstance(message, Message) for message in engine.histories[-1][2])
