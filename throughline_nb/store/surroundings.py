"""What the user's own git and environment hold that could change a write, and what it means here.

Nothing of it stands in the way: :mod:`throughline_nb.store.gitrun` keeps it out. It is told so that
a person who compares our commits with their own is not surprised.
"""

import os

from throughline_nb.errors import StoreError
from throughline_nb.store import gitrun
from throughline_nb.store.problems import Problem

_SETTINGS = {
    "commit.gpgsign": "commits of throughLine are not signed",
    "core.autocrlf": "ledger.md keeps its line ends",
    "core.hookspath": "hooks do not run for commits of throughLine",
    "core.excludesfile": "nothing is ignored in a project",
    "init.templatedir": "templates are not copied into a project",
    "core.fsmonitor": "no file monitor runs for a project",
}
_HARMLESS = {"false", "no", "off", "0", ""}


def identity_problems() -> list[Problem]:
    """Whether git knows who the user is, so that their changes bear their name."""
    known = _configuration()
    missing = [key for key in ("user.name", "user.email") if not known.get(key)]
    if not missing:
        return []
    cure = " and ".join(f'git config --global {key} "…"' for key in missing)
    what = f"git does not know your {' and '.join(missing)}, so your changes bear a neutral name"
    return [Problem(what, cure)]


def kept_out() -> list[str]:
    """What is set and has no effect here, one line each."""
    lines = [
        f"{name} is set in the environment; throughLine ignores it."
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")
        if os.environ.get(name)
    ]
    for key, value in _configuration().items():
        if key in _SETTINGS and value.casefold() not in _HARMLESS:
            lines.append(f"Your git has {key}={value}; {_SETTINGS[key]}.")
    return lines


def _configuration() -> dict[str, str]:
    """The user's and the system's settings of git, lower-case names; none where unreadable."""
    known: dict[str, str] = {}
    for scope in ("--system", "--global"):
        try:
            said = gitrun.run(
                None, "config", scope, "--null", "--list", user=True, allowed=tuple(range(256))
            ).stdout
        except StoreError:
            return known
        for item in said.decode("utf-8", "replace").split("\0"):
            key, _, value = item.partition("\n")
            if key:
                known[key.lower()] = value
    return known
