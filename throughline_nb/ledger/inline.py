"""Inline text: how one logical line is written so that Markdown shows it as it is, and read back.

An entry's text is literal text in which only code spans mean something. :func:`escape` writes it
so that CommonMark renders exactly these characters, wherever an editor may wrap the line;
:func:`unescape` undoes that, and what editors make of it: entities, ``<url>``, ``[url](url)``,
and pandoc's ``{=html}``.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

_ENTITY: Final = r"&(?:amp;)?(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
_URL: Final = r"(?<![A-Za-z0-9])https?://[^\s<>`\\\"]+"

# The rules are numbered in the design; a code span is found before, so that none applies in it.
_ESCAPED = re.compile(
    rf"(?P<url>(?i:{_URL}))"
    r"|(?P<number>(?<![^ ])[0-9]{1,9})(?=[.)] )"
    r"|(?P<char>[\\*\[\]~$`]"
    r"|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
    r"|<(?=[A-Za-z/!?])"
    r"|&(?=(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
    r"|!(?=\[)"
    r"|(?<=[^ ])\{(?=[.#=]|[\w-]+=)"
    r"|(?<![^ ])(?:\+(?![^ ])|-(?=-*(?![^ -]))|=(?==*(?![^ =]))|\#(?=\#*(?![^ \#]))|>))"
)
_HAS_SPECIAL = re.compile(r"[\\*\[\]~$`_<&!{>]|://|(?<![^ ])(?:[-+=#]|[0-9]{1,9}[.)] )")
_PARAGRAPH_START = re.compile(r"[#>\-+=|:]|(?P<number>[0-9]{1,9})[.)](?![^ ])|\(none\)$")
_HEADING_END = re.compile(r"(?<!\\)(?:(?<!#)#+$|\{(?=[^{}`]*\}$))")
_BRACKETS: Final = "(["
_CLOSING: Final = ".,:;!?'\"]}*_~…’”»。，、；：！？）】」』"

_UNESCAPED = re.compile(
    r"\\(?P<char>[!-/:-@\[-`{-~‐-―‘-‟…])"
    r"|(?P<ticks>`+)"
    r"|<(?P<auto>(?i:[a-z][a-z0-9+.-]+:|www\.)[^\s<>]*|[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+)>"
    rf"|(?P<entity>{_ENTITY})"
    r"|(?P<link>\[)"
)
_LABEL = re.compile(r"\[((?:[^\[\]\\`]|\\.|\[[^\[\]`]{0,999}\]){0,9999})\]\(")
_PANDOC_CLASS = re.compile(r"\{\.(?:uri|email)\}")
_RAW_HTML = re.compile(r"\{=[A-Za-z]+\}")
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff]")
_SPACES = re.compile(r"[^\S ]|  |^ | $")


def one_line(text: str) -> str:
    """``text`` as one logical line, which is what every field of an entry is.

    White space of any kind is collapsed, terminal escape sequences and control characters are
    dropped, and the rest is in Unicode's normal form C. Applying it again changes nothing.
    """
    if text.isascii() and text.isprintable() and not _SPACES.search(text):
        return text
    if not text.isprintable():
        text = _CONTROL.sub("", _ANSI.sub("", text))
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.split())


def escape(text: str) -> str:
    """Write one logical line as Markdown that CommonMark renders as exactly these characters."""
    if not _HAS_SPECIAL.search(text):
        return text
    if "`" not in text:
        return _ESCAPED.sub(_escaped, text)
    parts: list[str] = []
    after_code = False
    for code, start, end in _spans(text):
        if code:
            parts.append(text[start:end])
        else:
            # Look-behind must see what precedes the stretch, so the whole text is searched.
            parts.append(_escape_between(text, start, end, after_code=after_code))
        after_code = code
    return "".join(parts)


def escape_paragraph(text: str) -> str:
    """As :func:`escape`, for text that stands at the start of a paragraph."""
    found = _PARAGRAPH_START.match(text)
    escaped = escape(text)
    if found is None or escaped.startswith("\\"):
        return escaped
    number = found["number"]
    if number is None:
        return "\\" + escaped
    return escaped if escaped[len(number)] == "\\" else f"{number}\\{escaped[len(number) :]}"


def escape_heading(text: str) -> str:
    """As :func:`escape`, for a heading: its end must not look like closing ``#`` or attributes."""
    return _HEADING_END.sub(r"\\\g<0>", escape(text))


def unescape(text: str) -> str:
    """Read one logical line of Markdown back, as :func:`escape` or an editor wrote it."""
    found = _UNESCAPED.search(text)
    if found is None:
        return text
    parts: list[str] = []
    runs: dict[int, list[int]] | None = None
    done = 0
    while found is not None:
        start, end = found.span()
        kind = found.lastgroup
        piece: str | None = None
        if kind == "char":
            piece = found["char"]
        elif kind == "auto":
            piece = found["auto"]
        elif kind == "entity":
            piece = _entity(found["entity"])
        elif kind == "link":
            link = _self_link(text, start)
            if link is not None:
                piece, end = link
        else:
            runs = runs if runs is not None else _runs(text)
            piece, end = _code(text, start, end, runs)
        if piece is not None:
            parts += (text[done:start], piece)
            done = end
        found = _UNESCAPED.search(text, end)
    parts.append(text[done:])
    return "".join(parts)


