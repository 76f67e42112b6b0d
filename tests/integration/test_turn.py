"""What happens on a user's message, with the real store and git, in the order of the design."""

import json

import pytest
from chat_host import ChatHost

from throughline_nb.chat import ChatKey, History
from throughline_nb.engine.session import Engine
from throughline_nb.errors import ThroughLineError
from throughline_nb.ledger.fence import CLOSING, OPENING, has_digest, tokens
from throughline_nb.store.home import Home

URL = "https://example.org/llama"


@pytest.fixture
def clock():
    class Clock:
        now = 1_792_238_400.0

        def __call__(self):
            Clock.now += 1
            return Clock.now

    return Clock()


@pytest.fixture
def engine(tmp_path, clock):
    return Engine(Home(tmp_path / "home"), clock)


@pytest.fixture
def chat(engine):
    return ChatHost(engine)


@pytest.fixture
def bound(chat):
    chat.say("/tl start Compare license and default context of seven inference runtimes")
    chat.answer("Started.")
    return chat


def ledger_of(engine, name=None):
    return engine.projects.open(name or engine.projects.names()[0]).read().ledger


def on_disk(engine):
    return sorted(
        p.relative_to(engine.home.path).as_posix()
        for p in engine.home.path.rglob("*")
        if p.is_file()
    )


def test_no_chat_id_leaves_the_message_untouched(engine):
    assert engine.turn(None, "/tl start x", History(0, 1, lambda _: ())).text == "/tl start x"
    assert engine.tools(None) == ()


def test_a_short_chat_with_no_project_leaves_nothing(engine, chat):
    for n in range(5):
        outcome = chat.turn_with(f"Message {n}", calls=2)
        assert (outcome.text, outcome.status) == (f"Message {n}", "")
    assert engine.tools(chat.key) == ()
    assert on_disk(engine) == []


def test_start_binds_names_the_chat_and_offers_the_tools(engine, chat):
    outcome = chat.say("/tl start Compare seven inference runtimes")
    assert outcome.name == "compare-seven-inference-runtimes"
    assert outcome.text.startswith('[throughLine: "/tl start Compare seven inference runtimes" was')
    assert outcome.text.endswith(CLOSING)
    assert outcome.status == "throughLine: compare-seven-inference-runtimes"
    assert [tool.name for tool in engine.tools(chat.key)] == [
        "ledger_view",
        "ledger_plan",
        "ledger_record",
        "ledger_resolve",
    ]
    assert ledger_of(engine).goal == "Compare seven inference runtimes"


def test_the_first_message_after_binding_gets_the_digest_then_headers(bound):
    first = bound.turn_with("Let us begin.")
    assert first.text.startswith("Let us begin.\n\n" + OPENING)
    assert has_digest(first.text)
    second = bound.turn_with("Go on.")
    assert not has_digest(second.text)
    assert OPENING in second.text
    assert tokens(second.text) < 150


def test_the_digest_returns_when_the_last_one_is_far_back(bound):
    bound.turn_with("Begin.")
    assert not has_digest(bound.say("More.").text)
    bound.answer("word " * 6000)
    assert has_digest(bound.say("And now?").text)
    bound.answer()
    assert not has_digest(bound.say("Next.").text)


def test_the_digest_returns_when_it_was_edited_away(bound):
    bound.turn_with("Begin.")
    bound.turn_with("More.")
    message = bound.turns[1][0]
    bound.turns[1][0] = type(message)(turn=2, role="user", text="Begin differently.")
    bound.changed = 2
    assert has_digest(bound.say("Next.").text)


def test_the_digest_returns_when_goal_or_constraint_change(bound):
    bound.turn_with("Begin.")
    bound.turn_with("Go on.")
    bound.say("/tl constraint Only primary sources count.")
    outcome = bound.say("And?")
    assert has_digest(outcome.text)
    assert "C1 added" in outcome.text
    assert "Only primary sources count." in outcome.text


def test_what_changed_is_said_once(bound):
    bound.turn_with("Begin.")
    bound.say("Record it.")
    bound.tool("ledger_record", kind="finding", text="It defaults to 4,096.", source="user")
    bound.answer()
    assert "Changed since last turn: F1 added" in bound.say("Next.").text
    bound.answer()
    assert "Changed since last turn" not in bound.say("Next.").text


