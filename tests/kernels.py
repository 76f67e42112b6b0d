"""Notebooks for the tests: cells run in a real kernel with a home of their own."""

import asyncio
import atexit
import contextlib
import io
import os
import warnings
from collections import defaultdict

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

ELSEWHERE = ("JPY_SESSION_NAME", "THROUGHLINE_NOTEBOOK", "THROUGHLINE_HOME")
"""Variables by which a kernel that runs the tests could reach into them."""


def kernel_env(tmp_path, **variables):
    """The environment of a kernel: a clean home, no user configuration, git that asks nobody."""
    user = tmp_path / "user"
    user.mkdir(exist_ok=True)
    env = {k: v for k, v in os.environ.items() if k not in ELSEWHERE and not k.startswith("GIT_")}
    return env | {
        "HOME": str(user),
        "USERPROFILE": str(user),
        "IPYTHONDIR": str(user / "ipython"),
        "JUPYTER_CONFIG_DIR": str(user / "config"),
        "JUPYTER_DATA_DIR": str(user / "data"),
        "JUPYTER_RUNTIME_DIR": str(user / "runtime"),
        "THROUGHLINE_HOME": str(tmp_path / "home"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        **variables,
    }


class Kernel:
    """A kernel that stays, so that cells can be run again; use it with ``with``.

    Args:
        tmp_path: Folder of the test.
        variables: Environment beside what :func:`kernel_env` gives.
    """

    def __init__(self, tmp_path, **variables):
        self.env = kernel_env(tmp_path, **variables)
        self.folder = tmp_path
        self.notebook = new_notebook()
        self.client = NotebookClient(self.notebook, timeout=120, resources=self._resources())

    def _resources(self):
        return {"metadata": {"path": str(self.folder)}}

    def __enter__(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the client's own sockets and loops
            self.client.create_kernel_manager()
            self.client.start_new_kernel(env=self.env)
            self.client.start_new_kernel_client()
        return self

    def __exit__(self, *_):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            asyncio.run(self.client._async_cleanup_kernel())

    def run(self, source, cell_id=None, *, fails=False):
        """Run a cell; gives its outputs. With ``fails`` it must fail, else it must not."""
        cell = new_code_cell(source)
        self.notebook.cells.append(cell)
        index = len(self.notebook.cells) - 1
        if cell_id:
            self._send_with(cell_id)
        try:
            self.client.execute_cell(cell, index)
        except CellExecutionError:
            assert fails, [dict(output) for output in cell.outputs]
        else:
            assert not fails, "the cell did not fail"
        return cell.outputs

    def _send_with(self, cell_id):
        """Send the next cell as JupyterLab does, with its id in the message's metadata."""
        channel = self.client.kc.session
        plain = channel.msg

        def msg(kind, *args, **given):
            made = plain(kind, *args, **given)
            if kind == "execute_request":
                made["metadata"]["cellId"] = cell_id
                channel.msg = plain
            return made

        channel.msg = msg


def said(outputs):
    """All plain text of some outputs."""
    parts = []
    for output in outputs:
        if output.output_type == "stream":
            parts.append(output.text)
        elif output.output_type == "error":
            parts += output.traceback
        else:
            parts.append(output.data.get("text/plain", ""))
    return "\n".join(parts)


def execute(path, env, **variables):
    """Run a notebook file from top to bottom; gives it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client.execute(env=env | variables)
    return notebook


def shell_in(monkeypatch, tmp_path):
    """IPython in this process, with a home of its own and nothing of the user's."""
    from IPython.core.history import HistoryManager
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    from throughline_nb.hosts.notebook import place

    for name in ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    for name, value in kernel_env(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(place, "begun", {})
    monkeypatch.setattr(HistoryManager, "outputs", defaultdict(list))
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    InteractiveShell.clear_instance()
    return InteractiveShell.instance(config=config)


def close(shell):
    """End a shell that :func:`shell_in` gave."""
    shell.atexit_operations()
    atexit.unregister(shell.atexit_operations)
    type(shell).clear_instance()


def run_in(shell, source, cell_id=None):
    """Run a cell in a shell of this process; gives what it printed, and the result."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        result = shell.run_cell(source, store_history=True, cell_id=cell_id)
    return out.getvalue(), result
