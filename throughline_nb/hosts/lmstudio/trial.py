"""Starts the engine as the plugin will, with nothing but what was recorded, and has it commit.

A first project is started in a temporary home, through the bridge. What the engine answers is not
enough: the commit is looked for in the project's repository, with the git that was recorded.
"""

import contextlib
import queue
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from throughline_nb.errors import StoreError
from throughline_nb.hosts.bridge.messages import (
    PROTOCOL,
    GivenHistory,
    Hello,
    Nothing,
    Request,
    TurnParams,
)
from throughline_nb.hosts.lmstudio.record import Record

SECONDS: Final = 60.0
"""How long the whole may take; a first start can be slow while a virus scanner looks at it."""

_CHAT: Final = "throughline-install"


class Trial(msgspec.Struct, frozen=True):
    """What was found out.

    Attributes:
        engine: The engine's version.
        seconds: From the start of its process to its first answer.
    """

    engine: str
    seconds: float


def run_engine(record: Record, seconds: float = SECONDS) -> Trial:
    """Start the engine in the recorded environment alone, and start a project with it.

    Args:
        record: What the plugin would use.
        seconds: When to give up.

    Raises:
        StoreError: It does not start, does not answer, or does not commit.
    """
    with tempfile.TemporaryDirectory(prefix="throughline-", ignore_cleanup_errors=True) as folder:
        home = Path(folder) / "home"
        env = {**record.env, "THROUGHLINE_HOME": str(home)}
        process = _Process(record, env, Path(folder), time.monotonic() + seconds)
        try:
            hello = process.ask("hello", Hello(protocol=PROTOCOL, plugin=record.version))
            started = time.monotonic() - process.begun
            history = GivenHistory(turn=0, head="", changed=1, base="", messages=())
            start = TurnParams(chat=_CHAT, text="/tl start Check", history=history)
            turn = process.ask("turn", start)
            process.ask("shutdown", Nothing())
        finally:
            process.end()
        if not _commits(record, env, home):
            raise StoreError(
                f"The engine starts but committed nothing in a test ({_told(turn)}); nothing of "
                "yours was changed: run `throughline-nb doctor`."
            )
        return Trial(str(hello.get("engine", "")), started)


class _Process:
    """The engine's process and its pipe; messages go and come one at a time."""

    def __init__(self, record: Record, env: dict[str, str], folder: Path, until: float) -> None:
        self.begun = time.monotonic()
        self._until = until
        self._id = 0
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, no shell
                [record.python, "-m", "throughline_nb", "bridge"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=env,
                cwd=folder,
            )
        except OSError as error:
            raise StoreError(
                f"The interpreter {record.python} cannot be started ({error.strerror}); nothing "
                "was changed: run `throughline-nb lmstudio install` with a Python that is there."
            ) from error
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._errors: list[bytes] = []
        self._readers = [
            threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._drain, args=(self._process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def ask(self, method: str, params: msgspec.Struct) -> dict[str, Any]:
        """Send a request and wait for its answer; what comes in between is passed over."""
        self._id += 1
        request = Request(method, params, self._id)
        stdin = self._process.stdin
        try:
            if stdin is not None:
                stdin.write(msgspec.json.encode(request) + b"\n")
                stdin.flush()
        except OSError:
            raise self._ended(method) from None
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, self._until - time.monotonic()))
            except queue.Empty:
                raise StoreError(
                    f"The engine did not answer in time ({method}); nothing of yours was changed: "
                    "try again, and see `throughline-nb doctor` if that is no better."
                ) from None
            if not line:
                raise self._ended(method)
            answer = self._answer(line)
            if answer.get("id") != self._id or "method" in answer:
                continue
            if "error" in answer:
                raise StoreError(
                    f"The engine refused {method} ({answer['error'].get('message')}); nothing of "
                    "yours was changed: run `throughline-nb doctor`."
                )
            result = answer.get("result")
            return result if isinstance(result, dict) else {}

    def end(self) -> None:
        """End the process, which has nothing that could be lost; it ends with its input."""
        stdin, *outputs = self._process.stdin, self._process.stdout, self._process.stderr
        if stdin is not None:
            with contextlib.suppress(OSError):  # what was not yet written has no reader any more
                stdin.close()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join(timeout=2)
        for stream in outputs:
            if stream is not None:
                stream.close()

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            return msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.MsgspecError:
            shown = line.decode("utf-8", "replace").strip()[:80]
            raise StoreError(
                f"What answers in place of the engine is something else ({shown!r}); nothing was "
                "changed: run `throughline-nb lmstudio install` with the Python that has "
                "throughline-nb."
            ) from None

    def _ended(self, method: str) -> StoreError:
        self._process.wait()
        self._readers[1].join(timeout=2)
        said = b"".join(self._errors).decode("utf-8", "replace").strip().splitlines()
        why = said[-1] if said else f"code {self._process.returncode}"
        return StoreError(
            f"The engine ended at {method} ({why}); nothing of yours was changed: check that "
            "throughline-nb is installed in this Python, and install it again if it is not."
        )

    def _read(self, stream: IO[bytes]) -> None:
        for line in stream:
            self._lines.put(line)
        self._lines.put(b"")

    def _drain(self, stream: IO[bytes]) -> None:
        for line in stream:
            self._errors = [*self._errors[-20:], line]


def _told(turn: dict[str, Any]) -> str:
    """What the engine said went wrong, out of its instruction to the model."""
    said = str(turn.get("status") or turn.get("text") or "").splitlines()
    lines = [line for line in said if line and not line.startswith("[")]
    return lines[-1].partition(";")[0].rstrip(".") if lines else "it does not say why"


def _commits(record: Record, env: dict[str, str], home: Path) -> bool:
    """Whether a project in ``home`` has a commit, as the recorded git tells it."""
    for repository in home.glob("projects/*/.git"):
        try:
            done = subprocess.run(  # noqa: S603 - git by its absolute path, no shell
                [record.git, f"--git-dir={repository}", "rev-parse", "--verify", "HEAD^{commit}"],
                env={**env, "GIT_CONFIG_NOSYSTEM": "1"},
                capture_output=True,
                check=False,
            )
        except OSError:
            return False
        if done.returncode == 0:
            return True
    return False
