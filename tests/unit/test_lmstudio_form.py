"""What is made for the plugin: its form has every setting, and the file on disk is up to date."""

import json
import re
from typing import Annotated

import msgspec
import pytest

from throughline_nb import __version__
from throughline_nb.hosts.lmstudio import form
from throughline_nb.store.settings import Settings


def test_the_file_on_disk_is_what_the_definitions_give() -> None:
    made = form.FILE.read_text(encoding="utf-8")
    assert made == form.source(), "run `python -m throughline_nb.hosts.lmstudio.form`"


def test_the_plugins_version_is_that_of_the_package() -> None:
    package = json.loads((form.FILE.parents[1] / "package.json").read_text(encoding="utf-8"))
    assert package["version"] == __version__


def test_the_form_has_every_setting_once() -> None:
    fields = re.findall(r'^  \.field\("(\w+)"', form.source(), re.MULTILINE)
    assert sorted(fields) == sorted(field.name for field in msgspec.structs.fields(Settings))


@pytest.mark.parametrize("name", ["turn_seconds", "python", "orphan_days", "page_tools"])
def test_what_cannot_differ_from_chat_to_chat_is_global(name: str) -> None:
    chats, everywhere = form.source().split("export const globalForm")
    assert f'"{name}"' in everywhere
    assert f'"{name}"' not in chats


@pytest.mark.parametrize("name", form.LINES)
def test_a_line_for_the_status_says_what_became_of_the_message_and_what_to_do(name: str) -> None:
    line = form.LINES[name]
    assert "\n" not in line
    if line.startswith("throughLine"):
        assert "your message went on unchanged" in line
        assert name in {"late", "refused"} or "`throughline-nb " in line


def test_a_new_setting_changes_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    class More(Settings, frozen=True, kw_only=True):
        colour: Annotated[str, msgspec.Meta(title="Colour", description="Of the line.")] = "green"

    before = form.source()
    monkeypatch.setattr(form, "Settings", More)
    assert (
        '.field("colour", "string", { displayName: "Colour", subtitle: "Of the line." }, "green")'
        in form.source()
    )
    assert form.source() != before


def test_text_of_a_line_cannot_become_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(form.LINES, "absent", r"`${process.exit()}` \ {file}")
    assert r"`\`\${process.exit()}\` \\ ${file}`" in form.source()
