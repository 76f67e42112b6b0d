"""The command line: every ``/tl`` command as a subcommand, and what only a shell needs.

The subcommands are made from the registry: their names, arguments and help stand there alone. The
command line is no chat: a command works on ``--project NAME``, else on the project in whose folder
it stands. What is imported late here is what the help does not need.
"""

import contextlib
import io
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from throughline_nb import __version__
from throughline_nb.engine.operations import COMMANDS
from throughline_nb.engine.registry import Operation, UsageError
from throughline_nb.errors import ThroughLineError
from throughline_nb.hosts.lmstudio.commands import lmstudio

if TYPE_CHECKING:
    from throughline_nb.store.home import Home
    from throughline_nb.store.problems import Problem

PROGRAM = "throughline-nb"

CLEANING_SECONDS = 2.0
"""How long a command that is done waits for the cleaning beside it."""


class Place(msgspec.Struct, frozen=True):
    """Which home and project a command works on, and whether the home was named."""

    home: "Home"
    project: str
    given: bool

    @property
    def lmstudio(self) -> bool:
        """Whether LM Studio's own chats are kept there.

        Another home may hold chats that LM Studio never had, such as replayed ones, and knows
        nothing of those that it has.
        """
        from throughline_nb.store.home import Home  # noqa: PLC0415 - see below

        return not self.given or self.home.path.resolve() == Home.locate().path.resolve()


