"""Where the parts of an installation lie: in LM Studio's folder, and in this package."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from throughline_nb.errors import StoreError
from throughline_nb.store.home import lmstudio_home

CARRIED: Final = (
    "src",
    "manifest.json",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "README.md",
)
"""What of the plugin's folder LM Studio gets; the wheel carries the same (``pyproject.toml``)."""


class Places(msgspec.Struct, frozen=True):
    """Paths below LM Studio's folder.

    Attributes:
        lmstudio: LM Studio's folder.
    """

    lmstudio: Path

    @classmethod
    def locate(cls, env: Mapping[str, str] | None = None, system: str = os.name) -> "Places":
        """Find LM Studio's folder as its SDK does.

        Args:
            env: Environment; the process's own if None.
            system: ``os.name`` of the machine.
        """
        return cls(lmstudio_home(env, system))

    @property
    def ours(self) -> Path:
        """Our folder there, which is also the home unless another one was recorded."""
        return self.lmstudio / "throughline"

    @property
    def record(self) -> Path:
        """What the plugin reads to start the engine."""
        return self.ours / "bridge.json"

    @property
    def plugins(self) -> Path:
        """Where LM Studio keeps installed plugins: ``<owner>/<name>``."""
        return self.lmstudio / "extensions" / "plugins"

    @property
    def conversations(self) -> Path:
        """Where LM Studio keeps its chats."""
        return self.lmstudio / "conversations"

    def lms(self, env: Mapping[str, str], system: str = os.name) -> Path | None:
        """LM Studio's own command, from PATH or from its folder; None where there is none."""
        if found := shutil.which("lms", path=env.get("PATH", "")):
            return Path(found).absolute()
        own = self.lmstudio / "bin" / ("lms.exe" if system == "nt" else "lms")
        return own if own.is_file() and os.access(own, os.X_OK) else None


def plugin_source() -> Path:
    """The plugin's folder in this installation: inside the package, or beside it in a checkout.

    Raises:
        StoreError: This installation has none.
    """
    package = Path(__file__).parents[2]
    for folder in (package / "lmstudio_plugin", package.parent / "lmstudio_plugin"):
        if (folder / "manifest.json").is_file():
            return folder
    raise StoreError(
        f"The LM Studio plugin is not in this installation ({package}); nothing was changed: "
        "install throughline-nb again with pip."
    )