def test_a_source_is_verified_on_the_next_turn(engine, bound):
    bound.say("Read the page.")
    bound.tool("read_webpage", "The default context is 4096 tokens.", url=URL)
    answer = bound.tool(
        "ledger_record", kind="finding", text="It defaults to 4,096, at most 8,192.", source=URL
    )
    assert "unverified" in answer
    bound.tool("ledger_record", kind="finding", text="It is MIT.", source="https://example.org/no")
    bound.answer()
    outcome = bound.say("Next.")
    first, second = ledger_of(engine).findings
    assert (first.state, first.missing) == ("verified", "8,192")
    assert second.state == "not read"
    assert "F1: 8,192 not in its source" in outcome.text
    record = engine.projects.open(engine.projects.names()[0]).history(1)[0]
    assert record.actor == "engine"


def test_a_figure_that_was_missing_is_found_when_the_page_is_read_again(engine, bound):
    bound.say("Read the page.")
    bound.tool("read_webpage", "The default context is 4096 tokens.", url=URL)
    bound.tool("ledger_record", kind="finding", text="It is 4,096, at most 8,192.", source=URL)
    bound.answer()
    bound.say("Read the rest.")
    assert ledger_of(engine).findings[0].missing == "8,192"
    bound.tool("read_webpage", "Its maximum is 8192.", url=URL)
    bound.answer()
    bound.say("Next.")
    assert ledger_of(engine).findings[0].missing == ""


def test_a_failed_page_proves_nothing(engine, bound):
    bound.say("Read the page.")
    bound.tool("fetch", "404 not found", failed=True, url=URL)
    bound.tool("ledger_record", kind="finding", text="It is MIT.", source=URL)
    bound.answer()
    bound.say("Next.")
    assert ledger_of(engine).findings[0].state == "not read"


def test_another_chat_may_promote_but_not_demote(engine, bound):
    bound.say("Note it.")
    bound.tool("ledger_record", kind="finding", text="It is MIT.", source=URL)
    bound.answer()
    other = ChatHost(engine, "1764500000001")
    other.say(f"/tl open {engine.projects.names()[0]}")
    other.turn_with("Hello.")
    assert ledger_of(engine).findings[0].state == "unverified"
    other.say("Read it.")
    other.tool("read_webpage", "MIT license.", url=URL)
    other.answer()
    other.say("Done?")
    assert ledger_of(engine).findings[0].state == "verified"


def test_pages_read_before_the_project_began_count(engine, chat):
    chat.say("Read it.")
    chat.tool("read_webpage", "MIT license.", url=URL)
    chat.answer()
    chat.say("/tl start Licenses")
    chat.answer()
    chat.say("Note it.")
    chat.tool("ledger_record", kind="finding", text="It is under MIT.", source=URL)
    chat.answer()
    chat.say("Next.")
    assert ledger_of(engine).findings[0].state == "verified"


def test_two_heavy_turns_start_a_project_and_a_command_does_not_break_the_run(engine, chat):
    chat.turn_with("Compare licenses of seven runtimes, please", calls=3)
    chat.say("/tl list")
    chat.answer()
    chat.turn_with("Go on", calls=4)
    outcome = chat.say("And then?")
    assert engine.projects.names() == ["compare-licenses-of-seven-runtimes-please"]
    assert "/tl accept P1" in outcome.status
    assert "/tl off" in outcome.status
    ledger = ledger_of(engine)
    assert ledger.goal == ""
    assert ledger.proposals[0].proposes == ("goal", "Compare licenses of seven runtimes, please")
    chat.say("/tl accept P1")
    assert ledger_of(engine).goal == "Compare licenses of seven runtimes, please"


@pytest.mark.parametrize("calls", [(3, 2, 3), (2, 3), (3,)])
def test_other_runs_start_nothing(engine, chat, calls):
    for n in calls:
        chat.turn_with("Compare licenses", calls=n)
    chat.say("And then?")
    assert engine.projects.names() == []


