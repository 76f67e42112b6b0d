"""A ledger of 1,000 entries stays usable; and what every widget of the panel must have."""

import ipywidgets as w
import pytest
from bench.ledgers import ledger
from kernels import close, shell_in
from panels import Clicks, walk

import throughline_nb as tl
from throughline_nb.hosts.notebook import binding
from throughline_nb.hosts.notebook.panel.section import PAGE
from throughline_nb.store.records import Stamp

FIELDS = (w.Text, w.Textarea, w.Combobox, w.Select, w.ToggleButtons, w.Checkbox)


@pytest.fixture
def p(monkeypatch, tmp_path):
    shell = shell_in(monkeypatch, tmp_path)
    engine = binding.here().engine
    stamp = Stamp(actor="user", now=engine.clock())
    engine.projects.create("bench", ledger(1000), "Project started", stamp)
    yield tl.open("bench")
    close(shell)


@pytest.fixture
def panel(p):
    made = Clicks()
    yield made
    made.close()


def test_sections_come_in_pages_and_editors_when_they_are_opened(panel):
    sections = panel.panel.ledger.sections
    for attr, section in sections.items():
        count = len(panel.panel._shown.ledger.list(attr))
        assert len(section.rows) == min(count, PAGE)
    assert panel.all(w.Textarea) == []
    assert set(panel.panel._pages) == {"Ledger"}
    panel.click(f"Show {PAGE} more findings")
    assert len(sections["findings"].rows) == 2 * PAGE


def test_the_last_page_says_how_many_are_left(panel):
    findings = panel.panel.ledger.sections["findings"]
    findings.limit = len(panel.panel._shown.ledger.findings) - 3
    panel.panel.refresh()
    panel.click("Show 3 more findings")
    assert not [name for name in panel.names() if name.endswith("more findings")]


def test_the_open_entry_stays_on_its_page(p, panel):
    panel.click(f"Show {PAGE} more findings")
    last = panel.panel.ledger.sections["findings"]._before.children[-1]
    ident = next(
        r.ident for r in panel.panel.ledger.sections["findings"].rows.values() if r.widget is last
    )
    panel.click(f"Edit {ident}")
    for n in range(3):
        p.record("finding", f"New {n}.", source="user")
    panel.panel.refresh()
    assert panel.field("Finding").value == p.ledger[ident].text


def test_all_rows_share_one_layout_and_one_style_of_a_kind(panel):
    shown = [each for each in panel.all() if isinstance(each, w.DOMWidget)]
    assert len({each.layout.model_id for each in shown}) == 1
    for kind in (w.Button, w.HTML, w.Checkbox, w.Text):
        styles = {each.style.model_id for each in shown if type(each) is kind}
        assert len(styles) == 1, kind


@pytest.mark.parametrize(
    "tab", ["Ledger", "History", "Recall", "Health", "Projects and chats", "Share"]
)
def test_each_button_has_text_and_each_field_a_name_of_its_own(panel, tab):
    panel.click(next(name for name in panel.names() if name.startswith(tab)))
    if tab == "Ledger":
        panel.click("Edit F660", "Edit S1", "Edit D140", "Edit goal", "Add finding")
    buttons = panel.names(w.Button)
    assert all(name.strip() for name in buttons)
    assert len(set(buttons)) == len(buttons)
    fields = panel.names(FIELDS)
    assert all(name.strip() for name in fields)


def test_no_dropdown_and_no_radio_buttons_whose_keys_reach_jupyterlab(panel):
    for tab in list(panel.panel.tabs):
        panel.panel.show(tab)
        assert not panel.all((w.Dropdown, w.RadioButtons))


def test_closing_closes_every_widget(p):
    from ipywidgets.widgets.widget import _instances

    before = set(_instances)
    panel = Clicks()
    for tab in list(panel.panel.tabs):
        panel.panel.show(tab)
    panel.panel.show("Ledger")
    panel.click("Edit goal")
    assert len(set(_instances) - before) > 300
    panel.close()
    assert set(_instances) - before == set()


def test_a_walk_sees_what_is_shown(panel):
    assert len(list(walk(panel.panel.widget))) > 300
