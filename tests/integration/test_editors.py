"""Ledgers as real editors save them: all comes back, and a person's edit is exactly that edit.

The fixtures are data, made by ``make corpora`` with the real tools; no editor runs here. What an
editor destroys for good is listed in `tests/corpora/inputs/losses.json`, each with its reason.
"""

import functools
import json
from collections.abc import Iterator

import msgspec
import pytest

from tests.corpora import fixtures, tools
from tests.corpora.fixtures import Edit, Expected
from throughline_nb.ledger import Entry, Ledger, merge, read, write
from throughline_nb.ledger.model import BY_LETTER, ENGINE_FIELDS

EDITORS = [configuration.name for configuration in tools.configurations()]
CHAINS = fixtures.load_chains()
EDITS = {edit.kind: edit for edit in fixtures.load_edits()}
WANTED_CHAINS = 0.85
WANTED_EDITS = 0.99

FIELDS = tuple(name for name in Entry.__struct_fields__ if name not in ENGINE_FIELDS)


@functools.cache
def ledger(name: str) -> Ledger:
    return fixtures.load_ledger(name)


@functools.cache
def losses() -> dict[tuple[str, str], str]:
    found = json.loads((fixtures.INPUTS / "losses.json").read_text(encoding="utf-8"))
    return {(loss["editor"], loss["kind"]): loss["reason"] for loss in found}


@functools.cache
def written_meanwhile() -> Ledger:
    """The ledger as the model left it while the person's editor was open."""
    base = ledger("medium")
    first, *steps = base.plan
    proposal = base.proposals[0]
    return msgspec.structs.replace(
        base,
        plan=(msgspec.structs.replace(first, note="all seven found"), *steps),
        proposals=(msgspec.structs.replace(proposal, reason="it decides the size"),),
    )


def differences(wanted: Ledger, got: Ledger) -> Iterator[str]:
    """Where two ledgers differ, in words."""
    for name in ("project", "goal", "meta", "next", "prose"):
        if getattr(wanted, name) != getattr(got, name):
            yield f"{name}: {getattr(wanted, name)!r} became {getattr(got, name)!r}"
    ids = [entry.id for entry in wanted.entries()]
    if ids != [entry.id for entry in got.entries()]:
        yield f"entries: {ids} became {[entry.id for entry in got.entries()]}"
    for entry in wanted.entries():
        other = got.get(entry.id)
        for name in Entry.__struct_fields__ if other is not None else ():
            if getattr(entry, name) != getattr(other, name):
                was, now = getattr(entry, name), getattr(other, name)
                yield f"{entry.id} {name}: {was!r} became {now!r}"


def intended(base: Ledger, expected: Expected) -> Ledger:
    """``base`` with the edit made; of running text, only what the edit leaves alone."""
    lists = {}
    for letter, section in BY_LETTER.items():
        entries = [
            msgspec.structs.replace(entry, **expected.fields.get(entry.id, {}))
            for entry in base.list(section.attr)
            if entry.id not in expected.removed
        ]
        entries += [
            Entry(id=ident, **{"state": "unverified"} | values if letter == "F" else values)
            for ident, values in expected.added.items()
            if ident[0] == letter
        ]
        lists[section.attr] = tuple(entries)
    if expected.order:
        lists["plan"] = tuple(sorted(lists["plan"], key=lambda e: expected.order.index(e.id)))
    goal = base.goal if expected.goal is None else expected.goal
    return msgspec.structs.replace(base, goal=goal, **lists)


def wrong(edit: Edit, base: Ledger, got: Ledger, notices: tuple[str, ...]) -> Iterator[str]:
    """What a person who made ``edit`` would find wrong in ``got``."""
    wanted = intended(base, edit.expected)
    touched = {*edit.expected.fields, *edit.expected.added}
    for name in ("project", "goal", "meta"):
        if getattr(wanted, name) != getattr(got, name):
            yield f"{name}: {getattr(got, name)!r}"
    ids = [entry.id for entry in wanted.entries()]
    if ids != [entry.id for entry in got.entries()]:
        yield f"entries: {[entry.id for entry in got.entries()]}"
    for entry in wanted.entries():
        other = got.get(entry.id)
        if other is None:
            continue
        for name in FIELDS if entry.id in touched else Entry.__struct_fields__:
            if getattr(entry, name) != getattr(other, name):
                yield f"{entry.id} {name}: {getattr(other, name)!r}"
    yield from wrong_prose(edit.expected, base, got)
    if edit.expected.notice and not notices:
        yield "no notice"
    if max(wanted.next) and any(free < at for free, at in zip(got.next, base.next, strict=True)):
        yield f"next: {got.next}"


def wrong_prose(expected: Expected, base: Ledger, got: Ledger) -> Iterator[str]:
    left = list(got.prose)
    for piece in base.prose:
        stays = next((p for p in left if p.place == piece.place and piece.text in p.text), None)
        if stays is None or (stays != piece and piece.place not in expected.prose):
            yield f"prose at {piece.place}: {[p.text for p in left if p.place == piece.place]}"
    known = {piece.place for piece in base.prose}
    for place, words in expected.prose.items():
        if not any(piece.place == place and words in piece.text for piece in left):
            yield f"prose: {left}"
    for piece in left:
        if piece.place not in known and piece.place not in expected.prose:
            yield f"new prose at {piece.place}: {piece.text!r}"


def outcome(editor: str, kind: str, saved: str) -> list[str]:
    """What is wrong with one person's edit, saved by one editor, read and merged."""
    base = ledger("medium")
    reading = read(saved, base=base)
    found: list[str] = []
    for ours in (base, written_meanwhile()):
        merged = merge(base, ours, reading.ledger)
        found += wrong(EDITS[kind], ours, merged.ledger, (*reading.notices, *merged.notices))
    return found


