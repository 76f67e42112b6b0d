"""Our merge against git's: one blob a field, merged by git as trees, and the ledger as one text.

git's answer counts where it finds no conflict. Ours must be the same there, but for what only we
know: the state of a finding whose claim changed, and where prose goes whose entry is gone.
"""

import os
import re
from random import Random

import msgspec
import pytest

from tests.property.edit_scripts import edited, grown
from tests.property.git_oracle import Git, explode
from throughline_nb.ledger import merge, read, write

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
TRIPLES = 2000 if DEEP else 300
BATCH = 100


def triples(count, seed):
    """Two sides of one base; in half of them new ids differ, so that git can merge additions."""
    rng = Random(seed)
    for number in range(count):
        base = grown(rng, rng.randint(5, 25))
        ours = edited(rng, base, rng.randint(2, 10), "o")
        start = base
        if number % 2:
            start = msgspec.structs.replace(base, next=tuple(free + 50 for free in base.next))
        yield base, ours, edited(rng, start, rng.randint(2, 10), "t")


class Tally(msgspec.Struct):
    """What came of the triples.

    Attributes:
        triples: All.
        answered: Those in which git's merge of one blob a field has no conflict.
        blind: Those in which git does not see that one side deleted what the other changed.
        differ: Those in which ours is another, in words.
        text_conflicts: Of those answered, how many ``git merge-file`` reports as conflicts.
        text_wrong: Of those answered, in how many it merges to something else.
        text_twice: Of the others, in how many it merges and an id stands twice.
    """

    triples: int = 0
    answered: int = 0
    blind: int = 0
    differ: list[str] = []
    text_conflicts: int = 0
    text_wrong: int = 0
    text_twice: int = 0


@pytest.fixture(scope="module")
def tally(tmp_path_factory):
    found = Tally()
    for batch in range(TRIPLES // BATCH):
        git = Git(tmp_path_factory.mktemp("git"))
        sides = list(triples(BATCH, batch))
        answers = git.merge_trees([tuple(map(explode, triple)) for triple in sides])
        for number, (triple, answer) in enumerate(zip(sides, answers, strict=True)):
            found.triples += 1
            text = git.merge_file(*map(body, triple))
            if answer is not None:
                compare(found, git, triple, answer, text, f"batch {batch}, triple {number}")
            elif text is not None:
                ids = re.findall(r"\*\*([CSFDQP]\d+)\*\*", text)
                found.text_twice += len(set(ids)) < len(ids)
    return found


def compare(found, git, triple, answer, text, name):
    base, ours, theirs = triple
    if any(
        one_side_deleted_what_the_other_changed(entry, ours, theirs) for entry in base.entries()
    ):
        # Where the change was a field more or less, git sees no conflict: it leaves a field
        # without an entry, or drops the entry with the change.
        found.blind += 1
        return
    entries = {path.rsplit("/", 1)[0] for path in answer if path.count("/") == 2}
    found.answered += 1
    merged = merge(base, ours, theirs, merge_text=git.merge_text)
    standing = {entry.rpartition("/")[2] for entry in entries}
    moved = any(
        path.startswith("prose/F") and path.partition("/")[2] not in standing for path in answer
    )
    expected = settled(answer, base, moved, entries)
    got = settled(explode(merged.ledger), base, moved, entries)
    if got != expected:
        paths = [p for p in {**expected, **got} if expected.get(p) != got.get(p)]
        lines = [f"{p}: git {expected.get(p)!r}, ours {got.get(p)!r}" for p in sorted(paths)]
        found.differ.append("\n  ".join([name, *lines]))
    if text is None:
        found.text_conflicts += 1
    elif settled(explode(read(text).ledger), base, moved, entries) != expected:
        found.text_wrong += 1


def one_side_deleted_what_the_other_changed(entry, ours, theirs):
    sides = [side.get(entry.id) for side in (ours, theirs)]
    return sum(side is None for side in sides) == 1 and entry not in sides


def settled(fields, base, moved, entries):
    """``fields`` without what git cannot know: states of changed claims, and prose that moved."""
    was = explode(base)
    left_out = {path for path in fields if moved and path.startswith("prose/")}
    for entry in entries:
        if entry.startswith("findings/") and any(
            fields.get(f"{entry}/{name}") != was.get(f"{entry}/{name}")
            for name in ("text", "source")
        ):
            left_out |= {f"{entry}/state", f"{entry}/missing"}
    return {path: text for path, text in fields.items() if path not in left_out}


def body(ledger):
    """The ledger as text, without the last line, on which any two additions conflict."""
    text = write(ledger)
    return text[: text.rindex("\nLedger ")]


@pytest.mark.slow
def test_the_merge_is_what_git_makes_of_one_blob_a_field(tally):
    assert tally.triples == TRIPLES
    assert tally.answered > TRIPLES * 0.3
    assert tally.differ == []


@pytest.mark.slow
def test_merging_the_file_as_plain_text_is_not_enough(tally):
    print(  # noqa: T201 - the docs quote it
        f"\nof {tally.answered} triples with an answer, merge-file conflicts in "
        f"{tally.text_conflicts} and is wrong in {tally.text_wrong}; of the other "
        f"{tally.triples - tally.answered}, an id stands twice in {tally.text_twice}"
    )
    assert tally.text_conflicts > tally.answered * 0.2
    assert tally.text_wrong + tally.text_twice > 0
