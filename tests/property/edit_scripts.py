"""Random changes to a ledger, as a model, a person and the engine make them.

Written against :class:`random.Random`, so that one code serves the large runs against git (a plain
seed) and hypothesis (``st.randoms()``, which shrinks). States are kept as the engine keeps them: a
finding whose claim changes is ``unverified`` again, with the turn that changed it as its origin.
"""

from random import Random

import msgspec

from throughline_nb.ledger.model import BY_LETTER, STATUSES, Entry, Ledger, Prose, numbers_after

WORDS = [
    "the",
    "context",
    "length",
    "default",
    "is",
    "4,096",
    "8,192",
    "tokens",
    "of",
    "llama.cpp",
    "server",
    "v0.4.26",
    "release",
    "license",
    "Apache-2.0",
    "port",
    "11434",
    "*args",
    "snake_case",
    "`n_ctx`",
    "measured",
    "with",
    "and",
    "without",
    "flash",
    "attention",
    "日本語",
    "“quoted”",
    "–",
    "only",
    "on",
    "Linux,",
    "see",
    "<https://example.org/a_(b)>",
    "not",
    "yet",
    "checked",
    "by",
    "hand",
    "again",
]
SOURCES = ("", "user", "turn 7", "https://example.org/docs", "src/model.py")
replace = msgspec.structs.replace


def sentence(rng: Random, most: int = 12) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, most)))


def reworded(rng: Random, text: str) -> str:
    """``text`` with a word or two changed, put in or taken out."""
    words = text.split()
    for _ in range(rng.randint(1, 2)):
        at = rng.randint(0, max(len(words) - 1, 0))
        kind = rng.randint(0, 2)
        if kind == 0 and len(words) > 1:
            del words[at]
        elif kind == 1:
            words.insert(at, rng.choice(WORDS))
        elif words:
            words[at] = rng.choice(WORDS)
    return " ".join(words)


def grown(rng: Random, entries: int = 20, *, origin: str = "turn 1 of x/1") -> Ledger:
    """A ledger with about so many entries, as a few sessions leave it."""
    ledger = Ledger(project="llm-runtimes", goal=sentence(rng), meta=(("owner", "nobody"),))
    for number in range(entries):
        ledger = add(rng, ledger, tag=f"b{number}", origin=origin)
    ledger = write_prose(rng, ledger, "b")
    for _ in range(3):
        ledger = verify(rng, ledger)
    return ledger


def edited(rng: Random, base: Ledger, changes: int, tag: str) -> Ledger:
    """``base`` after some random changes.

    Args:
        rng: Decides everything.
        base: Ledger to start from.
        changes: How many.
        tag: Stands in every new text, so that two sides do not write the same by chance.
    """
    ledger = base
    for number in range(changes):
        change = rng.choice(CHANGES)
        if change in (add, change_text, set_goal):
            ledger = change(rng, ledger, tag=f"{tag}{number}", origin=f"turn {number} of x/{tag}")
        elif change is write_prose:
            ledger = write_prose(rng, ledger, f"{tag}{number}")
        else:
            ledger = change(rng, ledger)
    return ledger


def add(rng, ledger, *, tag, origin):
    section = BY_LETTER[rng.choice("FFFFFDDSSSCQP")]
    fields = {}
    if section.kind == "step":
        fields["status"] = rng.choice(STATUSES)
    if section.kind == "finding":
        fields["source"] = rng.choice(SOURCES)
        fields["state"] = "verified" if fields["source"] == "user" else "unverified"
    if section.kind == "decision" and ledger.findings:
        fields["because"] = ", ".join(
            sorted({rng.choice(ledger.findings).id for _ in range(rng.randint(1, 3))})
        )
    if rng.random() < 0.4:
        fields["note"] = sentence(rng, 20)
    text = f"{tag} {sentence(rng)}"
    entry = Entry(
        id=ledger.next_id(section.kind),
        text=f"goal: {text}" if section.kind == "proposal" else text,
        by=rng.choice(("model", "user")),
        origin=origin,
        added=f"2026-10-{rng.randint(1, 28):02}T12:00:00Z",
        **fields,
    )
    entries = list(ledger.list(section.attr))
    at = rng.randint(0, len(entries)) if section.attr == "plan" else len(entries)
    entries.insert(at, entry)
    return _with(ledger, section.attr, entries)


