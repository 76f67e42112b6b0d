"""JupyterLab and Notebook 7 in a real browser, for the tests: one server, one browser a module.

What a run needs is in folders of its own: no setting, kernel or session of the user's is touched,
and nothing but the loopback interface is used.
"""

import contextlib
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
from kernels import kernel_env
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "build" / "browser"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
STARTED = 60
"""Seconds that the server has to answer."""

WAIT = 30_000
"""Milliseconds that the app, or anything in it, has to be ready."""

READY = """() => {
    const widget = window.jupyterapp?.shell?.currentWidget;
    const context = widget?.sessionContext;
    const kernel = context?.session?.kernel;
    return Boolean(context?.isReady && kernel?.connectionStatus === "connected"
        && kernel?.status === "idle" && widget?.content?.widgets?.length);
}"""
"""Whether the notebook's kernel is connected and idle, asked of the app and not of the page."""


def browser_path():
    """Path of a Chromium; None where there is none."""
    given = os.environ.get("THROUGHLINE_CHROMIUM")
    found = (shutil.which(name) for name in NAMES)
    return given or next(filter(None, found), None)


class Server:
    """One Jupyter server, which serves JupyterLab and Notebook 7.

    Args:
        folder: An empty folder for all that it needs.
    """

    def __init__(self, folder):
        self.folder = folder
        self.root = folder / "notebooks"
        self.root.mkdir()
        self.home = folder / "home"
        self.token = secrets.token_hex(16)
        self.port = _free_port()
        settings = folder / "settings"
        self.env = kernel_env(folder) | {
            "JUPYTERLAB_SETTINGS_DIR": str(settings),
            "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
            "JUPYTER_PLATFORM_DIRS": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        apputils = settings / "@jupyterlab" / "apputils-extension"
        apputils.mkdir(parents=True)
        news = {"fetchNews": "false", "checkForUpdates": False}
        (apputils / "notification.jupyterlab-settings").write_text(json.dumps(news))
        self.theme(dark=False)
        self._log = (folder / "server.log").open("wb")
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root"),
                "--ServerApp.ip=127.0.0.1",
                f"--ServerApp.port={self.port}",
                f"--IdentityProvider.token={self.token}",
                f"--ServerApp.root_dir={self.root}",
                "--LabApp.expose_app_in_browser=True",
                "--JupyterNotebookApp.expose_app_in_browser=True",
            ],
            env=self.env,
            cwd=self.root,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self._wait()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def close(self):
        """End it, with its kernels."""
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(20)
        self._process.kill()
        self._process.wait()
        self._log.close()

    def theme(self, *, dark):
        """Set the theme that a page shows which is opened from now on."""
        file = self.folder / "settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings"
        theme = "JupyterLab Dark" if dark else "JupyterLab Light"
        file.write_text(json.dumps({"theme": theme}))

    def notebook(self, name, *sources):
        """Write a notebook; gives its path below the root."""
        cells = [new_code_cell(source) for source in sources]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        made = new_notebook(cells=cells, metadata={"kernelspec": kernel})
        nbformat.write(made, self.root / name)
        return name

    def tl(self, *words, project=""):
        """Run a command in a process of its own, as a person at a terminal does."""
        named = ["--project", project] if project else []
        return subprocess.run(
            [sys.executable, "-m", "throughline_nb", *named, *words],
            env=self.env,
            check=True,
            capture_output=True,
            text=True,
            encoding="utf-8",
        ).stdout

    def as_model(self, project, **given):
        """Record something as the model of a chat, in a process of its own."""
        call = f"print(tl.open({project!r}).tools().call('ledger_record', {given!r}))"
        return subprocess.run(
            [sys.executable, "-c", f"import throughline_nb as tl\n{call}"],
            env=self.env,
            check=True,
            capture_output=True,
            text=True,
            encoding="utf-8",
        ).stdout

    def ledger(self, project):
        """Path of a project's file."""
        return self.home / "projects" / project / "ledger.md"

    def _wait(self):
        end = time.monotonic() + STARTED
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                asked = f"{self.url}/api/status?token={self.token}"
                with urllib.request.urlopen(asked, timeout=5) as answer:
                    if answer.status == 200:
                        return
            assert self._process.poll() is None, self.said()
            time.sleep(0.1)
        raise AssertionError(self.said())

    def said(self):
        """What the server printed."""
        return (self.folder / "server.log").read_text(encoding="utf-8", errors="replace")


class App:
    """One of the two apps, in a page of a browser.

    Args:
        server: The server.
        page: Playwright's page.
        name: Name of the app.
        where: Path of the app that a notebook's name is put behind.
    """

    def __init__(self, server, page, name, where):
        self.server = server
        self.page = page
        self.name = name
        self.project = ""
        self.where = where
        self.panel = page.locator(".tl-panel")

    def open(self, name):
        """Open a notebook and wait until its kernel is there."""
        self.page.goto(f"{self.server.url}{self.where}/{name}?reset&token={self.server.token}")
        self.page.wait_for_function(READY, timeout=WAIT)
        return self

    def run(self, *indices):
        """Run cells with Shift+Enter, and wait until the kernel is idle again."""
        for index in indices:
            self.page.locator(".jp-Cell .jp-InputArea-editor").nth(index).click()
            self.page.keyboard.press("Shift+Enter")
            self.page.wait_for_function(
                "at => { const w = window.jupyterapp.shell.currentWidget;"
                " return w.content.widgets[at].model.executionCount > 0"
                " && w.content.widgets[at].model.executionState !== 'running'"
                " && w.sessionContext.session.kernel.status === 'idle'; }",
                arg=index,
                timeout=WAIT,
            )

    def do(self, source):
        """Execute code in the kernel, past the notebook's cells."""
        self.page.evaluate(
            "code => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
            ".requestExecute({code}).done",
            source,
        )

    def tab(self, name):
        """Open a tab of the panel."""
        self.panel.get_by_role("button", name=re.compile(rf"^{name}( \(\d+\))?$")).click()

    def button(self, name, **how):
        return self.panel.get_by_role("button", name=name, exact=True, **how)

    def field(self, name):
        return self.panel.get_by_role("textbox", name=name, exact=True)

    def save(self):
        """Save the notebook."""
        self.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
        self.page.wait_for_function(
            "() => !window.jupyterapp.shell.currentWidget.context.model.dirty", timeout=WAIT
        )

    def picture(self, name):
        """Keep a picture below ``build/``."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        path = PICTURES / f"{name}-{self.name}.png"
        if self.panel.is_visible():
            self.panel.evaluate("panel => panel.scrollIntoView()")
        self.page.screenshot(path=path)
        return path


def is_elsewhere(url):
    """Whether a request leaves the machine."""
    parts = urlsplit(url)
    return parts.scheme in ("http", "https", "ws", "wss") and parts.hostname != "127.0.0.1"


def _free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]
