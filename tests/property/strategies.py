"""Random ledgers, with the text that has broken readers, mergers and editors before."""

import msgspec
from hypothesis import strategies as st

from throughline_nb.ledger.inline import one_line
from throughline_nb.ledger.model import SECTIONS, STATES, STATUSES, Entry, Ledger, Prose

FRAGMENTS = [
    "*args",
    "**kwargs",
    "*a*",
    "**b**",
    "***c***",
    "a*b*c",
    "2",
    "*",
    "3",
    "_x_",
    "__init__",
    "snake_case",
    "_lead",
    "trail_",
    "é_é",
    "a__b",
    "`code`",
    "``a`b``",
    "`",
    "``",
    "```",
    "`{x}`",
    "`x`{=html}",
    "`a`{.b}",
    "{#id}",
    "{=x}",
    "x{.y}",
    "{key=v}",
    "x{k=v}",
    "~",
    "~~x~~",
    "~/home",
    "\\",
    "\\\\",
    "\\*",
    "\\n",
    "a\\b",
    "c:\\temp",
    "[x]",
    "[",
    "]",
    "[a]",
    "[a](b)",
    "[a](https://example.org/a)",
    "![i](u)",
    "!x",
    "[[w]]",
    "]",
    "(",
    ")",
    "<b>",
    "</b>",
    "<b>x</b>",
    "<!--",
    "<!--c-->",
    "-->",
    "<br/>",
    "<?php",
    "a<b",
    "<",
    ">",
    ">=",
    ">x",
    "<https://example.org>",
    "<a@example.org>",
    "https://example.org",
    "https://example.org/a_(b)",
    "https://example.org/a_b*c?x=1&y=2#z",
    "https://example.org/x).",
    "(https://example.org/y)",
    "HTTP://EXAMPLE.ORG/",
    "http://",
    "https://)",
    "https://example.org/\\x",
    "https://example.org/`x",
    "www.example.org",
    "a@example.org",
    "[https://example.org/a_b](https://example.org/a_b)",
    "&amp;",
    "&lt;",
    "&#35;",
    "&copy",
    "&x;",
    "&amp;lt;",
    "AT&T",
    "R&D;",
    "$",
    "$x$",
    "$$y$$",
    "#",
    "##",
    "#x",
    "#######",
    "-",
    "--",
    "---",
    "+",
    "++",
    "=",
    "==",
    "===",
    "***",
    "___",
    "1.",
    "2)",
    "12.",
    "1.x",
    "11434.",
    ">",
    ">>",
    "|",
    "|---|",
    "|a|b|",
    ":",
    "::",
    "%",
    "^2^",
    "@x",
    "'",
    '"',
    "“q”",
    "‘q’",
    "«q»",
    "–",
    "—",
    "…",
    "...",
    "F12",
    "**F12**",
    "**C1**",
    "S4",
    "C1:",
    "status:",
    "done",
    "source:",
    "note:",
    "from:",
    "-",
    "-",
    "*",
    "+",
    "goal:",
    "constraint:",
    "(none)",
    "[end",
    "throughLine]",
    "Goal",
    "Findings",
    "Notes",
    "Ledger",
    "1-a",
    "日本語",
    "全角（かっこ）、",
    "é",
    "ü",
    "👩\u200d👩\u200d👧",
    "🚀",
    "\u202e",
    "\u200b",
    "4,096",
    "v0.4.26",
    "4096",
    "2026-10-17",
    "true",
    "no",
    "null",
    "0123",
    "1.10",
]
LINES = (
    (
        "<!-- throughLine ledger, version 9-ffff. Edit freely; "
        "your changes are merged on the next turn. -->"
    ),
    "Ledger version `9-ffff` · next C9 S9 F9 D9 Q9 P9",
    "Ledger · next C9 S9 F9 D9 Q9 P9",
    "- **F12** a finding of another",
    "- [ ] **S4** a step",
    "## Findings",
    "# title",
    "```python x = 1```",
    "throughline: 1",
    "version: 9-ffff",
    "<script>alert('x')</script>",
    "<<<<<<< HEAD a ======= b >>>>>>> c",
    "status: done",
    "- status: done",
    "see [the docs](https://example.org/a_(b) 'title') and [https://example.org](https://example.org)",
)

fragments = st.one_of(
    st.sampled_from(FRAGMENTS), st.sampled_from(LINES), st.text(max_size=8), st.just("word")
)
texts = (
    st.tuples(st.sampled_from(["", " "]), st.lists(fragments, max_size=8))
    .map(lambda parts: one_line(parts[0].join(parts[1])))
    .filter(lambda text: text != "(none)")
)
"""One logical line, of any kind; may be empty."""

some_texts = texts.filter(bool)
"""As ``texts``, never empty."""

sources = st.one_of(
    st.just(""),
    st.just("user"),
    st.just("turn 41"),
    st.just("https://example.org/llama_cpp/README.md?plain=1"),
    st.just("https://example.org/a_(b)"),
    st.just("cell 3f9a of notebook/my_analysis.ipynb"),
    st.just("src/__init__.py"),
    texts,
)
idents = st.builds("{}{}".format, st.sampled_from("CSFDQP"), st.integers(1, 30))
times = st.datetimes().map(lambda time: time.strftime("%Y-%m-%dT%H:%M:%SZ"))

