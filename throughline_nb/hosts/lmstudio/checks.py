"""What is not in order in an installation: one line each, with its cure.

All of it but the start of the engine is found out from files alone, so that ``doctor`` and the
bridge can ask, too.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from throughline_nb import __version__
from throughline_nb.errors import ThroughLineError
from throughline_nb.hosts.lmstudio import plugin as plugins
from throughline_nb.hosts.lmstudio.files import LMStudioChats
from throughline_nb.hosts.lmstudio.places import Places
from throughline_nb.hosts.lmstudio.record import Record, read
from throughline_nb.store.home import Home
from throughline_nb.store.problems import Problem

INSTALL = "run `throughline-nb lmstudio install`"


class Check(msgspec.Struct, frozen=True):
    """One thing that was looked at.

    Attributes:
        about: What it is.
        found: What was found.
        cure: What to do about it; empty where all is well.
    """

    about: str
    found: str
    cure: str = ""

    @property
    def line(self) -> str:
        """As a person reads it."""
        told = f"{self.found}: {self.cure}" if self.cure else self.found
        return f"{'fix' if self.cure else 'ok':3}  {self.about}: {told}."


def problems(env: Mapping[str, str] | None = None) -> list[Problem]:
    """What is not in order, as far as files tell; nothing where LM Studio is not used.

    Args:
        env: Environment; the process's own if None.
    """
    env = os.environ if env is None else env
    places = Places.locate(env)
    try:
        used = places.record.exists() or plugins.installed(places, plugins.own_plugin()) is not None
    except ThroughLineError:
        used = False
    if not used:
        return []
    return [
        Problem(f"LM Studio: {check.found}", check.cure)
        for check in checks(places, env)
        if check.cure
    ]


def beside(env: Mapping[str, str] | None = None) -> list[str]:
    """A sentence for the status line on each plugin of throughLine's name beside ours.

    Args:
        env: Environment; the process's own if None.
    """
    places = Places.locate(env)
    try:
        found = list(plugins.others(places, plugins.own_plugin()))
    except ThroughLineError:  # nothing to compare with
        return []
    return [
        f"{other} is installed beside this plugin: switch one of them off in this chat, or remove "
        f"{other.folder}."
        for other in found
    ]


def checks(places: Places, env: Mapping[str, str]) -> Iterator[Check]:
    """Look at the parts of an installation, without starting anything.

    Args:
        places: Where they lie.
        env: The environment of this process.
    """
    if not places.lmstudio.is_dir():
        yield Check(
            "LM Studio",
            f"its folder {places.lmstudio} is not there",
            f"start LM Studio once, then {INSTALL}",
        )
        return
    yield Check("LM Studio", f"its folder is {places.lmstudio}")
    try:
        record = read(places.record)
    except ThroughLineError as error:
        found, _, cure = str(error).rstrip(".").rpartition(": ")
        yield Check("engine", found, cure)
        record = None
    else:
        if record is None:
            yield Check("engine", f"it is not recorded in {places.record}", INSTALL)
    if record is not None:
        yield from _engine(record)
        yield _home(record, env)
        yield from _agent(record)
    yield from _plugins(places, record)
    yield _conversations(places)


def _engine(record: Record) -> Iterator[Check]:
    for about, text, lost in (
        ("interpreter", record.python, "was it moved or removed, such as an environment of Python"),
        ("git", record.git, "was it moved or removed"),
    ):
        # An interpreter of Windows' own shop is an alias, of which no more than this is told.
        if text and os.access(text, os.X_OK) and not Path(text).is_dir():
            yield Check(about, text)
        else:
            yield Check(about, f"{text or 'none'} is not there any more ({lost}?)", INSTALL)
    if _same(record.python, sys.executable) and record.version != __version__:
        yield Check(
            "version",
            f"throughline-nb is {__version__} now, and was {record.version} at the installation",
            INSTALL,
        )


def _same(one: str, other: str) -> bool:
    return os.path.normcase(os.path.abspath(one)) == os.path.normcase(other)  # noqa: PTH100


def _home(record: Record, env: Mapping[str, str]) -> Check:
    here = Home.locate(env).path
    if not _same(record.home, str(here)):
        return Check(
            "home",
            f"LM Studio's chats use {record.home}, the command line uses {here}",
            f"unset THROUGHLINE_HOME, or {INSTALL} to use {here} in both",
        )
    return Check("home", record.home)


def _agent(record: Record) -> Iterator[Check]:
    socket = record.env.get("SSH_AUTH_SOCK", "")
    if socket and os.name != "nt" and not Path(socket).exists():
        yield Check(
            "ssh agent",
            f"{socket}, recorded at the installation, is gone, so a remote that needs it is not "
            "reached from LM Studio",
            f"{INSTALL}, or share from the command line",
        )


def _plugins(places: Places, record: Record | None) -> Iterator[Check]:
    own = plugins.own_plugin()
    found = plugins.installed(places, own)
    if found is None:
        yield Check("plugin", f"{own} is not installed in LM Studio", INSTALL)
    elif record is not None and found.version != own.version:
        yield Check(
            "plugin",
            f"{found} {found.version or 'of an unknown version'} is installed, and this is "
            f"throughline-nb {__version__}, which carries {own.version or 'another one'}",
            INSTALL,
        )
    else:
        yield Check("plugin", f"{found} {found.version} in {found.folder}")
    for other in plugins.others(places, own):
        yield Check(
            "other plugin",
            f"{other} is installed, too, and where both are switched on in a chat they do the same "
            "work twice",
            f"switch it off in LM Studio, or remove {other.folder}",
        )


def _conversations(places: Places) -> Check:
    folder = places.conversations
    if folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK):
        return Check(
            "conversations",
            f"{folder} cannot be read, so nothing is cleaned up after deleted chats",
            "give yourself the right to read it",
        )
    ids = LMStudioChats(folder).snapshot().ids
    return Check("conversations", f"{len(ids or ())} in {folder}")
