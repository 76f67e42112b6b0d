"""``throughline-nb lmstudio``: the plugin's installation, and LM Studio's chats.

What is imported late here is what the help does not need.
"""

import os
import sys
from typing import Any

import click


@click.group()
def lmstudio() -> None:
    """Install the LM Studio plugin, look after it, and list LM Studio's chats."""


@lmstudio.command()
@click.pass_context
def install(context: click.Context) -> None:
    """Put the plugin into LM Studio, and record how it starts the engine.

    Records where this Python, git and the home are, checks that the engine starts and commits with
    that alone, and has LM Studio install the plugin (with its own command `lms`). Run it again
    after an upgrade, or after Python or git moved.
    """
    from throughline_nb.hosts.lmstudio import installing  # noqa: PLC0415 - see above
    from throughline_nb.store.home import Home  # noqa: PLC0415

    named = _named_home(context)
    home = Home(named.absolute()) if named else Home.locate()
    for line in installing.install(home, os.environ):
        click.echo(line)


def _named_home(context: click.Context) -> Any:
    """What ``--home`` says; a home is not recorded because the shell happens to stand in it."""
    return context.find_root().params.get("home")


@lmstudio.command()
def status() -> None:
    """Tell what of the installation is in order, and the cure for what is not.

    Starts the engine once, as the plugin does, in a temporary home. Ends with code 1 where
    something is to be mended.
    """
    from throughline_nb.hosts.lmstudio import installing  # noqa: PLC0415

    wrong = False
    for check in installing.status(os.environ):
        click.echo(check.line)
        wrong = wrong or bool(check.cure)
    if wrong:
        sys.exit(1)


@lmstudio.command()
def uninstall() -> None:
    """Take the plugin out of LM Studio; projects stay, and it says where."""
    from throughline_nb.hosts.lmstudio import installing  # noqa: PLC0415

    for line in installing.uninstall(os.environ):
        click.echo(line)


@lmstudio.command()
@click.pass_obj
def chats(place: Any) -> None:
    """List LM Studio's chats with size, project and file, the latest first.

    `replay` shows what throughLine would have done in one of them.
    """
    from throughline_nb.hosts.lmstudio import listing  # noqa: PLC0415
    from throughline_nb.hosts.lmstudio.places import Places  # noqa: PLC0415

    folder = Places.locate().conversations
    for line in listing.lines(listing.chats(folder, place.home), folder):
        click.echo(line)