_FREE = {
    "source": sources,
    "reason": texts,
    "because": st.lists(idents, max_size=3).map(", ".join),
    "suspect": st.sampled_from(["", "F12 retracted", "F12 retracted; F13 changed"]),
    "missing": st.sampled_from(["", "8,192", "8,192; v0.4"]),
    "answer": texts,
    "note": texts,
    "was": st.one_of(st.just(""), idents),
    "step": st.one_of(st.just(""), st.just("S4")),
    "by": st.sampled_from(["", "model", "user", "engine"]),
    "origin": st.sampled_from(["", "turn 41 of lmstudio/1764500000000", "turn 3 of x/a_b*c"]),
    "added": st.one_of(st.just(""), times),
    "status": st.sampled_from(STATUSES),
    "state": st.sampled_from(STATES),
}

PARAGRAPHS = (
    "Whatever a person writes *stays* as it is.",
    "Two lines\nof __one__ paragraph \\* &amp; `code`",
    "> a quote\n> - **F12** in it",
    "```python\n- **F12** x\n## Findings\n\n  - status: done\n```",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "<div>\nhtml\n</div>",
    "<!-- a comment\nof two lines -->",
    "### A heading of my own",
    "[a link](https://example.org/a_(b)) and <https://example.org>",
    "status: this is no field",
)
LISTS = ("- a\n- b\n  - c", "1. one\n2. two", "- [ ] a box", "* * *")
SECTIONS_OF_ONES_OWN = ("A title\n-------", "## Another title")
inner_prose = st.lists(st.sampled_from(PARAGRAPHS), min_size=1, max_size=3).map("\n\n".join)
"""Prose that may stand between entries, where a bullet would be an entry."""

free_prose = st.lists(st.sampled_from(PARAGRAPHS + LISTS), min_size=1, max_size=4).map("\n\n".join)
"""Prose of a section that holds no entries."""

last_prose = st.lists(
    st.sampled_from(PARAGRAPHS + LISTS + SECTIONS_OF_ONES_OWN), min_size=1, max_size=4
).map("\n\n".join)
"""Prose of the section Notes, where a heading opens no section."""

own_prose = st.builds("## {}\n\n{}".format, st.sampled_from(["Ideas", "To do"]), last_prose)


def entries(letter: str, text: st.SearchStrategy[str] = some_texts) -> st.SearchStrategy[Entry]:
    """Entries of one kind, numbered 1 for the moment."""
    section = next(section for section in SECTIONS if section.letter == letter)
    fields = {name: _FREE[name] for name in section.fields}
    if letter == "P":
        text = st.builds("{}: {}".format, st.sampled_from(["goal", "constraint"]), text)
    return st.builds(Entry, id=st.just(f"{letter}1"), text=text, **fields)


@st.composite
def ledgers(draw, *, most: int = 4, prose: bool = True, front: bool = True) -> Ledger:
    """Valid ledgers.

    Args:
        draw: Given by hypothesis.
        most: Largest number of entries of one kind.
        prose: Whether text of the person's own stands in it.
        front: Whether its name is any text, and front matter of the person's own stands in it.
    """
    lists: dict[str, tuple[Entry, ...]] = {}
    free: list[int] = []
    for section in SECTIONS:
        drawn = draw(st.lists(entries(section.letter), max_size=most))
        gaps = draw(st.lists(st.integers(1, 3), min_size=len(drawn) + 1, max_size=len(drawn) + 1))
        numbers = [sum(gaps[: at + 1]) for at in range(len(gaps))]
        numbered = [
            msgspec.structs.replace(entry, id=f"{section.letter}{number}")
            for entry, number in zip(drawn, numbers, strict=False)
        ]
        free.append(numbers[-1])
        lists[section.attr] = tuple(
            draw(st.permutations(numbered)) if section.attr == "plan" else numbered
        )
    ledger = Ledger(
        project=draw(st.one_of(st.sampled_from(["llm-runtimes", "a_b", ""]), texts))
        if front
        else "llm-runtimes",
        goal=draw(texts),
        meta=draw(metas) if front else (),
        next=tuple(free),
        **lists,
    )
    return msgspec.structs.replace(ledger, prose=draw(proses(ledger))) if prose else ledger


metas = st.dictionaries(
    st.one_of(st.sampled_from(["title", "tags", "content", "a b", "no", "ключ"]), some_texts),
    st.one_of(st.sampled_from(["no", "0123", "1.10", "2026-05-24", "[a, b]", "x: y #z"]), texts),
    max_size=3,
).map(
    lambda pairs: tuple(
        p for p in pairs.items() if p[0] not in ("throughline", "project", "version")
    )
)


@st.composite
def proses(draw, ledger: Ledger) -> tuple[Prose, ...]:
    """Prose for some of the places of a ledger, in the order of the file."""
    kinds = [("top", inner_prose), ("goal", free_prose), ("after goal", own_prose)]
    for section in SECTIONS:
        kinds.append((section.attr, inner_prose))
        kinds += ((entry.id, inner_prose) for entry in ledger.list(section.attr))
        kinds.append((f"after {section.attr}", own_prose))
    kinds.append(("notes", last_prose))
    chosen = draw(st.sets(st.integers(0, len(kinds) - 1), max_size=3))
    return tuple(Prose(kinds[at][0], draw(kinds[at][1])) for at in sorted(chosen))
