"""Installing, looking after and removing the LM Studio plugin: what each command says, in order."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Final

from throughline_nb.errors import StoreError, ThroughLineError, UnreadableFileError
from throughline_nb.hosts.lmstudio import checks, plugin, record, trial
from throughline_nb.hosts.lmstudio.places import Places
from throughline_nb.store import gitrun
from throughline_nb.store.files import reason
from throughline_nb.store.home import Home
from throughline_nb.store.projects import Projects

PROGRAM: Final = "throughline-nb"

SYSTEM_PROMPT: Final = (
    "Facts about me never go into a throughLine ledger; they belong in a memory tool.",
    "The state of a project never goes into a memory tool; it belongs in the throughLine ledger.",
)
"""For LM Studio's system prompt, where a memory plugin is enabled beside ours."""


def install(home: Home, env: Mapping[str, str]) -> Iterator[str]:
    """Check the engine, record it, and hand the plugin to LM Studio.

    Nothing is written before the engine has started and committed in a test.

    Args:
        home: The home that LM Studio's chats shall use.
        env: The user's environment.

    Yields:
        What was done, and at the end what the user does next.

    Raises:
        ThroughLineError: A part is missing or does not work; it says what was kept.
    """
    places = Places.locate(env)
    if not places.lmstudio.is_dir():
        raise StoreError(
            f"LM Studio's folder {places.lmstudio} is not there; nothing was changed: start LM "
            "Studio once, then run this again."
        )
    own = plugin.own_plugin()
    before = None
    with contextlib.suppress(UnreadableFileError):  # it is written anew
        before = record.read(places.record)
    gitrun.require()
    made = record.make(home, env)
    tried = trial.run_engine(made)
    yield (
        f"The engine {tried.engine} starts in {tried.seconds:.1f} s and commits, with nothing of "
        "your shell but what was recorded."
    )
    record.write(places.record, made)
    yield f"Recorded in {places.record}: {made.python}, {made.git}, home {made.home}."
    if before is not None and before.home and before.home != made.home:
        yield f"Until now LM Studio's chats used {before.home}; what is there stays there."
    lms = places.lms(env)
    if lms is None:
        yield from _by_hand(places, own)
    else:
        plugin.install(own, lms)
        yield f"LM Studio installed the plugin {own} {own.version}."
    for other in plugin.others(places, own):
        yield (
            f"{other} is installed, too: switch it off where you use this one, or remove "
            f"{other.folder}."
        )
    yield from _next(own, env)


def _by_hand(places: Places, own: plugin.Plugin) -> Iterator[str]:
    yield (
        f"The plugin {own} is not installed yet: LM Studio's command `lms` is neither on PATH nor "
        f"in {places.lmstudio / 'bin'}. A copy of its folder would not run, since LM Studio adds "
        "the packages that it needs. Two steps:"
    )
    yield "  1. Start LM Studio once, which puts lms there; else: npx lmstudio install-cli"
    yield "  2. Run `throughline-nb lmstudio install` again, or `lms dev --install --yes` in"
    yield f"     {own.folder}"


def _next(own: plugin.Plugin, env: Mapping[str, str]) -> Iterator[str]:
    yield ""
    yield "Then, in LM Studio:"
    yield f"  1. In a chat, open Integrations and switch on {own}."
    yield "  2. Send: /tl help"
    yield "  3. Send: /tl start and what you want to find out. Or just work: after two turns with"
    yield "     many tool calls a project starts by itself."
    yield "  4. If you also use a memory plugin, add two sentences to the system prompt:"
    yield from (f"     {sentence}" for sentence in SYSTEM_PROMPT)
    yield "At any time, this tells what is in order and what is not:"
    yield f"  {_command(env)} lmstudio status"


def _command(env: Mapping[str, str]) -> str:
    """How this command is called here: the script of an environment is often not on PATH."""
    if shutil.which(PROGRAM, path=env.get("PATH", "")):
        return PROGRAM
    python = subprocess.list2cmdline([sys.executable]) if os.name == "nt" else quote(sys.executable)
    return f"{python} -m throughline_nb"


def status(env: Mapping[str, str]) -> Iterator[checks.Check]:
    """Look at every part of the installation, the start of the engine included.

    Args:
        env: The user's environment.
    """
    places = Places.locate(env)
    yield from checks.checks(places, env)
    try:
        made = record.read(places.record)
    except ThroughLineError:
        return
    if made is None or not os.access(made.python, os.X_OK):
        return
    try:
        tried = trial.run_engine(made)
    except ThroughLineError as error:
        found, _, cure = str(error).rstrip(".").rpartition(": ")
        yield checks.Check("start", found, cure)
        return
    yield checks.Check(
        "start", f"the engine {tried.engine} starts in {tried.seconds:.1f} s and commits"
    )


def uninstall(env: Mapping[str, str]) -> Iterator[str]:
    """Remove the plugin and the record; projects stay.

    Args:
        env: The user's environment.

    Yields:
        What is gone, and where the projects are.

    Raises:
        StoreError: Something cannot be removed.
    """
    places = Places.locate(env)
    home = Home.locate(env)  # read before the record is gone, which may name it
    gone = [path for path in [plugin.remove(places, plugin.own_plugin())] if path]
    if places.record.exists():
        try:
            places.record.unlink()
        except OSError as error:
            raise StoreError(
                f"{places.record} could not be removed ({reason(error)}); projects are as they "
                "were: check permissions and run the command again."
            ) from error
        gone.append(places.record)
    yield from (f"Removed {path}." for path in gone)
    if not gone:
        yield "Nothing of the plugin was installed."
    names = Projects(home).names()
    if names:
        some = f"{len(names)} projects stay" if len(names) > 1 else "project stays"
        yield f"Your {some} in {home.projects}."
    if Home.locate(env).path != home.path:
        yield (
            f"The command line finds them there only with THROUGHLINE_HOME={home.path}, or with "
            f"--home {home.path}."
        )
    with contextlib.suppress(OSError):
        places.ours.rmdir()
    if gone:
        yield "Restart LM Studio, so that a chat that is open does not ask for the plugin."
