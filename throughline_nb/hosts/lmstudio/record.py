"""``bridge.json``: how LM Studio's plugin finds the engine without PATH.

LM Studio starts a plugin with next to no environment: no PATH, no HOME on some systems, on Windows
not even SystemRoot. So the installer, which runs in the user's own shell, writes down where
interpreter, git and home are, and those variables that git, ssh and the interpreter read. It is a
list of names: what is not on it, such as a token, is never written.
"""

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Final

import msgspec

from throughline_nb import __version__
from throughline_nb.errors import NewerFormatError, StoreError, UnreadableFileError
from throughline_nb.store.home import Home, write_atomic

FORMAT: Final = 1
"""Number of the layout of ``bridge.json``."""

KEPT: Final = frozenset(
    """
    HOME USER LOGNAME SHELL LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES TZ TMPDIR
    XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR LD_LIBRARY_PATH
    USERPROFILE HOMEDRIVE HOMEPATH USERNAME USERDOMAIN APPDATA LOCALAPPDATA PROGRAMDATA
    PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT
    TEMP TMP
    GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL EMAIL
    GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM
    GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_ASKPASS SSH_ASKPASS SSH_AUTH_SOCK SSH_AGENT_PID
    GNUPGHOME DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS
    SSL_CERT_FILE SSL_CERT_DIR HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY
    """.split()  # noqa: SIM905 - a hundred quotes less
)
"""Variables that git, ssh, their helpers and Python read, in upper case: git(1), ssh(1), and what
Windows' own calls expect."""

_WITH_PASSWORD: Final = re.compile(r"://[^/@\s]*:[^/@\s]*@")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What ``bridge.json`` holds.

    Attributes:
        format: Number of the layout.
        version: throughLine's version at the time.
        python: Absolute path of the interpreter.
        git: Absolute path of git.
        home: throughLine's home.
        env: The whole environment of the engine.
    """

    format: int = FORMAT
    version: str = ""
    python: str = ""
    git: str = ""
    home: str = ""
    env: dict[str, str] = {}


def make(home: Home, env: Mapping[str, str], python: str = "") -> Record:
    """Record how the engine is to be started.

    Args:
        home: Its home.
        env: The user's environment.
        python: Path of the interpreter; that of this process if empty.

    Raises:
        StoreError: There is no interpreter or no git.
    """
    python = python or sys.executable
    if not python:
        raise StoreError(
            "This Python does not know where it is; nothing was changed: run the command with an "
            "installed Python."
        )
    git = shutil.which("git", path=env.get("PATH", ""))
    if git is None:
        raise StoreError(
            "git was not found on PATH; nothing was changed: install git 2.36 or newer."
        )
    git = os.path.abspath(git)  # noqa: PTH100 - a link named git may lead to a program that asks
    kept = environment(env, git)
    return Record(
        version=__version__,
        python=os.path.abspath(python),  # noqa: PTH100 - a venv's interpreter is a link
        git=git,
        home=str(home.path),
        env={**kept, "THROUGHLINE_HOME": str(home.path), "PYTHONSAFEPATH": "1"},
    )


def environment(env: Mapping[str, str], git: str, system: str = os.name) -> dict[str, str]:
    """What of an environment the engine gets.

    Args:
        env: The user's environment.
        git: Path of git; its folder comes first where PATH would find another, or none.
        system: ``os.name`` of the machine.

    Returns:
        The variables of :data:`KEPT`, in their own spelling, but none whose value holds a
        password; and PATH, without folders that depend on where one stands.
    """
    kept = {
        name: value
        for name, value in sorted(env.items())
        if name.upper() in KEPT and value and not _WITH_PASSWORD.search(value)
    }
    separator = ";" if system == "nt" else ":"
    pure: type[PurePath] = PureWindowsPath if system == "nt" else PurePosixPath
    given = next((value for name, value in env.items() if name.upper() == "PATH"), "")
    folders = [part.strip('"') for part in given.split(separator)]
    folders = list(dict.fromkeys(part for part in folders if pure(part).is_absolute()))
    own = str(pure(git).parent)
    if own not in folders or (os.name == system and _finds_another(git, folders)):
        folders.insert(0, own)
    return {**kept, "PATH": separator.join(folders)}


def _finds_another(git: str, folders: list[str]) -> bool:
    found = shutil.which("git", path=os.pathsep.join(folders))
    return found is None or os.path.abspath(found) != git  # noqa: PTH100 - as above


def read(file: Path) -> Record | None:
    """Read ``bridge.json``; None where there is none.

    Raises:
        NewerFormatError: A newer version wrote it.
        UnreadableFileError: It is damaged.
    """
    try:
        record = msgspec.json.decode(file.read_bytes(), type=Record)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise UnreadableFileError(
            f"{file} cannot be read ({error}); it was left as it is: run `throughline-nb lmstudio "
            "install` to write it anew."
        ) from error
    if record.format > FORMAT:
        raise NewerFormatError(
            f"{file} was written by a newer throughLine; it was left as it is: upgrade "
            "throughline-nb here."
        )
    return record


def write(file: Path, record: Record) -> None:
    """Write ``bridge.json``, and its folder where there is none.

    Raises:
        StoreError: It cannot be written; the old one stands.
    """
    try:
        file.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{file.parent} could not be made ({error.strerror}); nothing was changed: give "
            "yourself the right to write there."
        ) from error
    data = msgspec.json.format(msgspec.json.encode(record), indent=2)
    write_atomic(file, data + b"\n")
