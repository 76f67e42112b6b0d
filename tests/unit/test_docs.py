"""The documents say what the code does."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


MADE = runpy.run_path(str(ROOT / "docs" / "make_pages.py"))["PAGES"]


@pytest.mark.parametrize("name", MADE)
def test_the_reference_is_made_from_the_definitions(name):
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == MADE[name]()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page):
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", re.sub(r"(?s)````.*?````", "", text))
    places = {page.parent, ROOT}  # the site's build puts the notebooks beside its pages
    assert [each for each in targets if not any((place / each).exists() for place in places)] == []
