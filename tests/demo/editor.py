"""A person at work in a rich-text Markdown editor, for the demo.

``edited`` is what the person means; ``saved`` is what such an editor makes of the whole file when
it writes it back, by the rules that the turndown converter and the editors built on it follow:
setext headings, bullets ``*``, flattened lists, underscores and brackets escaped, links spelt out,
comments gone, front matter turned into a rule and a paragraph. The tests use the real editors'
output instead; here the point is to see one such file.
"""

import re

TICKED = "Settle what"
CHANGED = ("example server allocates", "example server reserves")
ADDED = "The ExLlamaV3 repository has 24 open issues on context length"
ADDED_URL = "https://exllamav3.example.net/issues"


def edited(text: str) -> str:
    """The ledger with a step ticked off, a finding added, and one word changed."""
    text = re.sub(rf"- \[ \] (\*\*S\d+\*\* {TICKED})", r"- [x] \1", text)
    text = text.replace(*CHANGED)
    return text.replace("\n## Decisions", f"- {ADDED} ({ADDED_URL})\n\n## Decisions", 1)


def saved(text: str) -> str:
    """The same text as a rich-text editor writes it."""
    text = re.sub(r"<!--.*?-->\n*", "", text, flags=re.DOTALL)
    matter, body = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, re.DOTALL).groups()
    lines = ["* * *", "", " ".join(matter.splitlines()), "-" * 12, ""]
    lines += [_line(line) for line in body.splitlines()]
    return "\r\n".join(lines)


def _line(line: str) -> str:
    heading = re.fullmatch(r"(#{1,2}) (.*)", line)
    if heading:
        rule = "=" if heading[1] == "#" else "-"
        return f"{heading[2]}\r\n{rule * len(heading[2])}"
    bullet = re.fullmatch(r"\s*- (.*)", line)
    if bullet is None:
        return _inline(line)
    return "*   " + _inline(bullet[1])


def _inline(text: str) -> str:
    text = re.sub(r"<(https?://[^>]+)>", r"[\1](\1)", text)
    text = re.sub(r"^\[([ x])\]", r"\\[\1\\]", text)
    return re.sub(r"(?<![\\/\w.])_|_(?=\w)(?![^(]*\))", r"\\_", text)
