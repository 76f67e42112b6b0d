"""Write the recall set (tests/data/recall) from the hand-written parts beside this file.

``<chat>.facts.txt`` holds whole turns, numbered, each with the questions that it answers:
``U>``, ``A>`` and ``T> <tool> <url>`` begin a message, ``?`` is a question
(``kind | question | answer ; answer | more evidence turns``), ``{date}`` in a question is the date
of that turn. ``<chat>.filler.txt`` holds the turns between by topic, as sentences of the user
(``u``) and the assistant (``a``); each turn draws from one topic. ``<chat>.pages.txt`` holds the
parts of long pages. All draws are seeded; the output is what is committed and measured.

    python tests/corpora/recall/make.py
"""

import json
import random
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "data" / "recall"
TURNS = 400
PER_DAY = 16
PAGES = 60
STARTS = {"runtimes": (2026, 2, 2), "archive": (2026, 4, 13), "greenhouse": (2026, 8, 31)}


def dump(path, rows):
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8", newline="\n")


def times(chat):
    """Start of each turn: sixteen a working day, minutes apart, with a break at midday."""
    rng = random.Random(f"{chat} times")
    day = datetime(*STARTS[chat], 8, 40, tzinfo=UTC)
    found = {}
    for turn in range(1, TURNS + 1):
        if (turn - 1) % PER_DAY == 0:
            if turn > 1:
                day += timedelta(days=1)
            while day.weekday() > 4:
                day += timedelta(days=1)
            now = day + timedelta(minutes=rng.randrange(0, 50))
        elif (turn - 1) % PER_DAY == 8:
            now += timedelta(minutes=rng.randrange(150, 230))
        else:
            now += timedelta(minutes=rng.randrange(3, 19), seconds=rng.randrange(60))
        found[turn] = now
    return found


def facts(chat, when):
    turns, questions, turn, target = {}, [], 0, None
    for line in (HERE / f"{chat}.facts.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("@"):
            turn = int(line[1:])
            assert turn not in turns, f"{chat} {turn} twice"
            turns[turn] = []
            target = None
        elif line.startswith(("U> ", "A> ")):
            target = {"role": {"U": "user", "A": "assistant"}[line[0]], "text": line[3:]}
            turns[turn].append(target)
        elif line.startswith("T> "):
            _, tool, url = line.split()
            turns[turn].append({"role": "assistant", "text": "", "tool": tool, "args": {"url": url}})
            target = {"role": "tool", "text": "", "tool": tool}
            turns[turn].append(target)
        elif line.startswith("? "):
            kind, question, answers, *more = [part.strip() for part in line[2:].split("|")]
            date = f"{when[turn].day} {when[turn]:%B}"
            questions.append(
                {
                    "chat": chat,
                    "question": question.replace("{date}", date),
                    "kind": kind,
                    "answer": [answer.strip() for answer in answers.split(";")],
                    "evidence": sorted({turn, *(int(t) for t in " ".join(more).split())}),
                }
            )
            target = None
        elif target is not None:
            target["text"] += "\n" + line
    for messages in turns.values():
        for message in messages:
            message["text"] = message["text"].strip()
    return turns, questions


SLOTS = {
    "n": lambda rng: str(rng.randrange(2, 40)),
    "m": lambda rng: str(rng.randrange(41, 990)),
    "pct": lambda rng: f"{rng.randrange(2, 98)} %",
    "clock": lambda rng: f"{rng.randrange(7, 19)}:{rng.randrange(60):02}",
    "day": lambda rng: rng.choice(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]),
}


def fill(text, rng, names=None):
    """Draw a value for each slot; ``names`` are the chat's own lists (``= host a, b`` lines)."""

    def value(match):
        if match[1] in SLOTS:
            return SLOTS[match[1]](rng)
        return rng.choice(names[match[1]])

    return re.sub(r"\{([a-z]+)\}", value, text)


class Deck:
    """Cards dealt in shuffled rounds, so that none comes again before the others."""

    def __init__(self, cards, rng):
        self.cards, self.rng, self.left = list(cards), rng, []

    def deal(self, count=1):
        dealt = []
        while len(dealt) < min(count, len(self.cards)):
            if not self.left:
                self.left = self.rng.sample(self.cards, len(self.cards))
            card = self.left.pop()
            if card not in dealt:
                dealt.append(card)
        return dealt


