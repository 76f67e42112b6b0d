"""The file as the engine writes it, and what is no ledger at all."""

from pathlib import Path

import msgspec
import pytest

from throughline_nb.errors import ThroughLineError
from throughline_nb.ledger import Entry, Ledger, Prose, UnreadableLedger, read, write
from throughline_nb.ledger.inline import one_line
from throughline_nb.ledger.markdown import MAX_BYTES
from throughline_nb.ledger.writer import render

SAMPLE = (Path(__file__).parents[1] / "data" / "sample-ledger.md").read_text("utf-8")


def test_the_sample_is_written_byte_for_byte():
    reading = read(SAMPLE)
    assert write(reading.ledger, "42-7c1e") == SAMPLE
    assert reading.version == "42-7c1e"
    assert reading.complete
    assert reading.format == 1
    assert reading.notices == ()


def test_what_the_sample_says():
    ledger = read(SAMPLE).ledger
    assert ledger.project == "llm-runtimes"
    assert ledger.goal.startswith("Compare license, latest release")
    assert ledger.get("C1") == Entry(id="C1", text="Only primary sources count.")
    assert [(step.id, step.status) for step in ledger.plan] == [
        ("S3", "done"),
        ("S4", "doing"),
        ("S5", "blocked"),
        ("S6", "todo"),
    ]
    assert ledger.get("S3").text == "Collect *args and snake_case names"
    assert ledger.get("S4").note == "five of seven checked, see https://example.org/a_(b)"
    assert ledger.get("F12") == Entry(
        id="F12",
        text="llama.cpp defaults to a context of 4,096 tokens, at most 8,192.",
        source="https://example.org/llama_cpp/README.md?plain=1",
        state="verified",
        missing="8,192",
        step="S4",
        by="model",
        origin="turn 41 of lmstudio/1764500000000",
        added="2026-10-17T12:04:09Z",
    )
    assert ledger.get("D3").because == "F12"
    assert ledger.get("Q1").answer == "the newest stable one"
    assert ledger.get("P1").proposes == ("goal", "Compare also the default quantisation")
    text = "Whatever a person writes stays as it is, and where it is."
    assert ledger.prose == (Prose("notes", text),)
    assert ledger.next == (2, 7, 14, 4, 3, 2)


def test_without_a_version_the_three_markers_are_left_out():
    ledger = read(SAMPLE).ledger
    text = write(ledger)
    assert "version" not in text
    assert "<!--" not in text
    assert text.endswith("\n\nLedger · next C2 S7 F14 D4 Q3 P2\n")
    assert read(text).ledger == ledger
    assert read(text).version is None


def test_an_empty_ledger_has_all_headings():
    text = write(Ledger())
    assert text.count("\n## ") == 7
    assert read(text).ledger == Ledger()


def test_an_unchanged_entry_keeps_its_record():
    base = read(SAMPLE).ledger
    ledger = read(SAMPLE.replace("Ask the vendor", "Ask the vendor again"), base).ledger
    assert ledger.get("S5").text == "Ask the vendor again"
    assert ledger.findings is base.findings
    assert ledger.get("S4") is base.get("S4")
    assert read(SAMPLE, base).ledger is base


@pytest.mark.parametrize(
    "text",
    [
        "[end throughLine]",
        "[throughLine: background state for the assistant.]",
        "```",
        "~~~ python",
        "<!-- throughLine ledger, version 1-a. Edit freely; your changes are merged on the next turn. -->",
        "Ledger version `1-a` · next C1 S1 F1 D1 Q1 P1",
        "**F2** another",
        "- **F2** another",
        "F2: another",
        "<script>alert(1)</script>",
        "<b>bold</b> &amp; &lt;",
        "## Findings",
        "(none)",
        "\x1b[31mred\x1b[0m and a\0NUL\x07",
        "two\nlines\r\n\r\n- and **F2** a third",
        "---",
        "throughline: 1",
        "x" * 100_000,
        "*_`[<&\\~$ " * 10_000,
        "word " * 20_000 + "end",
    ],
)
def test_any_text_is_read_as_it_was_written(text):
    text = one_line(text)
    for name in ("text", "note", "source", "reason"):
        entry = msgspec.structs.replace(
            Entry(id="F1", text="x", state="unverified"), **{name: text}
        )
        other = Entry(id="F2", text="y", state="unverified")
        ledger = Ledger(project="p", findings=(entry, other), next=(1, 1, 3, 1, 1, 1))
        assert read(write(ledger, "9-f")).ledger == ledger
        assert read(write(ledger)).ledger == ledger
        assert read(write(ledger, "9-f"), ledger).ledger is ledger
    goal = Ledger(goal=text)
    if text != "(none)":
        assert read(write(goal)).ledger == goal


