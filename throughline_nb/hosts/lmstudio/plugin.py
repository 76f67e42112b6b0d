"""The plugin's folder: having LM Studio install it, and finding it among what is installed there.

LM Studio installs a plugin itself, with the packages that it needs, when ``lms dev --install`` asks
it to (``dev/index.ts`` of LM Studio's command line). A copy of the folder alone would not run. It
is asked to do so in a folder of its own, outside LM Studio's and without what a checkout adds.
"""

import contextlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from throughline_nb.errors import StoreError
from throughline_nb.hosts.lmstudio.places import CARRIED, Places, plugin_source
from throughline_nb.store.files import reason, remove_tree

_LIKE_OURS: Final = re.compile(r"[^a-z]")


class Plugin(msgspec.Struct, frozen=True):
    """A plugin on disk.

    Attributes:
        folder: Where it lies.
        owner: Its owner, by its manifest.
        name: Its name, by its manifest.
        version: What its ``package.json`` says, or empty.
    """

    folder: Path
    owner: str
    name: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"


class _Manifest(msgspec.Struct):
    owner: str
    name: str


class _Package(msgspec.Struct):
    version: str = ""


def read_plugin(folder: Path) -> Plugin | None:
    """The plugin in a folder; None where there is none that can be read."""
    try:
        manifest = msgspec.json.decode((folder / "manifest.json").read_bytes(), type=_Manifest)
    except (OSError, msgspec.MsgspecError):
        return None
    package = _Package()
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        package = msgspec.json.decode((folder / "package.json").read_bytes(), type=_Package)
    return Plugin(folder, manifest.owner, manifest.name, package.version)


def own_plugin() -> Plugin:
    """The plugin that this installation carries.

    Raises:
        StoreError: There is none, or it is damaged.
    """
    source = plugin_source()
    found = read_plugin(source)
    if found is None:
        raise StoreError(
            f"{source / 'manifest.json'} cannot be read; nothing was changed: install "
            "throughline-nb again with pip."
        )
    return found


def installed(places: Places, own: Plugin) -> Plugin | None:
    """Our plugin as LM Studio has it, or None."""
    return read_plugin(places.plugins / own.owner / own.name)


def others(places: Places, own: Plugin) -> Iterator[Plugin]:
    """Other plugins whose name is that of throughLine: an earlier one, or one of somebody else."""
    with contextlib.suppress(OSError):
        for manifest in sorted(places.plugins.glob("*/*/manifest.json")):
            found = read_plugin(manifest.parent)
            if found is None or (found.owner, found.name) == (own.owner, own.name):
                continue
            if _LIKE_OURS.sub("", found.name.lower()).startswith("throughline"):
                yield found


def copy(own: Plugin, folder: Path) -> None:
    """Copy what LM Studio needs of the plugin into a folder.

    What is only for working on the plugin is left out of ``package.json``: LM Studio would fetch
    it, too, which is four times the rest. The lock file pins what remains; npm drops what it has
    beyond.
    """
    for name in CARRIED:
        part = own.folder / name
        if part.is_dir():
            shutil.copytree(part, folder / name, ignore=shutil.ignore_patterns("*.test.ts"))
        elif part.is_file():
            shutil.copyfile(part, folder / name)
    package = folder / "package.json"
    if package.is_file():
        said = msgspec.json.decode(package.read_bytes(), type=dict[str, msgspec.Raw])
        said.pop("devDependencies", None)
        package.write_bytes(msgspec.json.format(msgspec.json.encode(said), indent=2) + b"\n")


def install(own: Plugin, lms: Path) -> None:
    """Have LM Studio install the plugin, in place of an older one; what ``lms`` says is shown.

    Args:
        own: The plugin.
        lms: LM Studio's command.

    Raises:
        StoreError: It did not work.
    """
    again = "start LM Studio and run `throughline-nb lmstudio install` again"
    try:
        with tempfile.TemporaryDirectory(prefix="throughline-plugin-") as folder:
            copy(own, Path(folder))
            done = subprocess.run(  # noqa: S603 - LM Studio's own command, no shell
                [str(lms), "dev", "--install", "--yes"],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                check=False,
            )
    except OSError as error:
        raise StoreError(
            f"{lms} could not be run ({reason(error)}); the engine is recorded, the plugin is not "
            f"installed: {again}."
        ) from error
    if done.returncode:
        raise StoreError(
            f"LM Studio did not install the plugin (`lms dev --install` ended with code "
            f"{done.returncode}, what it said stands above); the engine is recorded: {again}."
        )


def remove(places: Places, own: Plugin) -> Path | None:
    """Take our plugin out of LM Studio's folder.

    Returns:
        The folder that is gone, or None where there was none.

    Raises:
        StoreError: It cannot be removed.
    """
    folder = places.plugins / own.owner / own.name
    if not folder.exists() and not folder.is_symlink():
        return None
    with contextlib.suppress(OSError):
        folder.unlink() if folder.is_symlink() else remove_tree(folder)
    if folder.exists():
        raise StoreError(
            f"{folder} could not be removed; projects are as they were: end LM Studio, check that "
            "you have the right to write there, and run the command again."
        )
    with contextlib.suppress(OSError):
        folder.parent.rmdir()
    return folder
