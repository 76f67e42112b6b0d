"""Ledgers to measure on: made from a seed, as long as wanted, written like a real research."""

import random
from collections.abc import Callable, Iterator
from typing import Final

from throughline_nb.ledger import Entry, Ledger, write
from throughline_nb.ledger.model import BY_KIND, SECTIONS, Attr

PARTS: Final = (
    "llama_cpp_server", "the batch scheduler", "`--ctx-size`", "KV cache", "the *fused* kernel",
    "tokenizer_config.json", "the default build", "release v0.4.26", "the GGUF loader", "rope_scaling",
    "the REST endpoint", "`num_ctx`", "the CPU back end", "speculative decoding", "model[0]",
    "the Windows installer", "paged attention", "the “auto” mode", "half-precision", "the test suite",
)  # fmt: skip
VERBS: Final = (
    "defaults to", "needs at least", "refuses more than", "was measured at", "reports", "allocates",
    "falls back to", "is limited to", "documents", "keeps",
)  # fmt: skip
AMOUNTS: Final = (
    "tokens", "MB of memory", "requests a second", "threads", "layers", "ms for a prompt of 512",
    "% of the peak", "open files",
)  # fmt: skip
TAILS: Final = (
    "when nothing else is set", "on a machine with two sockets", "unless `-ngl` says otherwise",
    "as of 2026-03-14", "after the change in #1423", "in every release since 1.10",
    "according to its README", "which the changelog does not mention", "for models above 7B",
    "with a warning in the log",
)  # fmt: skip
HOSTS: Final = ("docs.example.org", "example.org", "code.example.net")

SHARES: Final = {
    "constraint": 0.01,
    "step": 0.08,
    "finding": 0.66,
    "decision": 0.14,
    "question": 0.10,
    "proposal": 0.01,
}
"""How many of a ledger's entries are of which kind."""


def sentence(rng: random.Random) -> str:
    """One claim with a figure, and with the characters that Markdown gives a meaning."""
    return (
        f"{rng.choice(PARTS)} {rng.choice(VERBS)} {rng.randrange(2, 99_999):,} "
        f"{rng.choice(AMOUNTS)} {rng.choice(TAILS)}, {rng.choice(PARTS)} {rng.choice(VERBS)} "
        f"{rng.randrange(2, 512)} {rng.choice(TAILS)}."
    )


def url(rng: random.Random, page: int) -> str:
    """Address of one of the pages that a chat may have read."""
    return f"https://{rng.choice(HOSTS)}/{rng.choice(('wiki', 'llama_cpp', 'spec'))}/page_{page}?plain=1"


def ledger(entries: int, seed: str = "bench") -> Ledger:
    """A ledger of so many entries; another seed gives other texts throughout.

    About one finding in 12 is not read and one in 15 has no source yet, as in a project that is
    under way: a turn looks at those again.
    """
    rng = random.Random(seed)
    counts = {kind: max(1, round(entries * share)) for kind, share in SHARES.items()}
    counts["finding"] += entries - sum(counts.values())
    lists: dict[Attr, tuple[Entry, ...]] = {
        BY_KIND[kind].attr: tuple(_entries(rng, kind, count)) for kind, count in counts.items()
    }
    free = tuple(len(lists[section.attr]) + 1 for section in SECTIONS)
    return Ledger(
        project="bench",
        goal="Compare license, latest release and default context of seven inference runtimes",
        next=free,
        **lists,
    )


def sized(kilobytes: float, seed: str = "bench") -> Ledger:
    """A ledger whose file has about so many KB."""
    entries = 60
    for _ in range(8):
        size = len(write(ledger(entries, seed), "1-0000").encode())
        if abs(size - kilobytes * 1024) < 400:
            break
        entries = round(entries * kilobytes * 1024 / size)
    return ledger(entries, seed)


def resaved(text: str) -> str:
    """Every line as a rich-text editor on ProseMirror writes it.

    Other bullets, deeper indentation, every underscore and box escaped, comments and front matter
    gone (ledger-format's table of tools).
    """
    body = text.split("---\n", 2)[2]
    kept = (line for line in body.split("\n") if not line.startswith("<!--"))
    return "\n".join(map(_resaved_line, kept)).lstrip("\n")


def _resaved_line(line: str) -> str:
    bullet = line.lstrip(" ")
    if bullet.startswith("- "):
        depth, rest = (len(line) - len(bullet)) // 2, bullet[2:]
        if rest[:3] in ("[ ]", "[x]"):
            rest = f"\\[{rest[1]}\\]{rest[3:]}"
        line = "    " * depth + "* " + rest
    return line.replace("\\_", "_").replace("_", "\\_")


def _entries(rng: random.Random, kind: str, count: int) -> Iterator[Entry]:
    letter = BY_KIND[kind].letter
    make = _MAKERS[kind]
    for number in range(1, count + 1):
        common = {
            "by": "user" if number % 9 == 0 else "model",
            "origin": f"turn {number} of lmstudio/1764500000000",
            "added": f"2026-10-{number // 60 % 28 + 1:02}T{number // 60 % 24:02}:{number % 60:02}:09Z",
        }
        yield Entry(id=f"{letter}{number}", **common, **make(rng, number, count))


def _rule(rng: random.Random, number: int, count: int) -> dict[str, str]:
    return {"text": f"Only primary sources count for {rng.choice(PARTS)} ({number})"}


def _step(rng: random.Random, number: int, count: int) -> dict[str, str]:
    at = round(count * 0.6)
    status = "done" if number < at else "doing" if number == at else "todo"
    return {
        "text": f"Verify what {rng.choice(PARTS)} does {rng.choice(TAILS)} ({number})",
        "status": status,
        "note": f"{rng.randrange(2, 9)} of 9 checked" if status == "done" else "",
    }


def _finding(rng: random.Random, number: int, count: int) -> dict[str, str]:
    lacks_source = number % 15 == 7
    state = "not read" if number % 12 == 5 else "unverified" if lacks_source else "verified"
    return {
        "text": f"{number}: {sentence(rng)}",
        "source": "" if lacks_source else url(rng, number),
        "state": state,
        "missing": "8,192" if number % 40 == 3 else "",
        "step": f"S{number % 5 + 1}",
    }


def _decision(rng: random.Random, number: int, count: int) -> dict[str, str]:
    return {
        "text": f"Leave {rng.choice(PARTS)} out of table {number}",
        "reason": sentence(rng),
        "because": f"F{number}, F{number * 2}",
    }


def _question(rng: random.Random, number: int, count: int) -> dict[str, str]:
    return {
        "text": f"Does {rng.choice(PARTS)} mean the server's or the library's default ({number})?",
        "answer": sentence(rng) if number % 6 else "",
    }


def _proposal(rng: random.Random, number: int, count: int) -> dict[str, str]:
    return {"text": f"constraint: Count only what {rng.choice(PARTS)} documents ({number})"}


_MAKERS: Final[dict[str, Callable[[random.Random, int, int], dict[str, str]]]] = {
    "constraint": _rule,
    "step": _step,
    "finding": _finding,
    "decision": _decision,
    "question": _question,
    "proposal": _proposal,
}