def test_off_deletes_a_false_start_and_stops_the_automatic_one(engine, chat):
    for _ in range(2):
        chat.turn_with("Compare licenses", calls=3)
    chat.say("And then?")
    chat.say("/tl off")
    assert engine.projects.names() == []
    chat.answer()
    for _ in range(3):
        outcome = chat.turn_with("More", calls=3)
    assert engine.projects.names() == []
    assert outcome.text == "More"
    assert on_disk(Engine(engine.home))[:1] == [f"chats/lmstudio/{chat.key.id}/state.json"]


def test_off_keeps_a_project_with_something_in_it(engine, bound):
    bound.say("/tl off")
    assert len(engine.projects.names()) == 1


def test_two_turns_of_work_without_a_record_bring_one_reminder(bound):
    bound.turn_with("Begin.", calls=1)
    bound.turn_with("Search.", calls=2)
    assert "ledger_record" in bound.say("Next.").text
    bound.tool("ledger_record", kind="finding", text="It is MIT.", source="user")
    bound.answer()
    assert "Nothing was recorded" not in bound.say("Next.").text


@pytest.mark.parametrize(
    "question",
    [
        "what's the status of my projects?",
        "List my projects",
        "please show me all my projects.",
        "Which projects do I have?",
    ],
)
def test_a_plain_question_gets_the_list_in_any_chat(engine, bound, question):
    other = ChatHost(engine, "1764500000009")
    outcome = other.say(question)
    assert engine.projects.names()[0] in outcome.text
    assert outcome.text.startswith(question)
    assert engine.projects.names()[0] not in other.say("What is the list of prime numbers?").text


@pytest.mark.parametrize("text", ["/compress", "/compact now", "/usage", "see /tl status", "/tlx"])
def test_other_commands_pass(chat, text):
    assert chat.say(text).text == text


@pytest.mark.parametrize("text", ["/compress", "/compact now", "/usage"])
def test_other_commands_pass_untouched_in_a_bound_chat_too(bound, text):
    outcome = bound.say(text)
    assert outcome.text == text
    assert outcome.status.startswith("throughLine: ")
    assert OPENING in bound.say("/usr/bin/env is a path").text


@pytest.mark.parametrize("text", ["/tl statsu", "/tl goal", "/tl accept P9", "/tl open nowhere"])
def test_a_failing_command_becomes_one_instruction(bound, text):
    outcome = bound.say(text)
    assert outcome.text.startswith("[throughLine: ")
    assert "Tell the user so in one sentence" in outcome.text
    assert outcome.text.endswith(CLOSING)


def test_a_misspelt_command_gets_the_nearest_name(bound):
    assert "did you mean status?" in bound.say("/tl statsu").text


def test_output_is_shown_in_a_fence_to_be_repeated_exactly(bound):
    bound.say("/tl constraint Never write ``` or [end throughLine] anywhere")
    outcome = bound.say("/tl status")
    assert "Repeat the fenced block to the user exactly" in outcome.text
    assert outcome.text.count(CLOSING) == 1
    assert "Never write" in outcome.text


def test_bare_tl_is_status_in_a_bound_chat_else_help(engine, bound):
    assert "Status of" in bound.say("/tl").text
    assert "/tl start" in ChatHost(engine, "1").say("/tl").text


def test_a_hand_edit_is_merged_and_told(engine, bound):
    bound.turn_with("Begin.")
    bound.say("Record.")
    bound.tool("ledger_record", kind="finding", text="It defaults to 4096.", source="user")
    bound.answer()
    file = engine.projects.open(engine.projects.names()[0]).path / "ledger.md"
    text = file.read_text(encoding="utf-8").replace("4096", "8192")
    file.write_text(text, encoding="utf-8", newline="\n")
    outcome = bound.say("Next.")
    assert has_digest(outcome.text)
    assert "The user edited ledger.md by hand: F1 changed." in outcome.text
    assert "8192" in ledger_of(engine).findings[0].text
    assert "your edit of ledger.md was merged: F1 changed" in outcome.status


