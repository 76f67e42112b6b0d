"""Running git over a network: nothing asks, nothing hangs, nothing of the remote's runs here.

Only named protocols are let through, whatever a configuration rewrites an address to. No hook runs:
not the user's, and not those of a folder that serves as the remote, whose receiving side is a
process of this machine. git has no terminal to ask on and ssh is told not to ask. A run ends when
nothing moved for :data:`IDLE_SECONDS`.
"""

import os
import re
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

import msgspec

from throughline_nb.errors import StoreError
from throughline_nb.ledger.delta import clip
from throughline_nb.store import gitrun
from throughline_nb.store.files import WINDOWS, reason
from throughline_nb.store.objects import one_line
from throughline_nb.store.refs import MAIN
from throughline_nb.store.sharing.addresses import Address, Kind, without_secret
from throughline_nb.store.sharing.causes import cause

IDLE_SECONDS: Final = 60.0
"""For how long a run may show no progress."""

LONGEST_SECONDS: Final = 3600.0
"""For how long it may last at all; a slow line carries a few hundred megabytes in this time."""

_LOOK_SECONDS: Final = 0.5
"""How often a run is looked after."""

CONNECT_SECONDS: Final = 15
"""For how long ssh waits for an answer of the host."""

_OPTIONS: Final = (
    *("-c", "fetch.fsckObjects=true", "-c", "core.fsync=committed,loose-object"),
    *("-c", "fetch.recurseSubmodules=false", "-c", "submodule.recurse=false"),
    *("-c", "push.recurseSubmodules=no", "-c", "push.followTags=false", "-c", "push.gpgSign=false"),
    *("-c", "http.lowSpeedLimit=1", "-c", f"http.lowSpeedTime={IDLE_SECONDS:.0f}"),
    *("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "fetch.writeCommitGraph=false"),
    *("-c", "credential.interactive=false"),
)

_SERVED: Final = (
    "git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.alternateRefsCommand=: "
    "-c receive.autogc=false"
)
"""The other side where it is a folder: its own configuration may name programs."""

_NEXT = re.compile(rb"[\r\n]")
_PERCENT = re.compile(r"^(?:remote: )?([A-Z][A-Za-z ]+): +(\d+)% \((\d+)/(\d+)\)")

Watch = Callable[[str, int, int], object]
"""Is told of progress: what is under way, how many are done, of how many."""


def unwatched(_what: str, _done: int, _total: int) -> None:
    """Nobody looks."""


class RejectedError(StoreError):
    """Somebody else pushed since the last fetch."""


class UnreachableError(StoreError):
    """The remote cannot be reached, or does not do what it was asked.

    Attributes:
        cause: Why, and what to do.
    """

    def __init__(self, remote: Address, cause: str) -> None:
        super().__init__(f"Not shared with {shown(remote)}: {cause}; everything here is kept.")
        self.cause = cause


class AbsentError(StoreError):
    """The remote is there, and has no branch of the project's name."""


class Done(msgspec.Struct, frozen=True):
    """A run that ended: its code and what it said."""

    code: int
    out: str
    said: str


def fetch(
    git: Path,
    remote: Address,
    into: str,
    *options: str,
    watch: Watch = unwatched,
    guard: Callable[[], object] = lambda: None,
) -> None:
    """Fetch the project's branch of a remote into a ref.

    Args:
        git: The ``.git`` folder of the repository that fetches.
        remote: Where from.
        into: Name of the ref.
        options: More options of ``git fetch``.
        watch: Is told of progress.
        guard: Is called now and then, and raises to end it.

    Raises:
        AbsentError: It has none.
        StoreError: It cannot be had; the text says why, in one line.
    """
    _need(remote)
    arguments = [
        "fetch", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--force",
        "--progress", "--no-recurse-submodules", *options, *_served(remote, "upload"), "--",
        remote.url, f"+{MAIN}:{into}",
    ]  # fmt: skip
    done = _run(git, arguments, remote, watch, guard=guard)
    if done.code:
        if re.search(r"couldn't find remote ref|find remote ref", done.said):
            raise AbsentError(f"{shown(remote)} has no branch main.")
        raise UnreachableError(remote, cause(done.said))


def push(
    git: Path, remote: Address, ident: str, *, over: str = "", watch: Watch = unwatched
) -> None:
    """Push a commit as the project's branch, and nothing else.

    Args:
        git: The project's ``.git`` folder.
        remote: Where to.
        ident: Id of the commit.
        over: Id of the commit that it replaces although it does not follow it; empty for none.
        watch: Is told of progress.

    Raises:
        RejectedError: The remote has what was not fetched.
        StoreError: It did not work; the text says why, in one line.
    """
    _need(remote)
    lease = [f"--force-with-lease={MAIN}:{over}"] if over else []
    arguments = [
        "push", "--porcelain", "--progress", "--no-verify", "--no-follow-tags", *lease,
        *_served(remote, "receive"), "--", remote.url, f"{ident}:{MAIN}",
    ]  # fmt: skip
    done = _run(git, arguments, remote, watch)
    if not done.code:
        return
    rejected = re.search(r"^!\t[^\t]*\t\[([a-z ]+)\] \((.*)\)", done.out, re.MULTILINE)
    if rejected and (
        rejected[1] == "rejected"
        or re.search(r"cannot lock ref|failed to update ref|incorrect old value|fetch first",
                     rejected[2])
    ):  # fmt: skip
        raise RejectedError(f"{shown(remote)} has changes that are not here yet.")
    if rejected and "checked out" in rejected[2]:
        raise StoreError(
            f"Nothing was sent: {shown(remote)} is a folder that somebody works in, not a bare "
            "repository; share to an empty folder instead."
        )
    if rejected:
        raise UnreachableError(remote, f"it refused ({clip(one_line(rejected[2]), 120)})")
    raise UnreachableError(remote, cause(done.said))


def branches(git: Path, remote: Address, seconds: float = 0.0) -> dict[str, str]:
    """The branches of a remote, by name, and ``HEAD``.

    Args:
        git: The project's ``.git`` folder.
        remote: The remote.
        seconds: How long to wait for an answer; as for a transfer if 0.

    Raises:
        StoreError: It cannot be reached.
    """
    _need(remote)
    arguments = ["ls-remote", *_served(remote, "upload"), "--", remote.url]
    done = _run(git, arguments, remote, unwatched, idle=seconds)
    if done.code:
        raise UnreachableError(remote, cause(done.said))
    pairs = (line.partition("\t") for line in done.out.splitlines())
    return {name: ident for ident, _, name in pairs if name == "HEAD" or "refs/heads/" in name}


def shown(remote: Address) -> str:
    """The address as a message has it."""
    return clip(without_secret(remote.url), 120)


def environment(git: Path, kind: Kind) -> dict[str, str]:
    """The environment of a run that reaches a remote: the user's configuration, no questions."""
    env = gitrun.environment(git, user=True)
    env |= {
        "GIT_ALLOW_PROTOCOL": "file:ssh:https:http",
        "GIT_TERMINAL_PROMPT": "0",
        "GCM_INTERACTIVE": "never",
        "SSH_ASKPASS_REQUIRE": "never",
    }
    env.pop("SSH_ASKPASS", None)
    env.pop("GIT_OPTIONAL_LOCKS", None)
    if "GIT_ASKPASS" not in env:
        env["GIT_ASKPASS"] = ""
    if kind == "ssh" and "GIT_SSH" not in env:
        env["GIT_SSH_COMMAND"] = _ssh(env.get("GIT_SSH_COMMAND") or _configured_ssh(git) or "ssh")
    return env


def _ssh(command: str) -> str:
    """A command line of ssh that does not ask; another program's is left as it is."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    if not words or Path(words[0]).stem.lower() != "ssh":
        return command
    return (
        f"{command} -oBatchMode=yes -oConnectTimeout={CONNECT_SECONDS} -oClearAllForwardings=yes "
        "-oPermitLocalCommand=no -oServerAliveInterval=15 -oServerAliveCountMax=3"
    )


def _configured_ssh(git: Path) -> str:
    done = gitrun.run(git, "config", "--get", "core.sshCommand", user=True, allowed=(0, 1))
    return done.stdout.decode("utf-8", "replace").strip()


def _served(remote: Address, verb: str) -> tuple[str, ...]:
    return (f"--{verb}-pack={_SERVED} {verb}-pack",) if remote.kind == "folder" else ()


def _need(remote: Address) -> None:
    folder = remote.folder
    if folder is not None and not folder.exists():
        raise StoreError(
            f"{folder} is not there; nothing was changed: connect the drive or network that it is "
            "on, or name another place with /tl share."
        )


def _run(
    git: Path,
    arguments: Sequence[str],
    remote: Address,
    watch: Watch,
    *,
    idle: float = 0.0,
    guard: Callable[[], object] = lambda: None,
) -> Done:
    options = [part for key, value in gitrun.NEUTRAL.items() for part in ("-c", f"{key}={value}")]
    command = [gitrun.executable(), *options, *_OPTIONS, *arguments]
    try:
        running = subprocess.Popen(  # noqa: S603 - a list, no shell; the address was judged
            command,
            env=environment(git, remote.kind),
            cwd=git.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=not WINDOWS,  # no terminal to ask on, and one group to end
        )
    except OSError as error:
        raise StoreError(
            f"git could not be run ({reason(error)}); nothing was changed: check that "
            f"{git.parent} is there."
        ) from error
    return _Attended(running, watch).done(remote, idle or IDLE_SECONDS, guard)


class _Attended:
    """A run that is looked after until it ends."""

    def __init__(self, running: "subprocess.Popen[bytes]", watch: Watch) -> None:
        self._running = running
        self._watch = watch
        self._out: list[str] = []
        self._said: list[str] = []
        self._moved = self._begun = time.monotonic()
        self._threads = [
            threading.Thread(target=each, daemon=True) for each in (self._hear, self._read)
        ]

    def done(self, remote: Address, idle: float, guard: Callable[[], object]) -> Done:
        """Wait for its end.

        Raises:
            StoreError: Nothing moved for ``idle`` seconds; it was ended.
        """
        for thread in self._threads:
            thread.start()
        try:
            late = not self._waited(idle, guard)
        except BaseException:  # stopped by the user, or by the guard
            _end(self._running)
            raise
        finally:
            self._close()
        if late:
            raise UnreachableError(remote, f"nothing came from it for {idle:.0f} seconds")
        return Done(self._running.returncode, "\n".join(self._out), "\n".join(self._said))

    def _waited(self, idle: float, guard: Callable[[], object]) -> bool:
        """Whether it ended by itself."""
        while any(thread.is_alive() for thread in self._threads):
            self._threads[0].join(_LOOK_SECONDS)
            now = time.monotonic()
            if now - self._moved > idle or now - self._begun > LONGEST_SECONDS:
                _end(self._running)
                return False
            if self._running.poll() is not None:  # a shared connection of ssh's may hold the pipes
                self._threads[1].join(_LOOK_SECONDS)
                break
            guard()
        self._running.wait()
        return True

    def _close(self) -> None:
        for thread in self._threads:
            thread.join(_LOOK_SECONDS)
        for stream in (self._running.stdout, self._running.stderr):
            with suppress(OSError, ValueError):
                if stream is not None:
                    stream.close()

    def _hear(self) -> None:
        for line in _lines(self._running.stderr):
            self._moved = time.monotonic()
            progress = _PERCENT.match(line)
            if progress:
                self._watch(progress[1].lower(), int(progress[3]), int(progress[4]))
            elif line:
                self._said.append(line)

    def _read(self) -> None:
        self._out.extend(_lines(self._running.stdout))


def _lines(stream: IO[bytes] | None) -> Iterator[str]:
    """Lines as they come; git ends one of a progress with a carriage return."""
    rest = b""
    while stream is not None:
        try:
            data = os.read(stream.fileno(), 65536)
        except (OSError, ValueError):
            break
        if not data:
            break
        *whole, rest = _NEXT.split(rest + data)
        yield from (line.decode("utf-8", "replace").strip("\0 ") for line in whole)
    yield rest.decode("utf-8", "replace").strip()


def _end(running: "subprocess.Popen[bytes]") -> None:
    """End a run with all that it started."""
    with suppress(OSError):
        if WINDOWS:
            running.kill()
        else:
            os.killpg(running.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        running.wait(3)
        return
    with suppress(OSError):
        if not WINDOWS:
            os.killpg(running.pid, signal.SIGKILL)
    running.wait()