def filler(chat, rng):
    topics, opening, closing, names = [], [], [], {}
    for line in (HERE / f"{chat}.filler.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            _, key, values = line.split(" ", 2)
            names[key] = values.split(", ")
        elif line.startswith("# "):
            topics.append(([], []))
        elif line.startswith("u "):
            topics[-1][0].append(line[2:])
        elif line.startswith("a "):
            topics[-1][1].append(line[2:].replace("\\n", "\n"))
        elif line.startswith("o "):
            opening.append(line[2:])
        elif line.startswith("c "):
            closing.append(line[2:])
    decks = Deck([(Deck(u, rng), Deck(a, rng)) for u, a in topics], rng)
    opening, closing = Deck(opening, rng), Deck(closing, rng)
    seen = set()
    while True:
        ((users, answers),) = decks.deal()
        user = users.deal(rng.choice([1, 1, 2, 2, 3]))
        if rng.random() < 0.45:
            user[:0] = opening.deal()
        answer = answers.deal(rng.choice([2, 3, 3, 4, 5]))
        if rng.random() < 0.35:
            answer += closing.deal()
        pair = fill(" ".join(user), rng, names), fill(" ".join(answer), rng, names)
        if not seen & set(pair):
            seen |= set(pair)
            yield [{"role": "user", "text": pair[0]}, {"role": "assistant", "text": pair[1]}]


def page(parts, number, rng, names):
    """One long page: prose, a list, a table and a changelog, in changing order and number."""
    title, paragraphs, items, changes, table = parts
    head = fill(title[number % len(title)], rng, names)
    slug = re.sub(r"[^a-z0-9]+", "-", head.lower()).strip("-")
    blocks = [f"{head}\nhttps://docs.example.org/{slug}/{number}\n"]
    size = rng.randrange(3100, 5600)
    makers = Deck("ppplltv", rng)
    while sum(map(len, blocks)) < size:
        (kind,) = makers.deal()
        if kind == "p":
            blocks.append(" ".join(paragraphs.deal(rng.randrange(3, 7))))
        elif kind == "l":
            blocks.append("\n".join(f"- {item}" for item in items.deal(rng.randrange(4, 9))))
        elif kind == "v":
            major, minor = rng.randrange(1, 9), rng.randrange(0, 20)
            lines = [f"## {major}.{minor}.{patch}" for patch in range(rng.randrange(2, 5), 0, -1)]
            blocks.append(
                "\n".join(f"{line}\n" + "\n".join(f"* {c}" for c in changes.deal(3)) for line in lines)
            )
        else:
            columns = table.deal(1)[0].split("|")
            head_row = "| " + " | ".join(c.split(":")[0] for c in columns) + " |"
            rows = []
            for _ in range(rng.randrange(5, 11)):
                cells = [
                    rng.choice(c.split(":")[1].split(","))
                    if ":" in c
                    else str(rng.randrange(1, 2000))
                    for c in columns
                ]
                rows.append("| " + " | ".join(cells) + " |")
            blocks.append("\n".join([head_row, "|" + "---|" * len(columns), *rows]))
    return fill("\n\n".join(blocks), rng, names)[:5990]


def pages(chat, when):
    source = HERE / f"{chat}.pages.txt"
    if not source.exists():
        return []
    rng = random.Random(f"{chat} pages")
    kinds = {key: [] for key in "tplvx"}
    names = {}
    for line in source.read_text(encoding="utf-8").splitlines():
        if line[:2] in {"t ", "p ", "l ", "v ", "x "}:
            kinds[line[0]].append(line[2:])
        elif line.startswith("= "):
            _, key, values = line.split(" ", 2)
            names[key] = values.split(", ")
    parts = [kinds["t"], *(Deck(kinds[key], rng) for key in "plvx")]
    at = sorted(rng.sample(range(2, TURNS + 1), PAGES))
    tools = ["read_webpage", "fetch", "visit_website"]
    return [
        {
            "turn": turn,
            "role": "tool",
            "time": when[turn].timestamp() + 20,
            "text": page(parts, number, rng, names),
            "tool": rng.choice(tools),
        }
        for number, turn in enumerate(at)
    ]


def build(chat):
    when = times(chat)
    turns, questions = facts(chat, when)
    between = filler(chat, random.Random(f"{chat} filler"))
    rows = []
    for turn in range(1, TURNS + 1):
        step = 0
        for message in turns.get(turn) or next(between):
            row = {"turn": turn, "role": message["role"], "time": when[turn].timestamp() + step}
            row["text"] = message["text"]
            row["tool"] = message.get("tool", "")
            if "args" in message:
                row["args"] = message["args"]
            rows.append(row)
            step += 15
    texts = {turn: "\n".join(r["text"] for r in rows if r["turn"] == turn) for turn in when}
    for entry in questions:
        evidence = [texts[turn] for turn in entry["evidence"]]
        for answer in entry["answer"]:
            assert any(answer in text for text in evidence), (entry, answer)
        for turn, text in zip(entry["evidence"], evidence, strict=True):
            assert any(answer in text for answer in entry["answer"]), (entry, turn)
    hold_out(chat, questions)
    dump(OUT / f"{chat}.jsonl", rows)
    long = pages(chat, when)
    if long:
        dump(OUT / f"{chat}.tools.jsonl", long)
    kinds = sorted({entry["kind"] for entry in questions})
    counts = {kind: sum(entry["kind"] == kind for entry in questions) for kind in kinds}
    print(chat, len(turns), "written turns,", len(questions), "questions", counts)
    return questions


def hold_out(chat, questions):
    """Every third question of each kind in a shuffled order is held out; drawn per chat."""
    rng = random.Random(f"{chat} held out")
    order = []
    for kind in sorted({entry["kind"] for entry in questions}):
        ours = [entry for entry in questions if entry["kind"] == kind]
        order += rng.sample(ours, len(ours))
    start = rng.randrange(3)
    for place, entry in enumerate(order):
        entry["held_out"] = place % 3 == start


def probes():
    """``kind ~ language ~ query ~ text``; the others of a block are the distractors."""
    rows = []
    for block in (HERE / "probes.txt").read_text(encoding="utf-8").strip().split("\n\n"):
        lines = [line.split(" ~ ", 2) for line in block.split("\n")]
        lines = [(kind, language, *rest.rsplit(" ~ ", 1)) for kind, language, rest in lines]
        for kind, language, query, text in lines:
            others = [line[3] for line in lines if line[3] != text]
            rows.append(
                {"kind": kind, "text": text, "distractors": others}
                | {"query": query, "language": language}
            )
    dump(OUT / "probes.jsonl", rows)
    print(len(rows), "probes")


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    probes()
    chats = [chat for chat in STARTS if (HERE / f"{chat}.facts.txt").exists()]
    found = [entry for chat in chats for entry in build(chat)]
    dump(OUT / "questions.jsonl", found)
    sys.exit(0)