@functools.cache
def outcomes(editor: str) -> dict[str, list[str]]:
    saved = fixtures.load_saved(editor)
    assert saved.keys() == EDITS.keys()
    return {kind: outcome(editor, kind, text) for kind, text in saved.items()}


@pytest.mark.parametrize("name", fixtures.LEDGERS)
def test_the_fixtures_are_of_what_is_written_today(name):
    """The editors opened just what the writer writes; else `make corpora` is due."""
    assert write(ledger(name), fixtures.VERSION) == fixtures.read_made(f"{name}.md")


def test_there_are_enough_editors_and_hostile_entries():
    configurations = tools.configurations()
    assert len(configurations) >= 21
    assert len({configuration.tool for configuration in configurations}) >= 12
    assert len(list(ledger("hostile").entries())) >= 62
    assert len(EDITS) >= 36


def test_the_manifest_names_the_origin_of_each_fixture():
    origins = msgspec.json.decode(fixtures.read_made("manifest.json"), type=list[fixtures.Made])
    by_file = {origin.file: origin for origin in origins}
    for editor in EDITORS:
        for folder in (*fixtures.LEDGERS, "edits"):
            suffix = "jsonl" if folder == "edits" else "md"
            opened = "medium" if folder == "edits" else folder
            origin = by_file.pop(f"{folder}/{editor}.{suffix}")
            assert origin.input == fixtures.digest(fixtures.read_made(f"{opened}.md"))
            assert origin.version == tools.versions()[origin.tool]
            assert origin.command
    assert not by_file


@pytest.mark.parametrize("editor", EDITORS)
@pytest.mark.parametrize("name", fixtures.LEDGERS)
def test_every_entry_and_field_comes_back_without_the_base(name, editor):
    """Even with nothing to compare with, each entry stands in its place with each of its fields."""
    if (editor, name) in losses():
        return
    base = ledger(name)
    got = read(fixtures.read_made(f"{name}/{editor}.md")).ledger
    assert [entry.id for entry in got.entries()] == [entry.id for entry in base.entries()]
    for entry in base.entries():
        other = got.get(entry.id)
        assert other is not None
        for field in Entry.__struct_fields__:
            assert bool(getattr(entry, field)) == bool(getattr(other, field)), (entry.id, field)
        for field in ("status", "state", "by", "added", "because", "missing", "was", "step"):
            assert getattr(entry, field) == getattr(other, field), (entry.id, field)


@pytest.mark.parametrize("editor", EDITORS)
@pytest.mark.parametrize("name", fixtures.LEDGERS)
def test_a_save_without_a_change_is_no_change(name, editor):
    base = ledger(name)
    reading = read(fixtures.read_made(f"{name}/{editor}.md"), base=base)
    if (editor, name) in losses():
        assert reading.ledger != base
        assert [entry.id for entry in reading.ledger.entries()] == [e.id for e in base.entries()]
        return
    assert list(differences(base, reading.ledger)) == []
    assert reading.ledger == base
    assert reading.version == fixtures.VERSION
    assert reading.complete
    assert reading.notices == ()


@pytest.mark.parametrize("editor", EDITORS)
def test_an_edit_saved_by_an_editor_is_just_that_edit(editor):
    failed = {
        kind: found
        for kind, found in outcomes(editor).items()
        if found and (editor, kind) not in losses()
    }
    assert failed == {}


def test_what_counts_as_destroyed_is_still_destroyed():
    """A pair that comes out right belongs off the list; on it, no entry is lost even so."""
    for (editor, kind), reason in losses().items():
        assert reason
        if kind not in EDITS:
            continue
        assert outcomes(editor)[kind], f"{editor}, {kind}: no longer lost"
        saved = fixtures.load_saved(editor)[kind]
        got = read(saved, base=ledger("medium")).ledger
        expected = EDITS[kind].expected
        stay = {entry.id for entry in ledger("medium").entries()} - set(expected.removed)
        assert stay <= {entry.id for entry in got.entries()}, (editor, kind)


def test_nearly_all_edits_come_through(capsys):
    pairs = [(editor, kind) for editor in EDITORS for kind in EDITS]
    right = sum(not outcomes(editor)[kind] for editor, kind in pairs)
    with capsys.disabled():
        print(f"\nedits: {right} of {len(pairs)} come through {len(EDITORS)} configurations")  # noqa: T201 - the rate is the result
    assert right >= WANTED_EDITS * len(pairs)
    assert len(losses().keys() & set(pairs)) == len(pairs) - right


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: f"{chain.number:02}")
def test_a_chain_of_editors_loses_no_entry(chain):
    base = ledger("hostile")
    reading = read(fixtures.read_made(f"chains/{chain.number:02}.md"), base=base)
    assert [entry.id for entry in reading.ledger.entries()] == [e.id for e in base.entries()]
    assert reading.version == fixtures.VERSION


def test_most_chains_leave_no_trace(capsys):
    base = ledger("hostile")
    traces = {
        chain.number: list(
            differences(base, read(fixtures.read_made(f"chains/{chain.number:02}.md"), base).ledger)
        )
        for chain in CHAINS
        if not chain.wild
    }
    clean = sum(not found for found in traces.values())
    with capsys.disabled():
        print(f"\nchains: {clean} of {len(traces)} leave no trace")  # noqa: T201 - the rate is the result
    assert clean >= WANTED_CHAINS * len(traces), {
        number: found for number, found in traces.items() if found
    }
