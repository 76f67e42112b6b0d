"""The main journeys through the panel, in JupyterLab and in Notebook 7."""

import re
import time

import pytest
from playwright.sync_api import expect

from .axe import violations

LIMIT = 2.0
"""Seconds within which a change made elsewhere must be seen."""

TRIES = 3
"""Times that it may take longer, since the machine is busy with other tests."""

pytestmark = pytest.mark.slow


def test_a_project_is_started_and_its_first_entries_made(app):
    name = f"start-in-{app.name}"
    app.tab("Projects and chats")
    app.field("New goal").fill(name.replace("-", " "))
    app.button("Start project").click()
    expect(app.panel.get_by_role("heading", name=name)).to_be_visible()
    expect(app.panel.get_by_text("Nothing found yet.")).to_be_visible()
    app.picture("empty")
    app.button("Add step").click()
    expect(app.field("Step")).to_be_focused()
    app.page.keyboard.type("Read the sources")
    app.button("Save step").click()
    expect(app.button("Add step")).to_be_focused()
    app.panel.get_by_role("checkbox", name="Read the sources").check()
    expect(app.panel.get_by_text("1 of 1 done").first).to_be_visible()
    assert "- [x] **S1** Read the sources" in app.server.ledger(name).read_text(encoding="utf-8")


def test_a_step_is_ticked_a_finding_edited_and_both_undone(app):
    file = app.server.ledger(app.project)
    box = app.panel.get_by_role("checkbox", name="Measure memory at 8k context")
    box.check()
    expect(app.panel.get_by_role("status")).to_contain_text("S5 done")
    assert "- [x] **S5**" in file.read_text(encoding="utf-8")
    app.button("Edit F9").click()
    expect(app.field("Finding")).to_be_focused()
    app.field("Finding").fill("Alder's server defaults to a context of 4,096 tokens.")
    app.button("Save F9").click()
    expect(app.button("Edit F9")).to_be_focused()
    row = app.panel.locator(".tl-finding", has=app.page.get_by_role("button", name="Edit F9"))
    expect(row).to_contain_text("Alder's server defaults to a context of 4,096 tokens.")
    app.button("Undo last change").click()
    expect(app.panel.get_by_text("8,192").first).to_be_visible()
    app.button("Undo last change").click()
    expect(box).not_to_be_checked()
    assert "- [ ] **S5**" in file.read_text(encoding="utf-8")


def test_two_edits_at_once_are_merged_and_typing_goes_on(app):
    app.button("Edit F9").click()
    field = app.field("Finding")
    expect(field).to_be_focused()
    field.press("End")
    app.page.keyboard.type(" The library")
    assert any(took <= LIMIT for took in followed(app)), "a change elsewhere was seen too late"
    expect(field).to_be_focused()
    app.page.keyboard.type(" follows the model.")
    expect(field).to_have_value(re.compile(r"up to 8,192\. The library follows the model\.$"))
    app.server.as_model(
        app.project, id="F9", text="Alder takes the model's own.", source="https://example.org/x"
    )
    app.button("Keep mine").wait_for()
    expect(app.panel.get_by_text("The model changed F9 while you were typing")).to_be_visible()
    expect(field).to_be_focused()
    app.picture("two-edits")
    app.button("Keep mine").click()
    app.button("Save F9").click()
    expect(app.panel.get_by_text("example.org/x")).to_be_visible()
    kept = app.server.ledger(app.project).read_text(encoding="utf-8")
    assert (
        "up to 8,192. The library follows the model.\n  - source: <https://example.org/x>" in kept
    )


def followed(app):
    """How many seconds it takes until a change by another process is seen, once for each try."""
    for n in range(TRIES):
        rule = f"Rule {n} of another process"
        app.server.tl("constraint", rule, project=app.project)
        begin = time.monotonic()
        app.panel.get_by_text(rule).wait_for()
        yield time.monotonic() - begin


def test_an_edit_of_the_file_in_an_editor_is_seen(app):
    answer = app.field("Answer Q1")
    answer.click()
    app.page.keyboard.type("half an ans")
    file = app.server.ledger(app.project)
    text = file.read_text(encoding="utf-8")
    file.write_text(
        text.replace("Count only tagged releases", "Count every release"), encoding="utf-8"
    )
    expect(app.panel.get_by_text("Count every release")).to_be_visible()
    expect(app.panel.get_by_role("status")).to_contain_text("Your edit of ledger.md was merged")
    expect(answer).to_be_focused()
    app.page.keyboard.type("wer")
    app.button("Save answer Q1").click()
    expect(app.panel.get_by_text("answer: half an answer")).to_be_visible()


