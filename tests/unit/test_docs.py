"""The documents say what the code does."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def test_the_page_of_settings_is_made_from_their_definitions():
    made = runpy.run_path(str(ROOT / "docs" / "make_settings.py"))["page"]()
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == made


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page):
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", re.sub(r"(?s)````.*?````", "", text))
    assert [each for each in targets if not (page.parent / each).exists()] == []
