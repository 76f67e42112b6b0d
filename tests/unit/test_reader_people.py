"""What a person means by an edit of the file, as they type it."""

from pathlib import Path

import msgspec
import pytest

from throughline_nb.ledger import Entry, Ledger, Prose, read, write

TEXT = (Path(__file__).parents[1] / "data" / "sample-ledger.md").read_text("utf-8")
BASE = read(TEXT).ledger


def edited(*changes: tuple[str, str]) -> str:
    text = TEXT
    for find, put in changes:
        assert text.count(find) == 1, find
        text = text.replace(find, put)
    return text


def reading(*changes):
    return read(edited(*changes), BASE)


def with_entry(ident: str, **fields: str) -> Ledger:
    entry = BASE.get(ident)
    assert entry is not None
    attr = entry.section.attr
    changed = tuple(
        msgspec.structs.replace(e, **fields) if e.id == ident else e for e in BASE.list(attr)
    )
    return msgspec.structs.replace(BASE, **{attr: changed})


F12 = "- **F12** llama.cpp"
LAST_FINDING = "  - added: 2026-10-17T12:04:09Z\n"


@pytest.mark.parametrize(
    "typed",
    [
        "- MLX defaults to 4,096 (https://example.org/mlx_(1))",
        "* MLX defaults to 4,096 (<https://example.org/mlx_(1)>).",
        "+ MLX defaults to 4,096 ([https://example.org/mlx_(1)](https://example.org/mlx_(1)))",
        "1. MLX defaults to 4,096 (https://example.org/mlx\\_(1))",
        "-   MLX defaults to\n    4,096 (https://example.org/mlx_(1))",
        "- MLX defaults to 4,096\n  - source: https://example.org/mlx_(1)",
        "- MLX defaults to 4,096\n- source: <https://example.org/mlx_(1)>",
        "-\n  MLX defaults to 4,096 (https://example.org/mlx_(1))",
    ],
)
def test_a_new_finding(typed):
    result = reading((LAST_FINDING, LAST_FINDING + typed + "\n"))
    new = Entry(
        id="F14",
        text="MLX defaults to 4,096",
        source="https://example.org/mlx_(1)",
        state="unverified",
        by="user",
    )
    assert result.ledger.findings == (*BASE.findings, new)
    assert result.ledger.next == (2, 7, 15, 4, 3, 2)
    assert result.notices == ()


@pytest.mark.parametrize(
    ("typed", "status"),
    [
        ("- [ ] Do this", "todo"),
        ("1. Do this", "todo"),
        ("- Do this", "todo"),
        ("- [x] Do this", "done"),
        ("* [X] Do this", "done"),
        ("- [ ] Do this\n  - status: doing", "doing"),
        ("- Do this\n  - Status: Blocked", "blocked"),
        ("- \\[ \\] Do this", "todo"),
    ],
)
def test_a_new_step_stands_behind_its_neighbour(typed, status):
    result = reading(("- [ ] **S5**", f"{typed}\n- [ ] **S5**"))
    assert [step.id for step in result.ledger.plan] == ["S3", "S4", "S7", "S5", "S6"]
    assert result.ledger.get("S7") == Entry(id="S7", text="Do this", status=status, by="user")


def test_a_new_constraint():
    text = "- **C1** Only primary sources count.\n"
    result = reading((text, text + "- No paid services.\n"))
    assert result.ledger.constraints[1] == Entry(id="C2", text="No paid services.", by="user")


def test_a_new_entry_may_begin_with_the_id_of_another():
    result = reading((LAST_FINDING, LAST_FINDING + "- F9 is contradicted by the manual\n"))
    assert result.ledger.get("F14").text == "F9 is contradicted by the manual"
    assert result.ledger.get("F9") == BASE.get("F9")


def test_a_claim_may_look_like_a_field_of_another_section():
    result = reading((LAST_FINDING, LAST_FINDING + "- status: page shows 404\n"))
    assert result.ledger.get("F14").text == "status: page shows 404"


@pytest.mark.parametrize("typed", ["- a nested remark", "* a nested remark", "  - a nested remark"])
def test_an_unknown_indented_bullet_joins_the_note(typed):
    place = "  - note: no answer yet\n"
    result = reading((place, f"{place}  {typed}\n"))
    assert result.ledger == with_entry("S5", note="no answer yet; a nested remark")


@pytest.mark.parametrize(
    ("ident", "change", "status"),
    [
        ("S6", ("- [ ] **S6**", "- [x] **S6**"), "done"),
        ("S4", ("- [ ] **S4**", "- [X] **S4**"), "done"),
        ("S3", ("- [x] **S3**", "- [ ] **S3**"), "todo"),
        ("S4", ("  - status: doing", "  - status: done"), "done"),
        ("S3", ("  - status: done", "  - status: doing"), "doing"),
        ("S5", ("  - status: blocked", "  - status: Done."), "done"),
    ],
)
def test_a_box_or_a_status_word_that_changed(ident, change, status):
    assert reading(change).ledger == with_entry(ident, status=status)


