"""Running git itself, where neither the user's configuration nor the environment can interfere.

A subprocess gets no ``GIT_*`` variable of ours but those of ssh and askpass, and is told where the
repository is, so that it never looks for one: no outer repository, no ``safe.directory``. Except
where the user's own settings are wanted, it reads no configuration but the repository's.
"""

import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from throughline_nb.errors import StoreError
from throughline_nb.store.files import WINDOWS, reason
from throughline_nb.store.objects import Person

OLDEST: Final = (2, 36)

ENGINE: Final = Person("throughLine", "throughline@localhost")
"""Author of what model and engine change."""

_KEPT = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS")
_USERS_CONFIG = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
_LINE_END: Final = "\x1f"
"""Stands for the end of a line where every word has a line of its own."""

_NULL: Final = "/dev/null"  # git for Windows knows this name, too
NEUTRAL: Final = {
    "core.hooksPath": _NULL,
    "core.fsmonitor": "false",
    "core.autocrlf": "false",
    "core.excludesFile": "",
    "core.quotePath": "false",
    "commit.gpgSign": "false",
    "i18n.logOutputEncoding": "UTF-8",
}

_checked: set[str] = set()
_people: dict[tuple[object, ...], Person] = {}


def environment(git: Path | None = None, *, user: bool = False) -> dict[str, str]:
    """The environment for git.

    Args:
        git: The ``.git`` folder to work in; None for none.
        user: Whether the user's own configuration counts.
    """
    kept = _KEPT + (_USERS_CONFIG if user else ())
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in kept}
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C"}
    env["GIT_OPTIONAL_LOCKS"] = "0"
    if not user:
        env |= {"GIT_CONFIG_GLOBAL": _NULL, "GIT_CONFIG_NOSYSTEM": "1"}
    if git is not None:
        env |= {"GIT_DIR": str(git), "GIT_WORK_TREE": str(git.parent)}
    return env


def executable() -> str:
    """Path of git.

    Raises:
        StoreError: There is none on PATH.
    """
    found = shutil.which("git")
    if found is None:
        raise StoreError(
            "git was not found on PATH; nothing was changed: install git 2.36 or newer."
        )
    return found


def run(
    git: Path | None,
    *arguments: str,
    data: bytes | None = None,
    user: bool = False,
    cwd: Path | None = None,
    allowed: tuple[int, ...] = (0,),
) -> subprocess.CompletedProcess[bytes]:
    """Run git and wait for it.

    Args:
        git: The repository's ``.git`` folder.
        arguments: Command and arguments; never built from text that could be an option.
        data: Standard input.
        user: Whether the user's own configuration counts.
        cwd: Folder to run in; the repository's own by default.
        allowed: Exit codes that are an answer.

    Raises:
        StoreError: git is missing, or ended with another code.
    """
    options = [part for key, value in NEUTRAL.items() for part in ("-c", f"{key}={value}")]
    command = [executable(), *options, *arguments]
    place = cwd if cwd is not None else git.parent if git is not None else None
    try:
        done = subprocess.run(  # noqa: S603 - a list, no shell; arguments are ours
            command,
            input=data,
            capture_output=True,
            env=environment(git, user=user),
            cwd=place,
            check=False,
            stdin=subprocess.DEVNULL if data is None else None,
        )
    except OSError as error:
        raise StoreError(
            f"git could not be run in {place or Path.cwd()} ({reason(error)}); nothing was "
            "changed: check that the folder is there and can be read."
        ) from error
    if done.returncode not in allowed:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = re.sub(r"^(fatal|error): ", "", said[-1]) if said else f"code {done.returncode}"
        there = f" in {place}" if place is not None else ""
        raise StoreError(
            f"git {_verb(arguments)} failed{there} ({why}); nothing was changed: run "
            "`throughline-nb doctor` to see what stands in the way."
        )
    return done


def merge_text(base: str, ours: str, theirs: str) -> str | None:
    """Merge running text word by word with ``git merge-file``; None where both changed it."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
            words = text.replace("\n", f" {_LINE_END} ").split(" ")
            lines = "".join(f"{word}\n" for word in words)
            (Path(folder) / name).write_text(lines, encoding="utf-8", newline="\n")
        done = run(
            None, "merge-file", "--stdout", "--quiet", "ours", "base", "theirs",
            cwd=Path(folder), allowed=tuple(range(128)),
        )  # fmt: skip
    if done.returncode:
        return None
    words = done.stdout.decode("utf-8").removesuffix("\n").split("\n")
    return " ".join(words).replace(f" {_LINE_END} ", "\n")


def _verb(arguments: Sequence[str]) -> str:
    """The command among the arguments, behind options such as ``-c key=value``."""
    rest = list(arguments)
    while len(rest) > 2 and rest[0] == "-c":
        rest = rest[2:]
    return rest[0]


def start(git: Path, *arguments: str) -> None:
    """Run git where it detaches itself; on Windows, which cannot, wait in a thread.

    Raises:
        StoreError: git is missing.
    """
    if WINDOWS:
        threading.Thread(target=run, args=(git, *arguments), daemon=True).start()
    else:
        run(git, *arguments)


def version() -> tuple[int, ...]:
    """The version of git, such as ``(2, 39, 5)``; empty where it does not say."""
    text = run(None, "version").stdout.decode("ascii", "replace")
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part) for part in found.groups() if part) if found else ()


def require() -> None:
    """Check, once a process, that there is a git that is new enough.

    Raises:
        StoreError: There is none, or it is older than :data:`OLDEST`.
    """
    if _checked:
        return
    found = executable()
    have = version()
    if have and have < OLDEST:
        raise StoreError(
            f"git {'.'.join(map(str, have))} at {found} is too old; nothing was changed: install "
            "git 2.36 or newer."
        )
    _checked.add(found)


def identity(git: Path) -> Person:
    """The user's name and address as their git configuration has them, else a neutral one.

    Asked again only after a configuration file changed. Nothing is guessed from the machine.
    """
    key = (str(git), *_configuration(git))
    if key not in _people:
        try:
            done = run(
                git,
                "config",
                "--null",
                "--get-regexp",
                r"^user\.(name|email)$",
                user=True,
                allowed=(0, 1),
            )
            said = done.stdout.decode("utf-8", "replace")
        except StoreError:  # a broken configuration file must not stop a write
            said = ""
        values = dict(part.split("\n", 1) for part in said.split("\0") if "\n" in part)
        name, email = values.get("user.name", "").strip(), values.get("user.email", "").strip()
        _people[key] = Person(name or "user", email or "user@localhost")
    return _people[key]


def _configuration(git: Path) -> tuple[object, ...]:
    env = os.environ
    folder = env.get("HOME") or env.get("USERPROFILE") or ""
    files = [
        str(git / "config"),
        env.get("GIT_CONFIG_GLOBAL", ""),
        env.get("GIT_CONFIG_SYSTEM", ""),
        os.path.join(folder, ".gitconfig"),  # noqa: PTH118 - on the path of every command
        os.path.join(env.get("XDG_CONFIG_HOME") or f"{folder}/.config", "git/config"),  # noqa: PTH118
    ]
    return tuple((name, _stamp(name)) for name in files)


def _stamp(name: str) -> tuple[int, int]:
    try:
        found = os.stat(name)  # noqa: PTH116 - as above
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)
