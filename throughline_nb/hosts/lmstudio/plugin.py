"""The plugin's folder: handing it to LM Studio, and finding it among what is installed there.

LM Studio installs a plugin itself, with the packages that it needs, when ``lms dev --install`` asks
it to (``dev/index.ts`` of LM Studio's command line). A copy of the folder alone would not run. So
the plugin is handed over in a folder of our own, and ``lms`` is run there.
"""

import contextlib
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from throughline_nb.errors import StoreError
from throughline_nb.hosts.lmstudio.places import CARRIED, Places, plugin_source
from throughline_nb.store.files import patiently, reason, remove_tree

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


def hand_over(places: Places, own: Plugin) -> None:
    """Put a copy of the plugin where LM Studio installs it from; an older copy is replaced.

    Raises:
        StoreError: It cannot be written; an older copy may be gone.
    """
    target = places.handed_over
    fresh = target.with_name(".plugin.new")
    try:
        remove_tree(fresh)
        fresh.mkdir(parents=True)
        for name in CARRIED:
            part = own.folder / name
            if part.is_dir():
                shutil.copytree(part, fresh / name, ignore=shutil.ignore_patterns("*.test.ts"))
            elif part.is_file():
                shutil.copyfile(part, fresh / name)
        remove_tree(target)
        patiently(lambda: fresh.rename(target))
    except OSError as error:
        raise StoreError(
            f"The plugin could not be copied to {target} ({reason(error)}); projects were not "
            "touched: give yourself the right to write there, and run the command again."
        ) from error


def install(places: Places, lms: Path) -> None:
    """Have LM Studio install the plugin that was handed over; what ``lms`` says is shown.

    Args:
        places: Where it lies.
        lms: LM Studio's command.

    Raises:
        StoreError: It did not work.
    """
    again = "start LM Studio and run `throughline-nb lmstudio install` again"
    try:
        done = subprocess.run(  # noqa: S603 - LM Studio's own command, no shell
            [str(lms), "dev", "--install", "--yes"],
            cwd=places.handed_over,
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


def remove(places: Places, own: Plugin) -> list[Path]:
    """Take our plugin out of LM Studio's folder, the copy that was handed over with it.

    Returns:
        The folders that are gone.

    Raises:
        StoreError: One of them cannot be removed.
    """
    gone = []
    for folder in (places.plugins / own.owner / own.name, places.handed_over):
        if not folder.exists() and not folder.is_symlink():
            continue
        with contextlib.suppress(OSError):
            folder.unlink() if folder.is_symlink() else remove_tree(folder)
        if folder.exists():
            raise StoreError(
                f"{folder} could not be removed; projects are as they were: end LM Studio, check "
                "that you have the right to write there, and run the command again."
            )
        gone.append(folder)
    with contextlib.suppress(OSError):
        (places.plugins / own.owner).rmdir()
    return gone
