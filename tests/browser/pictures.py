"""``python -m browser.pictures`` with ``tests`` on the path: the pictures of the panel for the docs.

They are taken in JupyterLab, of the project that the browser tests use, as the panel is now.
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from .jupyter import ARGUMENTS, ROOT, App, Server, browser_path
from .sample import sample

FOLDER = ROOT / "docs" / "pictures"
NAME = "llm-runtimes"


def main():
    """Take all of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        server = Server(Path(folder))
        try:
            sample(server.home, NAME, recall=True)
            cells = ("%load_ext throughline_nb", f"%tl open {NAME}", "%tl panel")
            server.notebook("research.ipynb", *cells)
            with sync_playwright() as playwright:
                context = playwright.chromium.launch_persistent_context(
                    f"{folder}/profile",
                    headless=True,
                    executable_path=browser_path(),
                    args=ARGUMENTS,
                    viewport={"width": 1280, "height": 900},
                )
                take(App(server, context.new_page(), "docs", "/lab/tree"))
                context.close()
        finally:
            server.close()


def take(app):
    """Go through the panel, and keep a picture of each page."""
    app.open("research.ipynb").run(0, 1, 2)
    app.page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    keep(app, "panel-light")
    theme(app, "Dark")
    keep(app, "panel-dark")
    theme(app, "Light")
    app.tab("Health")
    app.panel.get_by_text("Needs a look").wait_for()
    keep(app, "health")
    app.tab("Recall")
    app.field("Search what was said").fill("default context column")
    app.panel.locator("mark").first.wait_for()
    keep(app, "recall")
    app.server.as_model(NAME, id="D3", kind="decision", reason="nightlies change weekly")
    app.tab("History")
    app.panel.locator("ins").first.wait_for()
    keep(app, "history")
    app.tab("Ledger")
    app.button("Edit F9").click()
    app.field("Finding").press("End")
    app.page.keyboard.type(" The library follows the model.")
    claim = "Alder's server defaults to a context of 4,096 tokens."
    app.server.as_model(NAME, id="F9", text=claim)
    app.button("Keep mine").wait_for()
    app.page.set_viewport_size({"width": 1280, "height": 1330})
    keep(app, "merge")


def theme(app, name):
    """Change the theme, and wait until it is there."""
    app.page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})",
        f"JupyterLab {name}",
    )
    light = str(name == "Light").lower()
    app.page.locator(f"body[data-jp-theme-light={light}]").wait_for(state="attached")


def keep(app, name):
    """Keep a picture for the docs."""
    app.picture(name).replace(FOLDER / f"{name}.png")


if __name__ == "__main__":
    sys.exit(main())
