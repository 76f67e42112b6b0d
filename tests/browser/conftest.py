"""The browser, the server, and when they are left out."""

import importlib.util
import os
import re
import tempfile
import time
from pathlib import Path

import pytest

from .jupyter import ARGUMENTS, App, Server, browser_path, is_elsewhere
from .sample import sample

REQUIRED = "THROUGHLINE_BROWSER_TESTS"
"""Set to ``required`` where these tests must run, as on the server that judges a change."""

APPS = {"lab": "/lab/tree", "notebook": "/notebooks"}


def _lacking():
    modules = ("playwright", "jupyterlab", "notebook", "axe_playwright_python")
    lacking = [name for name in modules if importlib.util.find_spec(name) is None]
    if browser_path() is None:
        lacking.append("Chromium")
    return lacking


@pytest.fixture(scope="session")
def server():
    lacking = _lacking()
    if lacking:
        told = f"no real browser was used: {', '.join(lacking)} not found on this machine"
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(told)
        pytest.skip(told)
    with tempfile.TemporaryDirectory(prefix="throughline-", ignore_cleanup_errors=True) as folder:
        made = Server(Path(folder))
        yield made
        made.close()


@pytest.fixture(scope="module")
def browser(server, tmp_path_factory):
    """A browser with a profile of its own; that nothing left the machine is checked at its end."""
    from playwright.sync_api import sync_playwright

    elsewhere = []
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            headless=True,
            executable_path=browser_path(),
            args=ARGUMENTS,
            viewport={"width": 1280, "height": 1330},
        )
        context.set_default_timeout(20_000)
        context.on("request", lambda asked: is_elsewhere(asked.url) and elsewhere.append(asked.url))
        yield context
        context.close()
    assert elsewhere == []


@pytest.fixture(params=APPS, scope="module")
def opened(request, browser, server):
    """JupyterLab, and Notebook 7, each with a panel on no project yet."""
    made = App(server, browser.new_page(), request.param, APPS[request.param])
    cells = ("%load_ext throughline_nb", "%tl panel")
    made.open(server.notebook(f"{request.param}.ipynb", *cells))
    made.run(0, 1)
    if request.param == "lab":  # as a person has it who works in a notebook
        made.page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    yield made
    made.page.close()


@pytest.fixture
def app(opened, request):
    """An app whose panel shows a project of this test's own, named as the test is."""
    name = re.sub(r"[^a-z]+", "-", request.node.originalname.removeprefix("test_"))[:30].strip("-")
    opened.project = f"{name}-{opened.name}"
    sample(opened.server.home, name=opened.project, ident=str(time.time_ns()))
    opened.do(f"%tl open {opened.project}")
    opened.panel.get_by_role("heading", name=opened.project).wait_for()
    opened.tab("Ledger")
    return opened