def test_a_word_that_changed_beats_the_box():
    result = reading(("- [ ] **S4**", "- [x] **S4**"), ("status: doing", "status: blocked"))
    assert result.ledger == with_entry("S4", status="blocked")


def test_a_word_that_means_nothing_is_told():
    result = reading(("status: blocked", "status: waiting for Q2"))
    assert result.ledger == BASE
    assert result.notices == (
        "S5's status “waiting for Q2” is none of todo, doing, done, blocked; it stays blocked.",
    )


@pytest.mark.parametrize(
    "struck",
    [
        "- ~~**F12** llama.cpp defaults to a context of 4,096 tokens, at most 8,192.~~",
        "- **F12** ~~llama.cpp defaults to a context of 4,096 tokens, at most 8,192.~~",
        "- **F12** ~llama.cpp defaults to a context of 4,096 tokens, at most 8,192.~",
        "- **F12** \\~\\~llama.cpp defaults to a context of 4,096 tokens, at most 8,192.\\~\\~",
        "- **F12** ~~llama.cpp defaults to a context of 4,096 tokens, at most 8,192~~.",
    ],
)
def test_a_finding_struck_out_is_retracted(struck):
    line = "- **F12** llama.cpp defaults to a context of 4,096 tokens, at most 8,192."
    result = reading((line, struck))
    assert result.ledger.get("F12").state == "retracted"
    assert result.ledger.get("F12").text.startswith("llama.cpp defaults to a context of 4,096")


@pytest.mark.parametrize(
    ("line", "ident"),
    [
        ("- [ ] **S6** Write the table", "S6"),
        ("- **C1** Only primary sources count.", "C1"),
        ("- **D3** Leave vLLM out of the table", "D3"),
        ("- **Q1** Which release counts?", "Q1"),
    ],
)
def test_any_other_entry_struck_out_is_removed(line, ident):
    head, text = line.rsplit("** ", 1)
    result = reading((line, f"{head}** ~~{text}~~"))
    assert result.ledger.get(ident) is None
    assert len(list(result.ledger.entries())) == len(list(BASE.entries())) - 1
    assert result.notices == ()


def test_text_between_tildes_that_was_so_before_is_not_struck():
    base = Ledger(constraints=(Entry(id="C1", text="~~not struck~~"),), next=(2, 1, 1, 1, 1, 1))
    text = write(base)
    for spelling in (text, text.replace("\\~", "~"), text.replace("\\~\\~", "\\~")):
        assert read(spelling, base).ledger == base


def test_a_deleted_entry_is_deleted():
    start, end = TEXT.index("- **F9**"), TEXT.index(F12)
    result = read(TEXT[:start] + TEXT[end:], BASE)
    assert result.ledger.findings == BASE.findings[1:]
    assert result.ledger.next == BASE.next
    assert result.notices == ()


def test_a_deleted_field_is_deleted_but_for_the_engine_s():
    result = reading(
        ("  - missing: 8,192\n", ""),
        ("  - by: model\n  - from: turn 41 of lmstudio/1764500000000\n", ""),
        ("  - note: no answer yet\n", ""),
    )
    expected = with_entry("F12", missing="")
    plan = tuple(msgspec.structs.replace(s, note="") if s.id == "S5" else s for s in BASE.plan)
    assert result.ledger == msgspec.structs.replace(expected, plan=plan)


def test_a_new_text_is_the_user_s_and_keeps_the_spelling_of_what_did_not_change():
    result = reading(
        ("Collect \\*args and snake_case names", "Collect *args and snake\\_case NAMES")
    )
    changed = result.ledger.get("S3")
    assert changed.text == "Collect *args and snake_case NAMES"
    assert changed.by == "user"


def test_bold_and_links_that_a_person_typed_stay_as_typed():
    typed = "Leave **vLLM** out, see [the docs](https://example.org/a_(b))"
    result = reading(("Leave vLLM out of the table", typed))
    assert result.ledger.get("D3").text == typed
    result = reading(("Leave vLLM out of the table", "Leave **vLLM** out of the table"))
    assert result.ledger.get("D3").text == "Leave **vLLM** out of the table"


def test_the_order_of_the_plan_is_kept():
    step = "- [ ] **S6** Write the table\n  - status: todo\n"
    text = TEXT.replace(step, "").replace("- [x] **S3**", step + "- [x] **S3**")
    assert [s.id for s in read(text, BASE).ledger.plan] == ["S6", "S3", "S4", "S5"]


