"""Where this runs: the shell, the notebook's path, and whether anything was asked of an engine yet.

VS Code puts the notebook's path into the namespace, JupyterLab and Notebook 7 into the kernel's
environment; ``THROUGHLINE_NOTEBOOK`` says it anywhere. Loading the extension needs no more than
this, so nothing here imports an engine.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

HOST: Final = "notebook"
VARIABLE: Final = "THROUGHLINE_NOTEBOOK"

begun: dict[Path, Any] = {}
"""What was begun in this process, by home (:func:`throughline_nb.hosts.notebook.binding.here`)."""


def the_shell() -> Any:
    """IPython's shell where this runs in one, else None; nothing is imported for it."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module is not None else None


def place_of(names: Mapping[str, Any], env: Mapping[str, str] | None = None) -> str:
    """The notebook's absolute path; empty where nobody says it.

    Args:
        names: The namespace of the kernel's user.
        env: Environment; the process's own if None.
    """
    env = os.environ if env is None else env
    told = env.get(VARIABLE, "").strip() or str(names.get("__vsc_ipynb_file__") or "")
    if not told:
        session = env.get("JPY_SESSION_NAME", "")
        folder, name = os.path.split(session)
        name = name.removeprefix("RTC:")
        told = os.path.join(folder, name) if os.path.splitext(name)[1] else ""  # noqa: PTH118, PTH122
    return os.path.abspath(told) if told else ""  # noqa: PTH100 - no link followed


def gone(place: str) -> bool:
    """Whether a file is no longer in its folder, which is there."""
    return bool(place) and Path(place).parent.is_dir() and not Path(place).exists()


def bound_name() -> str:
    """Name of the project of this notebook, read from its state alone; empty for none."""
    shell = the_shell()
    place = place_of(shell.user_ns) if shell is not None else ""
    if not place:
        return ""
    from throughline_nb.store.chats import Chats, same_place  # noqa: PLC0415 - not where the host tells nothing
    from throughline_nb.store.home import Home  # noqa: PLC0415

    states = Chats(Home.locate()).states(HOST)
    return next((state.project for _, state in states if same_place(state.place, place)), "")
