"""What stands before the first section: our comment and the remains of front matter are dropped.

An editor that knows no front matter makes a rule, a paragraph or a heading of it, and some keep
the comment as text or as a fenced block. Both still tell the version that the file came from.
"""

import re
from typing import Final

import msgspec

from throughline_nb.ledger.inline import one_line, unescape

_COMMENT = re.compile(
    r"[`\\]*(?:<|&lt;)\\?!(?:[-–—\\]|&[a-z]+;)*\s*throughLine\s+ledger,\s+version\s+"
    r"(?P<version>[\w.\\-]+?)\.\s+Edit\s.*?(?:>|&gt;)(?:`+\{=html\})?",
    re.DOTALL | re.IGNORECASE,
)
_EMPTY_FENCE = re.compile(r"(?m)^(`{3,}|~{3,})[^\n`]*\n\s*^\1[ \t]*$")
_REMAINS = re.compile(r"(?:^|\s)throughline\\?:\s*\d+(?!\d)")
_PAIR_START = re.compile(r"[\s\W]*[^\W\d][\w./ -]*\\?:(?:\s|$)")
_RULE = re.compile(r"\s*(?:(?:[-*_=]\s*){3,}|[—–]+-?)\s*")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_VALUE: Final = r"(?:^|\s|(?<=\d)){}\\?:\s+(\S+)"


class Top(msgspec.Struct, frozen=True):
    """The text before the first section, cleaned.

    Attributes:
        text: What is left, line for line.
        version: The version that the comment names, or None.
        remains_version: The version that the remains of the front matter name, or None.
        project: The project that the remains name, or None.
        format: Number of the format that the remains name, or None.
    """

    text: str
    version: str | None = None
    remains_version: str | None = None
    project: str | None = None
    format: str | None = None


def clean_top(text: str, *, front_found: bool) -> Top:
    """Drop comment and remains.

    Args:
        text: The lines before the first section.
        front_found: Whether the front matter itself could be read, so that there are no remains.
    """
    comment = next(filter(_outside_title, _COMMENT.finditer(text)), None)
    version = comment["version"].replace("\\", "") if comment else None
    text = _COMMENT.sub(lambda found: "" if _outside_title(found) else found[0], text)
    text = _EMPTY_FENCE.sub("", text).replace("<!-- -->", "")
    if front_found:
        return Top(text, version)
    paragraphs = _paragraphs(text)
    lines = [one_line(unescape(part.replace("\\\n", "\n"))) for part in paragraphs]
    title = next((n for n, part in enumerate(paragraphs) if part.startswith("# ")), len(lines))
    remains = ""
    kept: list[str] = paragraphs
    if any(map(_REMAINS.search, lines[:title])):
        last = max(n for n, line in enumerate(lines[:title]) if _is_remains(line))
        remains = " ".join(lines[: last + 1])
        kept = paragraphs[last + 1 :]
    while kept and (not kept[0].strip() or _RULE.fullmatch(kept[0])):
        kept = kept[1:]
    return Top(
        "\n".join(kept),
        version,
        _named(remains, "version"),
        _named(remains, "project"),
        _named(remains, "throughline"),
    )


def _outside_title(found: re.Match[str]) -> bool:
    """Whether a comment is ours, and not a project's name that imitates it."""
    line = found.string.rfind("\n", 0, found.start()) + 1
    return not found.string.startswith("# ", line)


def _is_remains(line: str) -> bool:
    return bool(_REMAINS.search(line) or _PAIR_START.match(line))


def _named(remains: str, key: str) -> str | None:
    found = re.search(_VALUE.format(key), remains)
    return found[1] if found else None


def _paragraphs(text: str) -> list[str]:
    """Paragraphs and headings; empty lines stand for themselves, so that joining gives the text."""
    found: list[str] = []
    for line in text.split("\n"):
        heading = _HEADING.match(line)
        apart = not found or not line.strip() or not found[-1].strip() or heading
        if apart or _HEADING.match(found[-1]):
            found.append(line)
        else:
            found[-1] += "\n" + line
    return found