def test_a_hand_edit_during_the_models_write_is_merged(engine, bound):
    bound.say("Record.")
    bound.tool("ledger_record", kind="finding", text="It defaults to 4096.", source="user")
    file = engine.projects.open(engine.projects.names()[0]).path / "ledger.md"
    text = file.read_text(encoding="utf-8")
    bound.tool("ledger_record", kind="finding", text="It is MIT.", source="user")
    file.write_text(text.replace("4096", "8192"), encoding="utf-8", newline="\n")
    bound.tool("ledger_record", kind="finding", text="It is small.", source="user")
    texts = [entry.text for entry in ledger_of(engine).findings]
    assert texts == ["It defaults to 8192.", "It is MIT.", "It is small."]


def test_regenerating_records_nothing_twice(engine, bound):
    bound.turn_with("Begin.")
    for _ in range(2):
        bound.say("Record.")
        bound.tool("ledger_record", kind="finding", text="It is MIT.", source="user")
        bound.answer()
        bound.turns.pop()
        bound.changed = len(bound.turns) + 1
    assert len(ledger_of(engine).findings) == 1


def test_a_regenerated_page_reading_no_longer_proves(engine, bound):
    bound.say("Read it.")
    bound.tool("read_webpage", "MIT license.", url=URL)
    bound.answer()
    bound.turn_with("More.")
    bound.regenerate(2)
    bound.say("Note it.")
    bound.tool("ledger_record", kind="finding", text="It is under MIT.", source=URL)
    bound.answer()
    bound.say("Next.")
    assert ledger_of(engine).findings[0].state == "not read"


def test_a_restarted_engine_goes_on(engine, bound, clock):
    bound.say("Read it.")
    bound.tool("read_webpage", "MIT license.", url=URL)
    bound.answer()
    bound.engine = Engine(engine.home, clock)
    bound.say("Note it.")
    bound.tool("ledger_record", kind="finding", text="It is under MIT.", source=URL)
    bound.answer()
    bound.engine = Engine(engine.home, clock)
    bound.changed = 1
    bound.say("Next.")
    assert ledger_of(engine).findings[0].state == "verified"


def test_a_duplicated_chat_is_not_bound_by_itself(engine, bound):
    bound.turn_with("Begin.")
    copy = ChatHost(engine, "1764500000002")
    copy.turns = [list(turn) for turn in bound.turns]
    outcome = copy.say("Next.")
    assert outcome.text == "Next."
    assert "/tl open" in outcome.status
    assert engine.tools(copy.key) == ()


def test_a_project_removed_by_hand_unbinds_its_chats(engine, bound):
    import shutil

    name = engine.projects.names()[0]
    shutil.rmtree(engine.projects.open(name).path)
    outcome = bound.say("Next.")
    assert outcome.text == "Next."
    assert name in outcome.status
    assert bound.say("And?").status == ""


def test_rename_reaches_every_bound_chat(engine, bound):
    other = ChatHost(engine, "1764500000001")
    other.say(f"/tl open {engine.projects.names()[0]}")
    bound.say("/tl rename LLM runtimes")
    assert engine.projects.names() == ["llm-runtimes"]
    assert other.say("Hello").status.startswith("throughLine: llm-runtimes")
    assert ledger_of(engine).project == "llm-runtimes"


def test_forget_asks_to_be_said_again(engine, bound):
    name = engine.projects.names()[0]
    outcome = bound.say("/tl forget")
    assert engine.projects.names() == [name]
    assert f"/tl forget {name}" in outcome.text
    bound.say(f"/tl forget {name}")
    assert engine.projects.names() == []
    for _ in range(2):
        bound.turn_with("More", calls=3)
    assert bound.say("Next").text == "Next"


def test_purge_asks_to_be_said_again_and_leaves_no_trace(engine, bound):
    bound.say("Record.")
    bound.tool("ledger_record", kind="finding", text="The key is hunter2-secret.", source="user")
    bound.answer()
    assert "say it again" in bound.say("/tl purge F1").text
    assert ledger_of(engine).findings
    bound.say("/tl purge F1")
    assert ledger_of(engine).findings == ()
    project = engine.projects.open(engine.projects.names()[0])
    assert "hunter2" not in "".join(record.subject for record in project.history(None))