def change_text(rng, ledger, *, tag, origin):
    entry = _some(rng, ledger)
    if entry is None:
        return ledger
    new = replace(entry, text=f"{reworded(rng, entry.text)} {tag}", by="user")
    if entry.kind == "finding":
        source = rng.choice((entry.source, rng.choice(SOURCES)))
        state = "verified" if source == "user" else "unverified"
        if entry.retracted:
            state = "retracted"
        new = replace(new, source=source, state=state, missing="", origin=origin)
    return _put(ledger, new)


def change_note(rng, ledger):
    entry = _some(rng, ledger)
    if entry is None:
        return ledger
    name = rng.choice(("note", "reason") if entry.kind == "decision" else ("note",))
    old = getattr(entry, name)
    new = rng.choice((reworded(rng, old), sentence(rng, 20), "")) if old else sentence(rng, 20)
    return _put(ledger, replace(entry, **{name: new}))


def change_status(rng, ledger):
    if not ledger.plan:
        return ledger
    return _put(ledger, replace(rng.choice(ledger.plan), status=rng.choice(STATUSES)))


def change_because(rng, ledger):
    if not ledger.decisions or not ledger.findings:
        return ledger
    ids = {rng.choice(ledger.findings).id for _ in range(rng.randint(0, 3))}
    return _put(ledger, replace(rng.choice(ledger.decisions), because=", ".join(sorted(ids))))


def answer(rng, ledger):
    if not ledger.questions:
        return ledger
    return _put(ledger, replace(rng.choice(ledger.questions), answer=sentence(rng)))


def verify(rng, ledger):
    open_findings = [entry for entry in ledger.findings if entry.state == "unverified"]
    if not open_findings:
        return ledger
    state = rng.choice(("verified", "verified", "not read"))
    missing = rng.choice(("", "8,192")) if state == "verified" else ""
    return _put(ledger, replace(rng.choice(open_findings), state=state, missing=missing))


def retract(rng, ledger):
    if not ledger.findings:
        return ledger
    entry = rng.choice(ledger.findings)
    return _put(ledger, replace(entry, state="retracted", reason=sentence(rng)))


def delete(rng, ledger):
    entry = _some(rng, ledger)
    if entry is None:
        return ledger
    attr = entry.section.attr
    rest = [other for other in ledger.list(attr) if other.id != entry.id]
    if any(block.place == entry.id for block in ledger.prose):
        return ledger
    return _with(ledger, attr, rest)


def move(rng, ledger):
    plan = list(ledger.plan)
    if len(plan) < 2:
        return ledger
    plan.insert(rng.randint(0, len(plan) - 1), plan.pop(rng.randint(0, len(plan) - 1)))
    return _with(ledger, "plan", plan)


def set_goal(rng, ledger, *, tag, origin):
    return replace(ledger, goal=f"{reworded(rng, ledger.goal)} {tag}")


def write_prose(rng, ledger, tag):
    """Write, change or remove a paragraph of the person's own."""
    prose = list(ledger.prose)
    if prose and rng.random() < 0.6:
        at = rng.randint(0, len(prose) - 1)
        block = prose.pop(at)
        if rng.random() < 0.8:
            prose.insert(at, Prose(block.place, reworded(rng, block.text) or tag))
        return replace(ledger, prose=tuple(prose))
    places = ["goal", "findings", "notes", *(entry.id for entry in ledger.findings)]
    place = rng.choice([place for place in places if all(b.place != place for b in prose)] or [""])
    if not place:
        return ledger
    prose.append(Prose(place, f"{tag} wrote this: {sentence(rng, 20)}"))
    prose.sort(key=lambda block: places.index(block.place) if block.place in places else 0)
    order = {place: at for at, place in enumerate(("goal", "findings", *places[3:], "notes"))}
    return replace(ledger, prose=tuple(sorted(prose, key=lambda block: order[block.place])))


CHANGES = (
    add, add, add, change_text, change_text, change_note, change_note, change_status,
    change_because, answer, verify, verify, retract, delete, move, set_goal, write_prose,
)  # fmt: skip


def _some(rng: Random, ledger: Ledger) -> Entry | None:
    entries = list(ledger.entries())
    return rng.choice(entries) if entries else None


def _put(ledger: Ledger, new: Entry) -> Ledger:
    attr = new.section.attr
    return _with(ledger, attr, [new if e.id == new.id else e for e in ledger.list(attr)])


def _with(ledger: Ledger, attr: str, entries: list[Entry]) -> Ledger:
    ledger = replace(ledger, **{attr: tuple(entries)})
    return replace(ledger, next=numbers_after(ledger))
