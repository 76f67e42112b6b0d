"""The panel on a ledger of 1,000 entries, in JupyterLab in a real browser (wall clock).

Times are taken in the page: from the click, or the run of the cell, until what it gives has been
painted. The floor is one HTML output with all 1,000 rows.
"""

import tempfile
from pathlib import Path

import pytest
from browser.jupyter import ARGUMENTS, App, Server, browser_path

from throughline_nb.engine.session import Engine
from throughline_nb.store.home import Home
from throughline_nb.store.records import Stamp

from .harness import WALL, report
from .ledgers import ledger

ROUNDS = 9
WARM = 2
CHANGE_SECONDS = 0.200
"""What opening or saving an entry may take."""

BUTTONS = ".tl-panel button"
SETTLED = 3000
"""Milliseconds after which all of the panel is there, however slow the machine."""

FLOOR = "from IPython.display import HTML; HTML(p.ledger.shown().html)"

PAINTED = """
const until = ready => new Promise((done, failed) => {
    const end = performance.now() + 30_000;
    const painted = () => requestAnimationFrame(() => done(performance.now()));
    const look = () => {
        if (ready()) requestAnimationFrame(painted);
        else if (performance.now() > end) failed(new Error(`not there: ${ready}`));
        else requestAnimationFrame(look);
    };
    look();
});
const all = selector => document.querySelectorAll(selector);
"""

RUN = f"""async ([at, selector, count]) => {{ {PAINTED}
    const notebook = window.jupyterapp.shell.currentWidget.content;
    await window.jupyterapp.commands.execute("notebook:clear-all-cell-outputs");
    await until(() => all(selector).length === 0);
    notebook.activeCellIndex = at;
    const begin = performance.now();
    window.jupyterapp.commands.execute("notebook:run-cell");
    return await until(() => all(selector).length >= count) - begin;
}}"""

CLICK = f"""async ([name, selector, wanted]) => {{ {PAINTED}
    const button = [...all(".tl-panel button")].find(each => each.textContent.trim() === name);
    const begin = performance.now();
    button.click();
    const back = () => [...all(".tl-panel button")].some(each => each.textContent.trim() === "Edit F650");
    const there = () => all(selector).length > 0;
    return await until(() => wanted ? there() : !there() && back()) - begin;
}}"""

CLOSE = """
from throughline_nb.hosts.notebook.panel import shell
while shell._displayed:
    shell._displayed.popitem()[1].close()
"""


@pytest.fixture(scope="module")
def lab():
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        server = Server(Path(folder))
        engine = Engine(Home(server.home))
        stamp = Stamp(actor="user", now=engine.clock())
        engine.projects.create("bench", ledger(1000), "Project started", stamp)
        cells = ("%load_ext throughline_nb", "import throughline_nb as tl; p = tl.open('bench')")
        name = server.notebook("bench.ipynb", *cells, "%tl panel", FLOOR)
        with sync_playwright() as playwright:
            context = playwright.chromium.launch_persistent_context(
                f"{folder}/profile",
                headless=True,
                executable_path=browser_path(),
                args=ARGUMENTS,
                viewport={"width": 1280, "height": 1330},
            )
            made = App(server, context.new_page(), "bench", "/lab/tree").open(name)
            made.run(0, 1)
            yield made
            context.close()
        server.close()


def test_first_show(benchmark, lab):
    """From the run of the cell until the whole first page is painted, editors and tabs apart."""
    shown, floor = [], []

    def panel():
        shown.append(lab.page.evaluate(RUN, [2, BUTTONS, count]) / 1000)

    def rows():
        lab.do(CLOSE)
        floor.append(lab.page.evaluate(RUN, [3, ".tl-card li", 1000]) / 1000)

    lab.page.evaluate(RUN, [2, BUTTONS, 1])
    lab.page.wait_for_timeout(SETTLED)
    count = lab.page.locator(BUTTONS).count()
    benchmark.pedantic(panel, setup=rows, rounds=ROUNDS, warmup_rounds=WARM)
    assert lab.page.locator(".tl-panel .tl-finding").count() == 25
    report(benchmark, "panel-show", shown[-ROUNDS:], floor[-ROUNDS:])


def test_an_entry_is_opened_and_saved(benchmark, lab):
    """From the click until the editor, or the changed row, is painted; a save is one commit."""
    lab.page.evaluate(RUN, [2, BUTTONS, 1])
    lab.button("Edit F650").wait_for()
    opened, saved = [], []
    editor = ".tl-editor textarea"

    def change():
        opened.append(lab.page.evaluate(CLICK, ["Edit F650", editor, True]) / 1000)
        lab.field("Finding").fill(f"Changed in round {len(opened)} at {WALL()}.")
        saved.append(lab.page.evaluate(CLICK, ["Save F650", editor, False]) / 1000)

    benchmark.pedantic(change, rounds=ROUNDS, warmup_rounds=WARM)
    assert f"Changed in round {len(opened)} at" in lab.panel.inner_text()
    report(benchmark, "panel-open", opened[-ROUNDS:], [CHANGE_SECONDS] * ROUNDS)
    report(benchmark, "panel-save", saved[-ROUNDS:], [CHANGE_SECONDS] * ROUNDS)
