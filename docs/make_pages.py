"""Writes the reference pages from the definitions: ``python docs/make_pages.py``."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from throughline_nb.engine.operations import COMMANDS, TOOLS
from throughline_nb.engine.registry import Operation, Param
from throughline_nb.store.settings import Settings

HERE = Path(__file__).parent

SETTINGS = """# Settings

`settings.toml` in the home, one `name = value` a line; what is not there has its default. A value \
that cannot be used is ignored, and `throughline-nb doctor` says so; it also shows every value in \
force and where it comes from. In LM Studio the plugin's form has the same settings under the same \
names, and governs LM Studio's chats.

| name | default | what it does |
|---|---|---|
"""

COMMANDS_HEAD = """# Commands

The same everywhere: `/tl …` as a whole message of a chat, `%tl …` or `/tl …` as the first line of \
a notebook's cell, and `throughline-nb …` at the command line. The command line is no chat: there, \
commands of a chat are refused, and a project is named by `--project NAME` or by standing in its \
folder. Bare `/tl` is `status` in a chat with a project, else `help`. A misspelt command gets the \
nearest name.
"""

TOOLS_HEAD = """# Tools of the model

What a model is offered, with the words that it reads. `recall` is there in a chat that is longer \
than the threshold, the others in a chat with a project. Arguments that do not fit get one line \
that names the argument, what was given and what is allowed.
"""

NEEDS = {
    "": "",
    "chat": "In a chat or a notebook only.",
    "project": "",
    "recall": "Offered while the chat's recall is complete.",
}


def settings() -> str:
    """The page of settings."""
    rows = []
    for field in msgspec.structs.fields(Settings):
        default = msgspec.json.encode(field.default).decode()
        rows.append(f"| `{field.name}` | `{default}` | {_help(field.type)} |\n")
    return SETTINGS + "".join(rows)


def commands() -> str:
    """The page of commands."""
    return COMMANDS_HEAD + "".join(_section(each, f"/tl {each.usage}") for each in COMMANDS)


def tools() -> str:
    """The page of tools."""
    return TOOLS_HEAD + "".join(_section(each) for each in TOOLS)


def _section(operation: Operation, usage: str = "") -> str:
    parts = [f"\n## {operation.name}\n"]
    if usage:
        parts.append(f"`{usage}`\n")
    parts.append(f"{operation.help}\n")
    if operation.details:
        parts.append(f"{operation.details}\n")
    if operation.params:
        parts.append(
            "\n".join(["| argument | what it is |", "|---|---|", *map(_row, operation.params)])
            + "\n"
        )
    if NEEDS[operation.needs]:
        parts.append(f"{NEEDS[operation.needs]}\n")
    return "\n".join(parts)


def _row(param: Param) -> str:
    allowed = ", ".join(f"`{choice}`" for choice in param.choices)
    end = f" One of {allowed}." if allowed else ""
    need = "" if param.required else " (optional)"
    return f"| `{param.name}`{need} | {param.help.replace('|', chr(92) + '|')}{end} |"


def _help(annotation: object) -> str:
    texts = [each.description for each in getattr(annotation, "__metadata__", ())]
    return next(text for text in reversed(texts) if text)


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings,
    "commands.md": commands,
    "tools.md": tools,
}


if __name__ == "__main__":
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8", newline="\n")