def cut_url(url: str) -> str:
    """The part of ``url`` that belongs to it where it stands in running text.

    It ends before the first unbalanced ``)`` or ``]`` and before closing punctuation.
    """
    depth = dict.fromkeys(_BRACKETS, 0)
    for at, char in enumerate(url):
        if char in "([":
            depth[char] += 1
        elif char in ")]":
            opening = "(" if char == ")" else "["
            depth[opening] -= 1
            if depth[opening] < 0:
                url = url[:at]
                break
    return url.rstrip(_CLOSING if "[" not in url else _CLOSING.replace("]", ""))


def same_link(label: str, target: str) -> bool:
    """Whether a link's label says no more than its target: equal but for scheme and encoding."""
    return _bare(label) == _bare(target)


def _bare(url: str) -> str:
    url = re.sub(r"(?i)^(?:https?://|mailto:)", "", _unescaped_html(url))
    return unquote(url).replace("\\", "").rstrip("/")


def _escaped(found: re.Match[str]) -> str:
    char = found["char"]
    if char is not None:
        return "\\" + char
    number = found["number"]
    if number is not None:
        return number + "\\"
    url = found["url"]
    cut = cut_url(url)
    rest = _ESCAPED.sub(_escaped, url[len(cut) :])
    return cut + rest if cut.endswith("://") else f"<{cut}>{rest}"


def _escape_between(text: str, start: int, end: int, *, after_code: bool) -> str:
    parts: list[str] = []
    if after_code and text.startswith("{", start):
        parts.append("\\{")
        start += 1
    done = start
    for found in _ESCAPED.finditer(text, start, end):
        parts += (text[done : found.start()], _escaped(found))
        done = found.end()
    parts.append(text[done:end])
    return "".join(parts)


def _runs(text: str) -> dict[int, list[int]]:
    """Where each run of backticks starts, by its length."""
    runs: dict[int, list[int]] = {}
    for found in re.finditer("`+", text):
        runs.setdefault(len(found.group()), []).append(found.start())
    return runs


def _closing(runs: dict[int, list[int]], length: int, start: int) -> int:
    """Where the run of this length that closes a span starts, or -1."""
    starts = runs.get(length, [])
    at = bisect_left(starts, start)
    return starts[at] if at < len(starts) else -1


def _spans(text: str) -> Iterator[tuple[bool, int, int]]:
    """Cut ``text`` into code spans (True) and what is between them."""
    runs = _runs(text)
    done = 0
    position = 0
    while (found := text.find("`", position)) >= 0:
        stop = found
        while text.startswith("`", stop):
            stop += 1
        closing = _closing(runs, stop - found, stop)
        if closing < 0:
            position = stop
            continue
        if found > done:
            yield False, done, found
        position = done = closing + stop - found
        yield True, found, done
    if done < len(text):
        yield False, done, len(text)


def _code(text: str, start: int, end: int, runs: dict[int, list[int]]) -> tuple[str | None, int]:
    """What the backticks at ``start`` open: the raw span, or None, and where to go on."""
    closing = _closing(runs, end - start, end)
    if closing < 0:
        return None, end
    stop = closing + end - start
    raw = _RAW_HTML.match(text, stop)
    if raw is None:
        return text[start:stop], stop
    content = text[end:closing]
    if content.strip().startswith("`") or content.strip().endswith("`"):
        content = content.strip()  # padded, so that its own backticks do not close the span
    return content, raw.end()


def _entity(entity: str) -> str:
    once = _unescaped_html(entity)
    return _unescaped_html(once) if once != entity else entity


def _unescaped_html(text: str) -> str:
    import html  # noqa: PLC0415 - its table of entities takes 1 ms to load

    return html.unescape(text)


def _self_link(text: str, start: int) -> tuple[str, int] | None:
    """A link at ``start`` whose label is its target: the label, and where the link ends."""
    label = _LABEL.match(text, start)
    if label is None:
        return None
    depth = 1
    at = label.end()
    # Percent-encoding makes at most nine characters of one; what is longer is no such target.
    stop = min(len(text), at + 9 * len(label[1]) + len("<https://>") + 1)
    while at < stop:
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if not depth:
                break
        at += 1
    if depth:
        # An unbalanced URL that nothing escaped: the target ends where the label repeats itself.
        at = label.end() + len(label[1])
        if text[label.end() : at + 1] != label[1] + ")":
            return None
    shown = unescape(label[1])
    target = text[label.end() : at].strip()
    target = target[1:-1] if target.startswith("<") and target.endswith(">") else unescape(target)
    if shown and same_link(shown, target):
        marked = _PANDOC_CLASS.match(text, at + 1)
        return shown, marked.end() if marked else at + 1
    return None
