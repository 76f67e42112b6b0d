"""What the source of a finding is, and whether what a chat read covers it.

Models write sources in many ways (``Turn #41``, ``user said``, ``[docs](https://…)``); they are
read leniently into one spelling. A *proof* says that a URL, a file or a turn stood in a chat's
history, and which exact figures stood in the text that was read, without the text itself.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, Literal

import msgspec

from throughline_nb.ledger.model import Entry
from throughline_nb.ledger.urls import bare_url, normalise_url, urls_in

Kind = Literal["url", "file", "user", "turn", "cell", "words", "none"]


class Source(msgspec.Struct, frozen=True):
    """Where a claim comes from.

    Attributes:
        kind: ``words`` is text that names nothing that can be looked up; ``none`` is no source.
        value: As the ledger keeps it.
        keys: What has to be proved, as in :class:`Proof`; all of them.
    """

    kind: Kind
    value: str = ""
    keys: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.value


class Proof(msgspec.Struct, frozen=True, omit_defaults=True):
    """That something stood in a chat's history.

    Attributes:
        kind: What it is.
        key: Normalised URL, normalised path, or ``turn 41``.
        turn: Turn in which it was read.
        figures: The exact figures in the text that was read, normalised and sorted; None where
            that text is not at hand, so that nothing can be said about figures.
    """

    kind: Literal["url", "file", "turn"]
    key: str
    turn: int
    figures: tuple[str, ...] | None = None


NONE: Final = Source("none")

_WRAPPED: Final = (
    ("<", ">"),
    ("`", "`"),
    ('"', '"'),
    ("'", "'"),
    ("“", "”"),
    ("«", "»"),
    ("(", ")"),
)
_PREFIX: Final = re.compile(
    r"(?i)(?:sources?|source url|url|link|uri|web ?page|page|website|quelle|fuente|出典)"
    r"\s*[:：=]\s*"
)
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\(<?(\S+?)>?(?:\s+\"[^\"]*\")?\)")
_NOTHING: Final = frozenset(
    [
        "-",
        "–",
        "—",
        ".",
        "?",
        "none",
        "null",
        "nil",
        "n/a",
        "na",
        "unknown",
        "unsourced",
        "nothing",
        "undefined",
        "keine",
        "aucune",
    ]
)
_USER: Final = re.compile(
    r"(?i)(?:(?:by|from|per|via|according to|told by|stated by|provided by|given by|confirmed by"
    r"|as stated by)\s+)?(?:the\s+)?users?(?:['’]s)?"
    r"(?:\s+(?:said|says|stated|told(?:\s+(?:me|us))?|provided|input|message|statement|request"
    r"|instructions?|confirmed|confirmation|prompt|decision|preference|answer|reply))?"
    r"(?:\s*[,(]?\s*(?:in\s+)?turn\s*#?\s*\d+\s*\)?)?"
    r"|(?:der |die )?(?:nutzer|benutzer|anwender)(?:in)?|l['’]utilisat(?:eur|rice)"
    r"|(?:el |la )?usuari[oa]|ユーザー?"
)
_TURN: Final = re.compile(
    r"(?i)(?:(?:in|from|see|cf\.?)\s+)?(?:(?:chat|conversation)\s+)?turns?\s*[:#№]?\s*(\d{1,9})"
    r"((?:\s*(?:,|and|&|-|–|to)\s*(?:turn\s*)?#?\d{1,9})*)\s*(?:of\s+(\S+/\S+))?"
)
_CELL: Final = re.compile(
    r"(?i)(?:(?:notebook\s+)?cell\s*[:#]?\s*\[?([\w-]+)\]?|(?:in|out)\s*\[(\d+)\])"
    r"(?:\s+(?:of|in|from)\s+(.+))?"
)
_FILE_PREFIX: Final = re.compile(
    r"(?i)(?:file|path|filename|datei|fichier|archivo)\s*[:：=]?\s+|file:(?!//)\s*"
)
_LINES: Final = re.compile(
    r"(?i)(?:[:#]L?\d+(?:[-:–]L?\d+)*|(?:[\s,(]+(?:lines?|l\.|page|p\.|pp\.|sheet|section)|[\s(]*§)"
    r"\s*(?!\S*\.[A-Za-z])[\w.–-]+\)?)$"
)
_ROOTED: Final = re.compile(r"(?:\.{1,2}[/\\]|~[/\\]|/|[A-Za-z]:[/\\]|\\\\)\S")
_EXTENSIONS: Final = (
    "pdf|docx?|xlsx?|pptx?|odt|ods|md|rst|txt|csv|tsv|jsonl?|ya?ml|toml|xml|html?|py|ipynb|js|ts|c"
    "|h|cpp|rs|go|java|log|ini|cfg|tex|epub|png|jpe?g|svg|sh|sql|db|parquet|gguf|zip|gz"
)
_PLAIN: Final = re.compile(rf"(?i)[^<>|\"*?:/\\]{{1,200}}\.(?:{_EXTENSIONS})")
_PATHS: Final = re.compile(r"[^<>|\"*?:]*[/\\][^<>|\"*?:]*\.[A-Za-z][A-Za-z0-9]{0,7}")
_FOLDERED: Final = re.compile(r"[\w.@+-]+(?:[/\\][\w.@+-]+)+")


@lru_cache(maxsize=4096)
def parse(text: str) -> Source:
    """Read a source as a model or a person wrote it.

    Args:
        text: One line; may be wrapped in quotes, angle brackets or a Markdown link.
    """
    text = _unwrapped(text)
    if text.lower() in _NOTHING or not text:
        return NONE
    for read in (_urls, _user, _turns, _cell, _file):
        source = read(text)
        if source is not None:
            return source
    return Source("words", text)


def same_source(one: str, other: str) -> bool:
    """Whether two sources are the same, however they are spelt."""
    if one == other:
        return True
    first, second = parse(one), parse(other)
    if first.keys or second.keys:
        return first.kind == second.kind and set(first.keys) == set(second.keys)
    return first.value.casefold() == second.value.casefold()


def first_state(source: str) -> str:
    """State of a finding that was just recorded: what the user says is verified at once."""
    return "verified" if parse(source).kind == "user" else "unverified"


def index(proofs: Iterable[Proof]) -> dict[str, Proof]:
    """Proofs by key; where one thing was read more than once, with the figures of all readings."""
    found: dict[str, Proof] = {}
    for proof in proofs:
        known = found.get(proof.key)
        if known is None or known.figures is None:
            found[proof.key] = proof
        elif proof.figures is not None and proof.figures != known.figures:
            both = tuple(sorted({*known.figures, *proof.figures}))
            found[proof.key] = msgspec.structs.replace(known, figures=both)
    return found


def check(entry: Entry, proofs: Mapping[str, Proof], *, own_chat: bool, turns: int) -> Entry:
    """Give a finding the state that its source and the proofs at hand allow.

    ``verified`` stays until text or source changes, and of the missing figures that were named
    then, those that other readings show are taken off.

    Args:
        entry: A finding; any other entry, and one that is retracted or stale, stays as it is.
        proofs: What the chat's history showed, by key (:func:`index`).
        own_chat: Whether this is the chat that recorded it. Only that one may say ``not read``,
            and only there does ``turn 41`` mean its own turn.
        turns: Complete turns of the history handed in: what was recorded in a later one is not
            judged yet. 0 for a host without history, which never takes a state back.

    Returns:
        The entry with its new ``state`` and ``missing``; the same object where nothing changed.
    """
    if entry.id[0] != "F" or entry.state in ("retracted", "stale"):
        return entry
    source = parse(entry.source)
    if source.kind == "user":
        return _with(entry, "verified", "")
    elsewhere = source.kind == "turn" and not (own_chat and _of_origin(source, entry))
    if not source.keys or source.kind == "cell" or elsewhere:
        return _with(entry, entry.state or "unverified", entry.missing)
    found = [proof for key in source.keys if (proof := proofs.get(key) or _by_name(key, proofs))]
    if len(found) == len(source.keys):
        return _with(entry, "verified", _missing(entry, found))
    seen = own_chat and _turn_of(entry) <= turns
    if seen and turns and entry.by != "user" and entry.state != "verified":
        return _with(entry, "not read", "")
    return _with(entry, entry.state or "unverified", entry.missing)


def file_key(path: str, *, lower: bool = True) -> str:
    """The spelling by which paths are compared: forward slashes, no ``./``, no line numbers.

    Args:
        path: Any path, also a Windows one or a ``file:`` URL.
        lower: Whether to fold case too.
    """
    path = re.sub(r"(?i)^file://(?:localhost)?(?:/(?=[a-z]:))?", "", path.strip())
    path = _LINES.sub("", path).replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    path = re.sub(r"(?<!^)/{2,}", "/", path.replace("/./", "/"))
    return path.casefold() if lower else path


def _unwrapped(text: str) -> str:
    """One line without what is only wrapped around it."""
    text = " ".join(text.split())
    while True:
        before = text
        text = _PREFIX.sub("", text, count=1) if _PREFIX.match(text) else text
        if match := _LINK.fullmatch(text):
            text = match[2]
        for left, right in _WRAPPED:
            if len(text) > 1 and text[0] == left and text[-1] == right and left not in text[1:-1]:
                text = text[1:-1].strip()
        if text == before:
            return text


def _urls(text: str) -> Source | None:
    urls = list(urls_in(text)) or [url for url in [bare_url(text)] if url]
    if not urls:
        return None
    value = urls[0] if len(urls) == 1 and urls[0].endswith(text) else text
    return Source("url", value, tuple(dict.fromkeys(map(normalise_url, urls))))


def _user(text: str) -> Source | None:
    return Source("user", "user", ("user",)) if _USER.fullmatch(text.rstrip(".")) else None


def _turns(text: str) -> Source | None:
    match = _TURN.fullmatch(text.rstrip("."))
    if match is None:
        return None
    first, rest, chat = match.groups()
    numbers = [first, *re.findall(r"\d+", rest)]
    keys = tuple(dict.fromkeys(f"turn {int(number)}" for number in numbers))
    value = f"turns {first}{rest}" if rest else keys[0]
    return Source("turn", value + (f" of {chat}" if chat else ""), keys)


def _of_origin(source: Source, entry: Entry) -> bool:
    """Whether a turn is one of the chat that recorded the entry, as it is where none is named."""
    chat = source.value.partition(" of ")[2]
    return not chat or entry.origin.endswith(f" of {chat}")


def _turn_of(entry: Entry) -> int:
    """The turn in which an entry was recorded, or 0."""
    match = re.match(r"turn (\d+)", entry.origin)
    return int(match[1]) if match else 0


def _cell(text: str) -> Source | None:
    match = _CELL.fullmatch(text)
    if match is None:
        return None
    value = f"cell {match[1] or match[2]}"
    if match[3]:
        value += f" of {file_key(match[3], lower=False)}"
    return Source("cell", value, (value,))


def _file(text: str) -> Source | None:
    path = _FILE_PREFIX.sub("", text, count=1).strip().strip("`\"'<>")
    bare = _LINES.sub("", path)
    if (
        path.lower().startswith("file://")
        or _ROOTED.match(bare)
        or _PLAIN.fullmatch(bare)
        or _PATHS.fullmatch(bare)
    ):
        return Source("file", path, (file_key(path),))
    if path != text and _FOLDERED.fullmatch(bare):
        return Source("file", f"file: {path}", (file_key(path),))
    return None


def _by_name(key: str, proofs: Mapping[str, Proof]) -> Proof | None:
    """The proof of a file that is named with more or fewer folders, if there is just one."""
    if key.startswith(("https://", "turn ")):
        return None
    ends = [
        proof
        for known, proof in proofs.items()
        if proof.kind == "file" and (known.endswith(f"/{key}") or key.endswith(f"/{known}"))
    ]
    return ends[0] if len(ends) == 1 else None


def _missing(entry: Entry, found: Iterable[Proof]) -> str:
    """The figures of the claim that stand in none of the sources, or what is known already."""
    if entry.state == "verified" and not entry.missing:
        return ""
    read: set[str] = set()
    for proof in found:
        if proof.figures is None:
            return entry.missing
        read.update(proof.figures)
    from throughline_nb.ledger.figures import missing  # noqa: PLC0415 - patterns of 5 ms

    absent = missing(entry.text, read)
    if entry.state == "verified":
        known = entry.missing.split("; ")
        absent = tuple(figure for figure in absent if figure in known)
    return "; ".join(absent)


def _with(entry: Entry, state: str, absent: str) -> Entry:
    if (entry.state, entry.missing) == (state, absent):
        return entry
    return msgspec.structs.replace(entry, state=state, missing=absent)