@click.group(
    name=PROGRAM,
    help="Keep the state of a long problem in a ledger, outside the model's context window.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name=PROGRAM)
@click.option("--home", type=click.Path(path_type=Path), help="Where everything lives.")
@click.option("--project", default="", help="The project; else the one in whose folder you stand.")
@click.pass_context
def cli(context: click.Context, home: Path | None, project: str) -> None:
    """Remember what holds for every subcommand."""
    from throughline_nb.hosts.logs import log_to  # noqa: PLC0415 - see above
    from throughline_nb.store.home import Home  # noqa: PLC0415

    if home is not None and home.exists() and not home.is_dir():
        raise UsageError(f"{home} is no folder; --home takes the folder where everything lives.")
    found = home.absolute() if home else _home_around()
    context.obj = Place(Home(found) if found else Home.locate(), project, bool(found))
    log_to(context.obj.home)


def _subcommand(operation: Operation) -> click.Command:
    params: list[click.Parameter] = []
    for at, param in enumerate(operation.params):
        last = at == len(operation.params) - 1
        params.append(
            click.Argument([param.name], required=param.required, nargs=-1 if last else 1)
        )

    if operation.name == "log":
        params.append(
            click.Option(["--graph"], is_flag=True, help="As git draws it, raw edits included.")
        )

    if operation.name in {"share", "sync"}:
        params.append(click.Option(["--bundle"], metavar="FILE", help="One file, no server."))
        params[0].required = False

    def execute(*, graph: bool = False, bundle: str | None = None, **given: Any) -> None:
        from throughline_nb.engine.session import Engine  # noqa: PLC0415
        from throughline_nb.hosts.lmstudio.files import LMStudioChats  # noqa: PLC0415
        from throughline_nb.hosts.progress import Bar  # noqa: PLC0415
        from throughline_nb.ledger.fence import neutral  # noqa: PLC0415

        place: Place = click.get_current_context().obj
        words = " ".join(
            " ".join(value) if isinstance(value, tuple) else value
            for value in given.values()
            if value
        )
        if bundle is not None:
            words = f"--bundle {bundle} {words}"
        engine = Engine(
            place.home,
            chat_exists=LMStudioChats() if place.lmstudio else None,
            host_problems=_lmstudio_problems,
        )
        engine.watch = Bar()
        reply = engine.command(
            f"{operation.name} {words}".strip(),
            project=place.project or _standing_in(place.home),
        )
        engine.cleaner.wait(CLEANING_SECONDS)
        if graph:
            project = engine.projects.find(place.project or _standing_in(place.home))
            said = "".join(given["n"])
            lines = project.graph(int(said) if said else engine.settings().versions_shown)
            click.echo("\n".join(map(neutral, lines)))
            return
        click.echo(_for_a_shell("\n\n".join(part for part in (reply.text, reply.shown) if part)))

    text = "\n\n".join(part for part in (operation.help, operation.details) if part)
    short = operation.help
    described = "\n".join(f"  {param.name}  {param.help}" for param in operation.params)
    if described:
        text += f"\n\n\b\nArguments:\n{described}"
    return click.Command(
        operation.name, callback=execute, params=params, help=text, short_help=short
    )


def _lmstudio_problems() -> "Sequence[Problem]":
    from throughline_nb.hosts.lmstudio.checks import problems  # noqa: PLC0415 - see above

    return problems()


def _home_around() -> Path | None:
    """The home in one of whose projects the shell stands, or None."""
    with contextlib.suppress(OSError):
        for folder in Path.cwd().resolve().parents:
            if folder.name == "projects" and (folder.parent / "format").is_file():
                return folder.parent
    return None


def _standing_in(home: "Home") -> str:
    """Name of the project in whose folder the shell stands, or empty."""
    with contextlib.suppress(ValueError, OSError):
        parts = Path.cwd().resolve().relative_to(home.projects.resolve()).parts
        return parts[0] if parts else ""
    return ""


def _for_a_shell(text: str) -> str:
    """Commands as they are typed here, where a text names them as a chat does."""
    return re.sub(r"/tl (?=[a-z])", f"{PROGRAM} ", text)


for _operation in COMMANDS:
    if _operation.needs != "chat":
        cli.add_command(_subcommand(_operation))

cli.add_command(lmstudio)


@cli.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.pass_obj
def replay(place: Place, file: Path) -> None:
    """Replay an LM Studio conversation file turn by turn, in a temporary home unless --home says.

    Shows for each user message what would have been added to it, which tools were offered, and the
    status line. Calls of the ledger tools in the file are executed.
    """
    from throughline_nb.hosts.replay import replay_file  # noqa: PLC0415 - only this needs it

    replay_file(file, place.home if place.given else None, click.echo)


@cli.command()
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.pass_obj
def clean(place: Place, *, dry_run: bool) -> None:
    """Remove what belongs to deleted chats, as it also happens by itself.

    The folder of a chat whose conversation is gone from LM Studio goes at once. A project whose
    last chat went so moves to the trash after some days, and is deleted later; `open` brings it
    back until then. In a home that is not LM Studio's own no chat is taken for deleted.
    """
    import time  # noqa: PLC0415 - see above

    from throughline_nb.hosts.lmstudio.files import LMStudioChats  # noqa: PLC0415
    from throughline_nb.store.cleanup import clean as clean_home  # noqa: PLC0415
    from throughline_nb.store.cleanup import plan  # noqa: PLC0415
    from throughline_nb.store.settings import load  # noqa: PLC0415

    chats = LMStudioChats()
    exists = chats if place.lmstudio else lambda _key: None
    given = (place.home, exists, time.time(), load(place.home.settings_file).settings)
    if dry_run:
        lines = [action.would for action in plan(*given).actions]
    else:
        lines = [action.done for action in clean_home(*given)]
    if not place.lmstudio:
        click.echo(f"No chat is taken for deleted: {place.home.path} is not LM Studio's home.")
    elif chats.snapshot().ids is None:
        click.echo(
            f"No chat is taken for deleted: {chats.folder} is missing, empty or cannot be read."
        )
    click.echo("\n".join(lines) or "Nothing to clean up.")


@cli.command()
@click.argument("remote")
@click.argument("name", required=False, default="")
@click.pass_obj
def clone(place: Place, remote: str, name: str) -> None:
    """Take a project from a remote, or from a file of `share --bundle`, to work on it here.

    REMOTE is a folder, an ssh address (user@host:path), an https address or the file. The project
    keeps its name unless NAME is given, and can be opened in any chat.
    """
    from throughline_nb.engine.session import Engine  # noqa: PLC0415 - see above
    from throughline_nb.engine.sharing import cloned  # noqa: PLC0415
    from throughline_nb.hosts.progress import Bar  # noqa: PLC0415

    engine = Engine(place.home)
    engine.watch = Bar()
    click.echo(_for_a_shell(cloned(engine, remote, name).text))


@cli.command(hidden=True)
@click.pass_obj
def bridge(place: Place) -> None:
    """What LM Studio's plugin starts: it speaks to it on standard input and output."""
    from throughline_nb.hosts.bridge import serve  # noqa: PLC0415 - only this needs it

    serve(place.home)


@cli.command("merge-driver", hidden=True)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
def merge_driver(files: tuple[Path, ...]) -> None:
    """What git runs to merge ``ledger.md`` (``%O %A %B %P``); it is configured in each project."""
    from throughline_nb.store.driver import merge_driver as merge  # noqa: PLC0415

    sys.exit(merge(*files[:3]))


@contextlib.contextmanager
def _plain_errors() -> Iterator[None]:
    """Tell an error in one line, and never show a traceback."""
    try:
        yield
    except ThroughLineError as error:
        click.echo(f"{PROGRAM}: {_for_a_shell(str(error))}", err=True)
        sys.exit(1)
    except click.ClickException as error:
        told = error.format_message().rstrip(".")
        click.echo(f"{PROGRAM}: {told}; --help behind the command says what it takes.", err=True)
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(1)
    except Exception as error:
        import logging  # noqa: PLC0415

        logging.getLogger("throughline_nb").exception("unexpected")
        shown = f"{type(error).__name__}: {error}".splitlines()[0]
        click.echo(f"{PROGRAM}: unexpected error ({shown}); nothing recorded was lost.", err=True)
        sys.exit(70)


def main() -> None:
    """Entry point of the script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    with _plain_errors():
        cli.main(prog_name=PROGRAM, standalone_mode=False)
