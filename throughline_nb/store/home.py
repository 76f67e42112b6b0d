"""Where everything lives: one home for every host, found in the same way by each."""

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from throughline_nb.errors import NewerFormatError, StoreError
from throughline_nb.store.files import exchange, lock, reason, sync_folder, write_atomic
from throughline_nb.store.names import is_slug, safe_name, slug

__all__ = [
    "HOME_FORMAT",
    "Home",
    "exchange",
    "is_slug",
    "lock",
    "safe_name",
    "slug",
    "sync_folder",
    "write_atomic",
]

HOME_FORMAT: Final = 1
"""Number of the layout of the home, kept in its file ``format``."""


class Bridge(msgspec.Struct, frozen=True):
    """What the installer recorded in ``bridge.json``, as far as it is read here."""

    home: str = ""


class Home(msgspec.Struct, frozen=True):
    """The folder that holds projects, chats, trash, logs and settings."""

    path: Path

    @classmethod
    def locate(cls, env: Mapping[str, str] | None = None) -> "Home":
        """The home of this user.

        ``THROUGHLINE_HOME``, else what ``bridge.json`` in ``throughline/`` under LM Studio's home
        records, else that folder itself.

        Args:
            env: Environment; the process's own if None.
        """
        env = os.environ if env is None else env
        if given := env.get("THROUGHLINE_HOME", "").strip():
            return cls(_absolute(given, _user_folder(env), Path.cwd()))
        default = lmstudio_home(env) / "throughline"
        try:
            recorded = msgspec.json.decode((default / "bridge.json").read_bytes(), type=Bridge)
        except (OSError, msgspec.DecodeError):  # not installed, or a file that is not ours
            return cls(default)
        if not recorded.home.strip():
            return cls(default)
        return cls(_absolute(recorded.home, _user_folder(env), default))

    @property
    def projects(self) -> Path:
        """One git repository a project."""
        return _below(self.path, "projects")

    @property
    def chats(self) -> Path:
        """State of chats, by host and id."""
        return _below(self.path, "chats")

    @property
    def trash(self) -> Path:
        """Projects whose last chat was deleted, until they go for good."""
        return _below(self.path, "trash")

    @property
    def logs(self) -> Path:
        """What failed, for a report."""
        return _below(self.path, "logs")

    @property
    def locks(self) -> Path:
        """Lock files, outside what they guard, so that a project can be renamed and deleted."""
        return _below(self.path, "locks")

    @property
    def index(self) -> Path:
        """Which project is orphaned since when."""
        return _below(self.path, "index.json")

    @property
    def purged(self) -> Path:
        """What tells the words that were removed for good, without holding them."""
        return _below(self.path, "purged.json")

    @property
    def settings_file(self) -> Path:
        """The user's settings for every host but LM Studio."""
        return _below(self.path, "settings.toml")

    @property
    def format(self) -> int:
        """The layout's number on disk; that of this version where none stands yet."""
        marker = _below(self.path, "format")
        try:
            found = os.stat(marker)  # noqa: PTH116 - on the path of every turn
        except OSError:
            return HOME_FORMAT
        return _format(marker, found.st_ino, found.st_mtime_ns)

    @property
    def newer(self) -> bool:
        """Whether a newer version wrote the home, so that it is only read."""
        return self.format > HOME_FORMAT

    def ensure_writable(self) -> None:
        """Make the home if it is not there; call before writing into it.

        Raises:
            NewerFormatError: A newer version wrote it.
            StoreError: It cannot be made.
        """
        if self.newer:
            raise NewerFormatError(
                f"{self.path} was written by a newer throughLine; it is only read, and nothing "
                "was changed: upgrade throughLine to write."
            )
        marker = _below(self.path, "format")
        if os.path.exists(marker):  # noqa: PTH110 - never raises
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"{self.path} could not be made ({reason(error)}); nothing was changed: set "
                "THROUGHLINE_HOME to a folder that can be written."
            ) from error
        write_atomic(marker, f"{HOME_FORMAT}\n".encode("ascii"))


@lru_cache(maxsize=256)
def _below(home: Path, name: str) -> Path:
    return home / name


@lru_cache(maxsize=16)
def _format(marker: Path, _number: int, _time: int) -> int:
    """What the file says; read again when another took its place."""
    try:
        return int(marker.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return HOME_FORMAT


def lmstudio_home(env: Mapping[str, str] | None = None, system: str = os.name) -> Path:
    """LM Studio's folder, found as its SDK does it: pointer file, old cache folder, default.

    The pointer file ``~/.lmstudio-home-pointer`` holds the path (lmstudio-js,
    ``findLMStudioHome``). Nothing is written.

    Args:
        env: Environment; the process's own if None.
        system: ``os.name`` of the machine.
    """
    user = _user_folder(os.environ if env is None else env, system)
    try:
        pointed = (user / ".lmstudio-home-pointer").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        pointed = ""
    if pointed:
        return _absolute(pointed, user, user)
    cache = user / ".cache" / "lm-studio"
    return cache if cache.is_dir() else user / ".lmstudio"


def _user_folder(env: Mapping[str, str], system: str = os.name) -> Path:
    given = env.get("USERPROFILE" if system == "nt" else "HOME", "")
    return Path(given) if given else Path.home()


def _absolute(text: str, user: Path, below: Path) -> Path:
    text = text.strip()
    if text == "~" or text.startswith(("~/", "~\\")):
        return user / text[2:]
    return below / text