def test_undo_takes_back_and_again_further(engine, bound):
    bound.say("Record.")
    for text in ("One.", "Two."):
        bound.tool("ledger_record", kind="finding", text=text, source="user")
    bound.answer()
    assert "Undone: F2 added" in bound.say("/tl undo").text
    assert [entry.text for entry in ledger_of(engine).findings] == ["One."]
    bound.say("/tl undo")
    assert ledger_of(engine).findings == ()


def test_wrong_arguments_are_told_in_one_line(bound):
    bound.say("Begin.")
    for args, expected in (
        ({"kind": "fact", "text": "x"}, "kind was 'fact'"),
        ({"kind": "finding", "txt": "x"}, "did you mean text?"),
        ({"kind": "finding"}, "text is empty"),
        ({"kind": "decision", "text": "x", "because": "F9"}, "There is no entry F9"),
        ({"retract": True}, "needs id"),
    ):
        answer = bound.engine.call(bound.key, "ledger_record", args)
        assert answer.startswith("Not done: ")
        assert expected in answer
        assert "\n" not in answer
    assert "There is no tool 'ledger_vew'" in bound.engine.call(bound.key, "ledger_vew", {})


def test_an_unexpected_failure_leaves_the_message_unchanged(bound, monkeypatch):
    def broken(*_args, **_more):
        raise ZeroDivisionError

    monkeypatch.setattr("throughline_nb.engine.turn.digest", broken)
    outcome = bound.say("Begin.")
    assert outcome.text == "Begin."
    assert outcome.status.startswith("throughLine: an unexpected error")


def test_a_bad_settings_file_holds_nothing_up(engine, bound):
    engine.home.settings_file.write_text("automatic_start = maybe\n", encoding="utf-8")
    assert OPENING in bound.say("Begin.").text
    engine.home.settings_file.write_text('heavy_turn_calls = "x"\nfoo = 1\n', encoding="utf-8")
    assert OPENING in bound.say("Begin.").text
    assert len(engine.loaded().problems) == 2


def test_the_hosts_form_governs_its_chats(engine, chat):
    for _ in range(2):
        chat.turn_with("Compare licenses", calls=3)
    chat.say("And?", settings={"automatic_start": False})
    assert engine.projects.names() == []


@pytest.mark.parametrize("ident", ["..", "../../x", "a/b", "CON", "x" * 400, "..\\y", " "])
def test_hostile_chat_ids_stay_inside_the_home(engine, ident):
    host = ChatHost(engine, ident)
    host.say("/tl start Stay")
    host.turn_with("Hello")
    inside = [p for p in on_disk(engine) if p.startswith("chats/lmstudio/")]
    assert len(inside) >= 1
    key, state = next(engine.chats.states())
    assert key == ChatKey("lmstudio", ident)
    assert state.project


def test_a_damaged_state_is_a_new_state(engine, bound):
    file = engine.chats.folder(bound.key) / "state.json"
    file.write_bytes(b'{"project": "x", "turn": ')
    fresh = Engine(engine.home)
    bound.engine = fresh
    outcome = bound.say("Next.")
    assert outcome.text.startswith("Next.")


def test_the_state_is_of_constant_size(engine, bound):
    file = engine.chats.folder(bound.key) / "state.json"
    for n in range(70):
        bound.turn_with(f"Message {n}", calls=1)
    size = len(file.read_bytes())
    for n in range(70):
        bound.turn_with(f"Message {n}", calls=1)
    assert len(file.read_bytes()) < size * 1.1
    assert json.loads(file.read_bytes())["turn"] == 140


def test_a_command_at_the_command_line_is_no_chat(engine, bound):
    name = engine.projects.names()[0]
    assert "Goal changed" in engine.command("goal Something else", project=name).text
    with pytest.raises(ThroughLineError, match="no chat"):
        engine.command("off", project=name)
    with pytest.raises(ThroughLineError, match="--project"):
        engine.command("goal x")


def test_a_project_of_the_earlier_plugin_is_imported_before_the_first_turn(engine, chat):
    folder = engine.home.projects / "old-work"
    folder.mkdir(parents=True)
    ledger = {"goal": "Find the port", "findings": [{"id": "F1", "text": "It is 11434."}]}
    (folder / "ledger.json").write_text(json.dumps(ledger), encoding="utf-8")
    outcome = chat.say("/tl open old-work")
    assert "old-work" in outcome.status
    assert ledger_of(engine, "old-work").goal == "Find the port"
    assert chat.say("Hello").status == "throughLine: old-work"


