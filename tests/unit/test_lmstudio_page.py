"""The page for LM Studio's users says what the code says."""

import ast
import re
from pathlib import Path

import msgspec
import pytest

from throughline_nb.engine.operations import COMMANDS
from throughline_nb.hosts.cli import cli
from throughline_nb.hosts.lmstudio.form import LINES
from throughline_nb.hosts.lmstudio.installing import SYSTEM_PROMPT
from throughline_nb.hosts.lmstudio.plugin import own_plugin
from throughline_nb.store.settings import Settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "lmstudio.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(.+?)` \|", PAGE.split("## Troubleshooting")[1], re.MULTILINE)


def said():
    """Every text in the package, with … where something is filled in."""
    for file in (ROOT / "throughline_nb").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [
                    each.value if isinstance(each, ast.Constant) else "…" for each in node.values
                ]
                yield "".join(parts)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
    yield from (re.sub(r"\{\w+\}", "…", line) for line in LINES.values())


TEXTS = list(said())


def pattern(row):
    pieces = [piece.strip() for piece in row.split("…") if piece.strip()]
    return re.compile("(?:…|\\{\\})?".join(rf"\s?{re.escape(piece)}\s?" for piece in pieces))


def test_the_table_is_read():
    assert len(ROWS) > 20


@pytest.mark.parametrize("row", ROWS)
def test_a_status_line_of_the_page_is_one_of_the_code(row):
    assert any(pattern(row).search(text) for text in TEXTS)


def test_the_check_sees_a_line_that_nothing_says():
    assert not any(pattern("throughLine: … cannot be reached (…)").search(text) for text in TEXTS)


@pytest.mark.parametrize(
    "name",
    [name for name, line in LINES.items() if line.startswith("throughLine") and name != "refused"],
)
def test_every_line_of_the_plugin_is_on_the_page(name):
    line = re.sub(r"\{\w+\}", "…", LINES[name])
    assert any(pattern(row).search(line) for row in ROWS)


def test_the_two_sentences():
    assert all(sentence in PAGE for sentence in SYSTEM_PROMPT)


def test_the_plugin_is_called_by_its_name():
    own = own_plugin()
    assert f"`{own}`" in PAGE
    assert f"extensions/plugins/{own}/" in PAGE


def test_commands_and_settings_on_the_page_exist():
    known = {operation.name for operation in COMMANDS}
    assert set(re.findall(r"/tl (\w+)", PAGE)) <= known
    sub = cli.commands["lmstudio"].commands
    for name in re.findall(r"throughline-nb lmstudio (\w+)", PAGE):
        assert name in sub
    for name in re.findall(r"(?:`|\$ )throughline-nb (?!lmstudio)([a-z]+)", PAGE):
        assert name in cli.commands, name
    titles = {
        meta.title
        for field in msgspec.structs.fields(Settings)
        for meta in getattr(field.type, "__metadata__", ())
        if getattr(meta, "title", None)
    }
    named = set(re.findall(r"\*([A-Z][^*]+)\*", PAGE.replace("**", ""))) - {"Integrations"}
    assert named
    assert named <= titles
