"""A cell as a source: which outputs are the same, and what a run says of a finding."""

import pytest

from throughline_nb.ledger.cells import (
    TEXT_BYTES,
    difference,
    judged,
    normalised,
    ran,
    settled_reason,
    short,
    source_of,
)
from throughline_nb.ledger.model import Entry
from throughline_nb.ledger.sources import parse

PEAK = Entry(
    id="F14",
    text="Peak memory of the model was 6.1 GB.",
    source="cell 3f9a of notebook/measure.ipynb",
    state="unverified",
)


def run(output, **how):
    return ran("3f9a", "print(peak)", output, **how)


@pytest.mark.parametrize(
    ("once", "again"),
    [
        ("<Model at 0x7f3a2b1c4d5e>", "<Model at 0x10ab34cd56>"),
        ("<bound method A.f of <A object at 0x7ffd01>>", "<bound method A.f of <A object at 0x7ffe99>>"),
        ("CPU times: user 3.2 ms, sys: 0 ns, total: 3.2 ms\nWall time: 3.4 ms",
         "CPU times: user 4.1 ms, sys: 1 µs, total: 4.2 ms\nWall time: 9 ms"),
        ("3.21 ms ± 12.4 µs per loop", "4.05 ms ± 90 µs per loop"),
        ("took 12.5 s", "took 9.25 s"),
        ("done in 3 seconds", "done in 14 seconds"),
        ("2026-12-01 03:35:01,123 INFO loaded", "2026-12-02 11:02:59,001 INFO loaded"),
        ("100%|####| 10/10 [00:01<00:00, 9.5it/s]", "100%|####| 10/10 [00:03<00:00, 3.1it/s]"),
        ("12%\r80%\r100%", "5%\r100%"),
        ("\x1b[31m6.1\x1b[0m GB", "6.1 GB"),
        ("6.1 GB\r\n", "6.1 GB\n\n"),
        ("a   b", "a b "),
    ],
)  # fmt: skip
def test_what_differs_from_run_to_run_is_no_change(once, again):
    assert normalised(once) == normalised(again)
    assert run(once).output == run(again).output


@pytest.mark.parametrize(
    ("once", "again"),
    [
        ("6.1 GB", "6.4 GB"),
        ("4,096 tokens", "8,192 tokens"),
        ("release 2026-05-01", "release 2026-06-01"),
        ("v0.4.26", "v0.4.27"),
        ("1990s", "1980s"),
        ("0x1f", "0x2f"),
        ("[1, 2, 3]", "[1, 2, 4]"),
        ("5 GB at port 11434", "5 GB at port 8080"),
    ],
)
def test_a_figure_that_changed_is_one(once, again):
    assert run(once).output != run(again).output


def test_a_finding_is_verified_by_the_output_of_its_cell():
    assert judged(PEAK, run("peak 6.1 GB"), None).state == "verified"


def test_its_figures_must_stand_there():
    checked = judged(PEAK, run("peak 6.4 GB"), None)
    assert (checked.state, checked.missing) == ("verified", "6.1")


def test_nothing_is_said_of_figures_where_not_all_of_the_output_was_seen():
    checked = judged(PEAK, run("", whole=False), None)
    assert (checked.state, checked.missing) == ("verified", "")


def test_another_output_makes_it_stale_and_names_old_and_new():
    first = run("8B model\npeak 6.1 GB\nin 3.2 s")
    verified = judged(PEAK, first, None)
    stale = judged(verified, run("8B model\npeak 6.4 GB\nin 9.9 s"), first)
    assert stale.state == "stale"
    assert stale.reason == 'run again: "peak 6.1 GB" is now "peak 6.4 GB"'
    assert settled_reason(stale.reason) == ""
    later = judged(stale, run("8B model\npeak 7 GB"), first)
    assert 'is now "peak 7 GB' in later.reason
    assert judged(later, run("8B model\npeak 6.1 GB\nin 4.4 s"), first) == verified


def test_a_reason_of_its_own_is_kept_beside():
    first = run("6.1 GB")
    verified = judged(PEAK, first, None)
    entry = Entry(
        id="F14", text=PEAK.text, source=PEAK.source, state="verified", reason="measured twice"
    )
    stale = judged(entry, run("6.4 GB"), first)
    assert stale.reason.startswith("measured twice; run again: ")
    assert judged(stale, first, first) == entry
    assert verified.reason == ""


def test_a_run_that_fails_proves_nothing_and_makes_stale_what_was_verified():
    failed = run("NameError: name 'peak' is not defined", failed=True)
    assert judged(PEAK, failed, None) is PEAK
    first = run("6.1 GB")
    stale = judged(judged(PEAK, first, None), failed, first)
    assert "NameError" in stale.reason


def test_a_retracted_finding_stays_as_it_is():
    retracted = Entry(id="F14", text=PEAK.text, source=PEAK.source, state="retracted")
    assert judged(retracted, run("6.1 GB"), None) is retracted


def test_an_output_is_kept_up_to_2_kb_and_its_figures_whole():
    long = run("é" * 3000 + " 6.1 GB")
    assert len(long.text.encode("utf-8")) <= TEXT_BYTES
    assert judged(PEAK, long, None).missing == ""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("a\nb\nc", "a\nx\nc", ("b", "x")),
        ("a", "a\nb", ("nothing", "b")),
        ("a\nb", "a", ("b", "nothing")),
        ("same in 3.2 s", "same in 9.9 s", ("", "")),
        ('say "6"', 'say "7"', ("say '6'", "say '7'")),
    ],
)
def test_the_first_lines_that_differ(old, new, told):
    assert difference(old, new) == told


@pytest.mark.parametrize(
    "chat",
    ["notebook/analysis.ipynb", "notebook/landing-page.ipynb", "notebook/a (2).ipynb",
     "notebook/Mein Notizbuch.ipynb", "notebook/section 3.ipynb", "notebook/my page 3.ipynb",
      "notebook/p.5.ipynb"],
)  # fmt: skip
def test_the_source_of_a_cell_reads_back_as_it_was_written(chat):
    source = source_of("8e7d0b1c-24f5-4b06-9f35-8d2f0c9d6b11", chat)
    assert source == f"cell 8e7d0b1c of {chat}"
    assert (parse(source).kind, str(parse(source))) == ("cell", source)


def test_a_short_or_named_cell_id_stays_whole():
    assert [short("3f9a"), short("load-data")] == ["3f9a", "load-data"]