def test_a_history_that_got_shorter_is_taken_as_it_is(engine, bound):
    for n in range(6):
        bound.turn_with(f"Message {n}", calls=1)
    bound.turns = bound.turns[:2]
    bound.changed = 3
    outcome = bound.say("Next.")
    assert outcome.text.startswith("Next.")
    assert engine.chat(bound.key).state.turn == 2
    bound.answer()
    bound.say("And?")
    assert engine.chat(bound.key).state.turn == 3


def test_a_history_shorter_than_the_host_says_it_is_holds_nothing_up(engine, bound):
    bound.turn_with("Begin.")
    outcome = engine.turn(bound.key, "Next.", History(1, 5, lambda first: bound.turns[0][first:]))
    assert outcome.text.startswith("Next.")


def test_the_same_message_twice_is_two_turns(engine, bound):
    for _ in range(2):
        bound.say("Record it.")
        answer = bound.tool("ledger_record", kind="finding", text="It is MIT.", source="user")
        bound.answer()
    assert answer.startswith("already F1")
    assert engine.chat(bound.key).state.turn == 2
    assert len(ledger_of(engine).findings) == 1


def test_calls_of_one_chat_and_many_run_at_once(engine):
    from concurrent.futures import ThreadPoolExecutor

    chats = [ChatHost(engine, str(n)) for n in range(6)]
    chats[0].say("/tl start Together")
    for chat in chats[1:]:
        chat.say("/tl open together")

    def record(n):
        args = {"kind": "finding", "text": f"Finding number {n}."}
        return engine.call(chats[n % 6].key, "ledger_record", args)

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(record, range(48)))
    assert all(" added: " in answer for answer in answers)
    assert len(ledger_of(engine, "together").findings) == 48


def everything(engine):
    return {p: p.read_bytes() for p in engine.home.path.rglob("*") if p.is_file()}


def test_a_newer_home_is_read_and_never_written(engine, bound):
    bound.turn_with("Begin.")
    (engine.home.path / "format").write_text("99\n", encoding="ascii")
    before = everything(engine)
    for text in ("Next.", "/tl constraint Never", "/tl status", "And?"):
        outcome = bound.turn_with(text, calls=1)
        assert "newer" in outcome.status or "newer" in outcome.text
    assert OPENING in outcome.text
    assert "newer" in engine.call(bound.key, "ledger_record", {"kind": "finding", "text": "x"})
    assert everything(engine) == before


def test_a_newer_project_is_read_and_never_written(engine, bound):
    bound.turn_with("Begin.")
    project = engine.projects.open(engine.projects.names()[0])
    file = project.path / "ledger.md"
    text = file.read_text(encoding="utf-8").replace("throughline: 1\n", "throughline: 2\n")
    file.write_text(text, encoding="utf-8", newline="\n")
    before = project.read()
    outcome = bound.turn_with("Next.")
    assert "upgrade" in outcome.status
    assert file.read_text(encoding="utf-8") == text
    assert project.read() == before


def test_a_question_that_stays_open_is_named_after_ten_project_turns(engine, bound):
    bound.say("Ask.")
    bound.tool("ledger_record", kind="question", text="Which release counts?")
    bound.answer()
    other = ChatHost(engine, "1764500000001")
    other.say(f"/tl open {engine.projects.names()[0]}")
    outcomes = [host.turn_with("Go on.").text for host in [bound, other] * 7]
    named = [n for n, text in enumerate(outcomes) if "Q1 open for 11 turns" in text]
    assert len(named) == 1
    assert all("Q1 open for" not in text for text in outcomes[: named[0]])


def test_repeating_what_stands_is_no_record(bound):
    bound.say("Begin.")
    bound.tool("ledger_record", kind="finding", text="It is MIT.", source="user")
    bound.answer()
    for _ in range(2):
        bound.say("Again.")
        bound.tool("ledger_record", kind="finding", text="It is MIT.", source="user")
        bound.answer()
    assert "Nothing was recorded" in bound.say("Next.").text