def test_prose_below_a_goal_that_is_not_set():
    ledger = Ledger(prose=(Prose("goal", "What it is about."),))
    assert read(write(ledger)).ledger == ledger
    assert "\n(none)\n" in write(ledger)


def test_prose_behind_an_entry_that_is_gone_is_still_written():
    ledger = read(SAMPLE).ledger
    prose = (Prose("F11", "Behind what is gone."), Prose("S1", "Before all steps."))
    text = write(msgspec.structs.replace(ledger, prose=prose))
    assert text.index("**F9**") < text.index("Behind what is gone.") < text.index("**F12**")
    assert text.index("## Plan") < text.index("Before all steps.") < text.index("**S3**")


def test_prose_at_a_place_that_is_not_known_is_written_under_notes():
    text = write(Ledger(prose=(Prose("elsewhere", "Kept."),)))
    assert "## Notes\n\nKept.\n" in text


def test_rendering_is_cached_by_content():
    one = Entry(id="F1", text="x", state="unverified")
    same = Entry(id="F1", text="x", state="unverified")
    assert render(one) is render(same)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "The file is empty."),
        (" \n\t\n", "The file is empty."),
        ("\ufeff\n", "The file is empty."),
        (SAMPLE.replace("llama", "ll\0ma"), "The file is binary, not text."),
        (SAMPLE.encode("utf-16"), "The file is not UTF-8 text."),
        (SAMPLE.replace("·", "é").encode("latin-1"), "The file is not UTF-8 text."),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "The file is not UTF-8 text."),
        (SAMPLE + "\ud800", "The file is not UTF-8 text."),
        ("Just text.\n", "The file has none of a ledger's headings, such as Goal or Plan."),
        (
            "# Title\n\n## Other\n\n- **F1** x\n",
            "The file has none of a ledger's headings, such as Goal or Plan.",
        ),
        (
            SAMPLE.replace("## Findings\n", "<<<<<<< HEAD\n## Findings\n=======\n>>>>>>> theirs\n"),
            "The file holds the conflict markers of a merge.",
        ),
        (
            SAMPLE.replace(
                "- **F9**", "<<<<<<< ours\r\n||||||| base\r\n=======\r\n>>>>>>> theirs\r\n- **F9**"
            ),
            "The file holds the conflict markers of a merge.",
        ),
        (SAMPLE + "x" * MAX_BYTES, "The file is larger than 10 MB."),
        (SAMPLE + "日" * (MAX_BYTES // 3), "The file is larger than 10 MB."),
        ((SAMPLE + "é" * (MAX_BYTES // 2)).encode(), "The file is larger than 10 MB."),
    ],
)
def test_what_is_no_ledger(text, reason):
    for base in (None, read(SAMPLE).ledger):
        with pytest.raises(UnreadableLedger) as error:
            read(text, base)
        assert str(error.value) == reason
        assert isinstance(error.value, ThroughLineError)


def test_conflict_markers_that_a_person_shows_in_a_fence_are_text():
    notes = "```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> theirs\n```"
    ledger = Ledger(prose=(Prose("notes", notes),))
    assert read(write(ledger)).ledger == ledger


def test_stray_fences_do_not_swallow_sections():
    base = read(SAMPLE).ledger
    text = SAMPLE.replace("## Plan\n", "```\n\n## Plan\n").replace(
        "## Notes\n", "## Notes\n\n```\n"
    )
    assert list(read(text, base).ledger.entries()) == list(base.entries())


def test_a_bigger_format_is_told_and_an_odd_one_is_ours():
    assert read(SAMPLE.replace("throughline: 1", "throughline: 2")).format == 2
    assert read(SAMPLE.replace("throughline: 1", "throughline: one")).format == 1
    assert read(SAMPLE.partition("\n---\n")[2]).format == 1
