"""``make picture``: draws ``docs/demo.svg`` for the README from what ``make demo`` prints now."""

import os
import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
PICTURE = HERE.parents[1] / "docs" / "demo.svg"
COLUMN, ROW, MARGIN = 8.43, 19, 18
"""Size of a character cell and of the margin, in pixels at a font size of 14."""

NO_BREAK = "\N{NO-BREAK SPACE}"
"""In place of a space, since runs of spaces are drawn as one."""

COLOURS = {
    "heading": "#e6edf3",
    "user": "#ffffff",
    "status": "#7ee787",
    "you": "#ffa657",
    "call": "#d2a8ff",
    "block": "#79c0ff",
    "plain": "#c9d1d9",
    "label": "#8b949e",
}


def main() -> None:
    """Run the demo with a neutral git identity, and draw the part round the hand edit."""
    with tempfile.TemporaryDirectory() as home:
        config = Path(home) / ".gitconfig"
        config.write_text("[user]\n\tname = you\n\temail = you@example.org\n", encoding="utf-8")
        env = {**os.environ, "HOME": home, "USERPROFILE": home, "NO_COLOR": "1"}
        demo = [sys.executable, str(HERE / "demo.py")]
        said = subprocess.run(demo, capture_output=True, check=True, env=env, encoding="utf-8")
    lines = excerpt(said.stdout.splitlines())
    PICTURE.write_text(svg(lines), encoding="utf-8", newline="\n")


def excerpt(lines: list[str]) -> list[str]:
    """The turn with the hand edit, the next message, and its place in the history."""
    start = next(i for i, line in enumerate(lines) if line.startswith("── Turn 13 "))
    end = next(i for i, line in enumerate(lines) if line.startswith("── Turn 14 "))
    after = next(i for i, line in enumerate(lines) if line.startswith("── Turn 15 "))
    cut = next(i for i in range(after, len(lines)) if "Constraints:" in lines[i])
    graph = next(i for i, line in enumerate(lines) if line.startswith("── What git knows"))
    merge = next(i for i in range(graph, len(lines)) if "edited by hand" in lines[i])
    return [
        *lines[start : end - 1],
        "",
        *lines[after:cut],
        f"{'':12}│ …",
        "",
        lines[graph],
        *lines[merge - 3 : merge + 5],
    ]


def svg(lines: list[str]) -> str:
    """The lines as a picture of a terminal."""
    width = round(100 * COLUMN + 2 * MARGIN)
    height = len(lines) * ROW + 2 * MARGIN
    rows, kind = [], "plain"
    for number, line in enumerate(lines):
        drawn, kind = row(line, kind)
        rows.append(f'<text y="{MARGIN + (number + 0.75) * ROW:.0f}">{drawn}</text>')
    text = "\n".join(rows)
    font = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>Part of what make demo prints: a hand edit that is merged while the model writes</title>
<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>
<g font-family="{font}" font-size="14">
{text}
</g>
</svg>
"""


def row(line: str, before: str) -> tuple[str, str]:
    """One line in its colours, and the kind of line that it was.

    The label is dim, the rest by what the label says, or the one above it.
    """
    line = line[:100]
    found = re.match(r"( {2,9})([a-z]+ ?[a-z]*)( {2})(.*)", line)
    if line.startswith("──"):
        return span(0, line, "heading"), "plain"
    if found and len(found[1] + found[2]) == 10:
        kind = found[2] if found[2] in COLOURS else "plain"
        return span(0, found[1] + found[2], "label") + span(12, found[4], kind), kind
    if line.startswith(" " * 12 + "│"):
        return span(12, line[12:], "block"), before
    return span(0, line, before if line.startswith(" " * 12) else "plain"), before


def span(column: int, text: str, kind: str) -> str:
    """Text at a column, stretched to the cells that it takes in a terminal."""
    text = text.rstrip()
    lead = len(text) - len(text.lstrip())
    text = text.lstrip()
    if not text:
        return ""
    x = MARGIN + (column + lead) * COLUMN
    length = len(text) * COLUMN
    return (
        f'<tspan x="{x:.1f}" textLength="{length:.1f}" fill="{COLOURS[kind]}">'
        f"{escape(text).replace(' ', NO_BREAK)}</tspan>"
    )


if __name__ == "__main__":
    main()
