"""The plugin, bundled once, run by the stand-in host with an engine in a home of its own."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from .standin import Host
from .toolchain import bundle, ready


@pytest.fixture(scope="session")
def packages() -> Path:
    """The plugin's folder with its packages."""
    return ready()


@pytest.fixture(scope="session")
def plugin(packages: Path) -> Path:
    """The bundled plugin."""
    return bundle()


def write_record(user: Path, **changed: Any) -> None:
    """Write ``bridge.json`` as the installer does, with other values where some are given.

    Args:
        user: The user's home.
        changed: Values in place of those of this installation.
    """
    home = user / ".lmstudio" / "throughline"
    home.mkdir(parents=True, exist_ok=True)
    names = ("PATH", "SYSTEMROOT", "PATHEXT", "TEMP", "LANG")
    env = {name: os.environ[name] for name in names if name in os.environ}
    env |= {
        "HOME": str(user),
        "THROUGHLINE_HOME": str(home),
        "GIT_AUTHOR_NAME": "Kim",
        "GIT_AUTHOR_EMAIL": "kim@example.org",
        "GIT_COMMITTER_NAME": "Kim",
        "GIT_COMMITTER_EMAIL": "kim@example.org",
    }
    values = {"format": 1, "python": sys.executable, "home": str(home), "env": env}
    text = json.dumps({**values, **changed})
    (home / "bridge.json").write_text(text, encoding="utf-8", newline="\n")


@pytest.fixture
def lmstudio(tmp_path: Path) -> Path:
    """LM Studio's folder in a home that no test shares."""
    folder = tmp_path / ".lmstudio"
    (folder / "throughline").mkdir(parents=True)
    return folder


@pytest.fixture
def record(lmstudio: Path, tmp_path: Path) -> Callable[..., None]:
    """Writes ``bridge.json``."""
    return partial(write_record, tmp_path)


@pytest.fixture
def bare_host(tmp_path: Path, packages: Path) -> Iterator[Host]:
    """The host without a plugin."""
    host = Host(tmp_path)
    yield host
    host.close()


@pytest.fixture
def host(bare_host: Host, plugin: Path, record: Callable[..., None]) -> Host:
    """The host with the plugin, and an engine recorded."""
    record()
    bare_host.run(plugin)
    return bare_host


@pytest.fixture(scope="session")
def shared_host(tmp_path_factory: pytest.TempPathFactory, plugin: Path) -> Iterator[Host]:
    """A host with plugin and engine for all tests that leave it as they found it."""
    user = tmp_path_factory.mktemp("user")
    write_record(user)
    host = Host(user)
    host.run(plugin)
    yield host
    host.close()
