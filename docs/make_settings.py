"""Writes ``docs/settings.md`` from the definitions: ``python docs/make_settings.py``."""

from pathlib import Path

import msgspec

from throughline_nb.store.settings import Settings

PAGE = Path(__file__).parent / "settings.md"
HEAD = """# Settings

`settings.toml` in the home, one `name = value` a line; what is not there has its default. A value \
that cannot be used is ignored, and `throughline-nb doctor` says so; it also shows every value in \
force and where it comes from. In LM Studio the plugin's form has the same settings under the same \
names, and governs LM Studio's chats.

| name | default | what it does |
|---|---|---|
"""


def page() -> str:
    """The page."""
    rows = []
    for field in msgspec.structs.fields(Settings):
        default = msgspec.json.encode(field.default).decode()
        rows.append(f"| `{field.name}` | `{default}` | {_help(field.type)} |\n")
    return HEAD + "".join(rows)


def _help(annotation: object) -> str:
    texts = [each.description for each in getattr(annotation, "__metadata__", ())]
    return next(text for text in reversed(texts) if text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