@pytest.mark.parametrize("heading", ["## Decisions\n\n", "## Notes\n\n", "## Constraints\n\n"])
def test_an_entry_in_another_section_stays_what_its_id_says(heading):
    start, end = TEXT.index("- **F9**"), TEXT.index(F12)
    moved = TEXT[start:end]
    text = (TEXT[:start] + TEXT[end:]).replace(heading, heading + moved + "\n")
    result = read(text, BASE)
    assert result.ledger == BASE
    title = heading.strip("#\n ")
    assert result.notices == (f"F9 stands under {title}; it stays a finding.",)


@pytest.mark.parametrize("text", ["Another claim", "Ollama listens on port 11434."])
def test_of_two_entries_with_one_id_the_first_keeps_it(text):
    copy = f"- **F9** {text}\n  - source: turn 3\n  - state: verified\n  - by: model\n"
    result = reading((LAST_FINDING, LAST_FINDING + copy))
    assert result.ledger.get("F9") == BASE.get("F9")
    assert result.ledger.get("F14") == Entry(
        id="F14", text=text, source="turn 3", state="unverified", by="user"
    )
    assert result.notices == ("F9 stands twice; the first keeps the id, the second is now F14.",)


def test_a_whole_section_copied():
    start, end = TEXT.index("- **Q1**"), TEXT.index("## Proposals")
    result = read(TEXT[:end] + TEXT[start:end] + TEXT[end:], BASE)
    assert [q.id for q in result.ledger.questions] == ["Q1", "Q2", "Q3", "Q4"]
    assert result.ledger.questions[:2] == BASE.questions
    assert result.ledger.questions[2].text == BASE.questions[0].text


@pytest.mark.parametrize(("ident", "free"), [("F14", 15), ("F40", 41), ("F10", 14)])
def test_an_id_that_is_free_is_kept(ident, free):
    result = reading((LAST_FINDING, f"{LAST_FINDING}- **{ident}** A claim\n"))
    found = result.ledger.get(ident)
    assert (found.text, found.state) == ("A claim", "unverified")
    assert result.ledger.next[2] == free
    numbers = [f.number for f in result.ledger.findings]
    assert numbers == sorted(numbers)


def test_the_goal():
    goal = "Compare license, latest release and default context of seven inference runtimes."
    assert reading((goal, "Compare\n*eight* runtimes.")).ledger == msgspec.structs.replace(
        BASE, goal="Compare *eight* runtimes."
    )
    assert reading((goal, "")).ledger == msgspec.structs.replace(BASE, goal="")
    result = reading((f"## Goal\n\n{goal}\n\n", ""))
    assert result.ledger == BASE
    assert result.notices == ("The heading Goal is missing; the goal stayed as before.",)


def test_text_of_a_person_s_own_stays_where_it_is():
    result = reading(
        ("# llm-runtimes\n", "# llm-runtimes\n\nBelow the title.\n"),
        ("## Findings\n", "## Findings\n\nBefore the entries.\n"),
        (F12, "\nBetween two.\n\n> A quote\n\n" + F12),
        ("## Decisions\n", "## Ideas\n\n- one\n- two\n\n## Decisions\n"),
    )
    assert result.ledger == msgspec.structs.replace(
        BASE,
        prose=(
            Prose("top", "Below the title."),
            Prose("findings", "Before the entries."),
            Prose("F9", "Between two.\n\n> A quote"),
            Prose("after findings", "## Ideas\n\n- one\n- two"),
            *BASE.prose,
        ),
    )
    assert read(write(result.ledger)).ledger == result.ledger


def test_a_line_typed_right_below_an_entry_joins_its_note():
    result = reading((F12, "To be checked again.\n" + F12))
    assert result.ledger == with_entry("F9", note="To be checked again.")


def test_text_at_the_very_end_of_the_file_joins_the_notes():
    result = read(TEXT + "\nA thought, typed last.\n", BASE)
    assert result.complete
    assert result.ledger == msgspec.structs.replace(
        BASE, prose=(Prose("notes", BASE.prose[0].text + "\n\nA thought, typed last."),)
    )


@pytest.mark.parametrize("at", range(0, len(TEXT) - 60, 7))
def test_a_file_that_is_cut_off_loses_nothing(at):
    text = TEXT[: len(TEXT) - 1 - at]
    if "## Goal" not in text:
        return
    result = read(text, BASE)
    assert not result.complete or at == 0
    lost = [e.id for e in BASE.entries() if result.ledger.get(e.id) != e]
    assert lost == []
    assert result.ledger.prose == BASE.prose
    assert result.ledger.goal == BASE.goal
    assert result.ledger == BASE


def test_an_entry_deleted_from_a_file_without_its_last_line():
    start, end = TEXT.index("- **F9**"), TEXT.index(F12)
    text = (TEXT[:start] + TEXT[end:]).partition("\n## Proposals")[0]
    result = read(text, BASE)
    assert result.ledger.get("F9") is None
    assert result.ledger.get("P1") == BASE.get("P1")
    assert len(result.notices) == 1
    assert result.notices[0].startswith("The end of the file is missing, so P1 stayed as before")