def test_two_versions_are_compared_and_one_is_seen_as_it_was(app):
    app.server.as_model(app.project, id="D3", reason="nightlies change weekly", kind="decision")
    app.tab("History")
    expect(app.panel.get_by_role("listbox", name=re.compile("Versions"))).to_be_visible()
    expect(app.panel.locator("del", has_text="daily")).to_be_visible()
    expect(app.panel.locator("ins", has_text="weekly")).to_be_visible()
    field = app.panel.get_by_role("combobox", name="Compare with")
    field.fill("1")
    field.press("Enter")
    expect(app.panel.get_by_text(re.compile(r"^\d\d changes from 1-"))).to_be_visible()
    app.picture("history")
    app.button("Older").click()
    app.button("Ledger as it was").click()
    expect(app.panel.get_by_text("Nothing here can be edited.")).to_be_visible()
    expect(app.panel.get_by_text("nightlies change daily")).to_be_visible()
    app.picture("as-it-was")


def test_every_page_reads_right_to_a_screen_reader_and_by_keyboard(app):
    names = ["Ledger", "History", "Recall", "Health", "Projects and chats"]
    for name in names:
        tab = app.panel.get_by_role("button", name=re.compile(rf"^{name}( \(\d+\))?$"))
        tab.focus()
        app.page.keyboard.press("Enter")
        expect(tab).to_have_attribute("title", "shown now")
        assert violations(app.page, ".tl-panel") == [], name
        assert nameless(app) == [], name
        app.picture(f"{name.split()[0].lower()}")
    app.tab("Ledger")
    app.button("Edit F9").press("Enter")
    expect(app.field("Finding")).to_be_focused()
    assert violations(app.page, ".tl-panel") == []
    for name in ("Source", "Reason", "Note"):
        app.page.keyboard.press("Tab")
        expect(app.field(name)).to_be_focused()
    app.page.keyboard.press("Tab")
    expect(app.button("Save F9")).to_be_focused()
    app.page.keyboard.press("Tab")
    app.page.keyboard.press("Enter")
    expect(app.button("Edit F9")).to_be_focused()


def nameless(app):
    """Buttons and fields without a name of their own, or with one that another has."""
    return app.page.evaluate(
        """() => {
            const shown = e => e.offsetParent !== null;
            const of = kind =>
                [...document.querySelectorAll(`.tl-panel :is(${kind})`)].filter(shown);
            const named = of("button").map(e => e.textContent.trim());
            const fields = of("input, textarea, select").map(e =>
                [...(e.labels ?? [])].map(l => l.textContent.trim()).join(" "));
            const all = [...named, ...fields];
            return all.filter((name, at) => !name || all.indexOf(name) !== at);
        }"""
    )


def test_a_dark_theme_has_contrast_too(app):
    for theme in ("Dark", "Light"):
        app.page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})",
            f"JupyterLab {theme}",
        )
        light = str(theme == "Light").lower()
        expect(app.page.locator("body")).to_have_attribute("data-jp-theme-light", light)
        for tab in ("Health", "Ledger"):
            app.tab(tab)
            expect(app.panel.get_by_text("8,192").first).to_be_visible()
            assert violations(app.page, ".tl-panel") == [], (theme, tab)
            expect(app.panel.locator("h3").first).to_have_css("font-size", "13px")
            app.picture(f"{tab.lower()}-{theme.lower()}")


def test_a_saved_notebook_shows_the_ledger_without_a_kernel(app):
    app.server.as_model(app.project, kind="finding", text="The last that was found.")
    expect(app.panel.get_by_text("The last that was found.")).to_be_visible()
    saved = app.page.locator(".tl-saved")
    expect(saved.get_by_text("The last that was found.")).to_be_attached()
    expect(saved).to_be_hidden()
    app.save()
    app.page.evaluate("window.jupyterapp.serviceManager.sessions.shutdownAll()")
    app.open(f"{app.name}.ipynb")
    expect(saved.get_by_text("The last that was found.")).to_be_visible()
    expect(app.page.get_by_text(re.compile("model not found", re.IGNORECASE))).to_be_hidden()
    assert violations(app.page, ".tl-saved", "heading-order") == []
    app.picture("saved")
