"""Import of a project that the earlier LM Studio plugin kept: ``ledger.json``, no git.

Once: its ``versions/`` become commits in their order and with their times, ``ledger.json`` the
last one. The new repository is built aside and put in place by two renames; the original moves,
untouched and whole, to ``before-import/`` beside ``projects/``. Where the process ends in between,
the next import goes on from there.
"""

import re
from pathlib import Path
from typing import Any, Final

import msgspec

from throughline_nb.errors import StoreError, ThroughLineError, UnreadableFileError
from throughline_nb.ledger import Ledger, Prose
from throughline_nb.ledger.delta import changes, sentence
from throughline_nb.store.files import lock, patiently, reason, remove_tree, sync_folder
from throughline_nb.store.home import Home, is_slug
from throughline_nb.store.legacy_format import Reader, Snapshot
from throughline_nb.store.legacy_values import seconds
from throughline_nb.store.projects import Project, Projects, Stamp

ORIGINALS: Final = "before-import"
"""Folder of the home that keeps the originals."""

_AFTERWARDS: Final = 2.0
"""Seconds by which ``ledger.md`` must be newer than ``ledger.json`` to count as edited by hand."""


def is_legacy(folder: Path) -> bool:
    """Whether a project's folder is in the earlier plugin's format."""
    return (folder / "ledger.json").is_file() and not (folder / ".git").exists()


def waiting(home: Home) -> tuple[str, ...]:
    """Names of the projects that :func:`import_legacy` would import, or whose import it ends."""
    found = set()
    if home.projects.is_dir():
        found = {path.name for path in home.projects.iterdir() if is_legacy(path)}
    if (home.path / ORIGINALS).is_dir():
        ready = (path.name for path in (home.path / ORIGINALS).glob(".*.ready"))
        found |= {name[1 : -len(".ready")] for name in ready}
    return tuple(sorted(name for name in found if is_slug(name)))


def import_legacy(home: Home, slug: str, now: float) -> Project | None:
    """Import one project of the earlier plugin's format; the original is kept beside.

    Args:
        home: The home.
        slug: Name of the project's folder; it stays the project's name.
        now: Seconds since the epoch; no version is dated later.

    Returns:
        The project, or None where there is nothing to import.

    Raises:
        UnreadableFileError: ``ledger.json`` is damaged or no ledger; nothing was touched.
        StoreError: A folder cannot be read, written or moved; the original is where it was or
            in ``before-import/``.
    """
    if not is_slug(slug) or slug not in waiting(home):
        return None
    home.ensure_writable()
    with lock(home.locks / f"import-{slug}.lock"):
        folder, beside = home.projects / slug, home.path / ORIGINALS
        ready = beside / f".{slug}.ready"
        try:
            if is_legacy(folder):
                remove_tree(ready)
                snapshots = _read(folder, slug, now)
                beside.mkdir(exist_ok=True)
                _build(beside, slug, snapshots, ready)
                patiently(lambda: folder.rename(_free(beside, slug)))
            if ready.is_dir() and not folder.exists():
                home.projects.mkdir(exist_ok=True)
                patiently(lambda: ready.rename(folder))
                sync_folder(home.projects)
            remove_tree(ready)
        except OSError as error:
            raise StoreError(
                f"Project {slug} of the earlier plugin was not imported ({reason(error)}); its "
                f"files are kept in {folder} or {beside}: check permissions and free space."
            ) from error
        return Projects(home).open(slug)


def import_waiting(home: Home, now: float) -> tuple[str, ...]:
    """Import every project of the earlier plugin's format; call when an engine starts.

    Args:
        home: The home.
        now: Seconds since the epoch.

    Returns:
        One line each: what was imported, or why not.
    """
    lines = []
    for slug in waiting(home):
        try:
            if import_legacy(home, slug, now) is not None:
                lines.append(
                    f"Project {slug} of the earlier plugin was imported; its own files are kept "
                    f"in {home.path / ORIGINALS}."
                )
        except ThroughLineError as error:
            lines.append(str(error))
    return tuple(lines)


def _read(folder: Path, slug: str, now: float) -> list[Snapshot]:
    """All snapshots, oldest first, none dated before the one before it or after ``now``."""
    reader = Reader(slug)
    found: list[Snapshot] = []
    for path in sorted(_versions(folder), key=lambda path: _natural(path, folder)):
        try:
            found.append(_dated(reader.snapshot(_decoded(path)), path))
        except (ValueError, OSError):
            continue  # a damaged version stays in the original, which is kept
    path = folder / "ledger.json"
    try:
        last = _dated(reader.snapshot(_decoded(path)), path)
    except OSError as error:
        raise UnreadableFileError(
            f"{path} of the earlier plugin cannot be opened ({reason(error)}); nothing was "
            "touched: check who may read it."
        ) from error
    except ValueError as error:
        raise UnreadableFileError(
            f"{path} of the earlier plugin is damaged or no ledger ({_brief(error)}); nothing was "
            "touched: mend it, or put a version from its versions folder in its place."
        ) from error
    found.append(msgspec.structs.replace(last, ledger=_with_hand_edit(last.ledger, folder)))
    numbers = found[-1].ledger.next
    ordered: list[Snapshot] = []
    time = 0.0
    for snapshot in found:
        time = min(max(time, snapshot.time or 0.0), now)
        # Every version has the final numbers: an id that was given up is used in none of them.
        ledger = msgspec.structs.replace(snapshot.ledger, next=numbers)
        if not ordered or ledger != ordered[-1].ledger:
            ordered.append(msgspec.structs.replace(snapshot, ledger=ledger, time=time))
    return ordered


def _build(beside: Path, slug: str, snapshots: list[Snapshot], ready: Path) -> None:
    """Make the repository aside; ``ready`` appears when it is complete."""
    work = beside / f".{slug}.building"
    remove_tree(work)
    work.mkdir()
    project: Project | None = None
    before = Ledger(project=slug)
    for number, snapshot in enumerate(snapshots, 1):
        made = sentence(changes(before, snapshot.ledger)) or "nothing recorded"
        told = f"Imported version {number} of {len(snapshots)}: {snapshot.sentence or made}"
        stamp = Stamp(actor="engine", now=snapshot.time or 0.0)
        if project is None:
            project = Projects(Home(work)).create(slug, snapshot.ledger, told, stamp)
        else:
            project.change(_to(snapshot.ledger, told), stamp)
        before = snapshot.ledger
    patiently(lambda: (work / "projects" / slug).rename(ready))
    remove_tree(work)


def _to(ledger: Ledger, told: str) -> Any:
    return lambda _: (ledger, told)


def _versions(folder: Path) -> list[Path]:
    versions = folder / "versions"
    return [path for path in versions.rglob("*.json") if path.is_file() and not path.is_symlink()]


def _natural(path: Path, folder: Path) -> list[tuple[int, str]]:
    """Sort key of a version's name: numbers by their size, the rest by its letters."""
    name = path.relative_to(folder).with_suffix("").as_posix().casefold()
    return [(int(digits or -1), text) for digits, text in re.findall(r"(\d+)|(\D+)", name)]


def _decoded(path: Path) -> Any:
    return msgspec.json.decode(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))


def _dated(snapshot: Snapshot, path: Path) -> Snapshot:
    """The snapshot with a time: its own, else that in the file's name, else the file's."""
    if snapshot.time is not None:
        return snapshot
    name = path.stem if path.stem != "ledger" else path.parent.name
    # 2026-05-01T10-00-00Z, as a name has it where a colon is not allowed
    spelt = re.sub(r"(T\d\d)-(\d\d)-(\d\d)", r"\1:\2:\3", name)
    found = next(filter(None, map(seconds, [spelt, *re.findall(r"\d{10,13}", name)])), None)
    return msgspec.structs.replace(snapshot, time=found or path.stat().st_mtime)


def _with_hand_edit(ledger: Ledger, folder: Path) -> Ledger:
    """A note where ``ledger.md`` was saved after the plugin wrote it.

    How that plugin rendered a ledger is not known here, so what was edited cannot be told apart;
    the file is kept with the original, and the note says where.
    """
    text = folder / "ledger.md"
    if not text.is_file():
        return ledger
    if text.stat().st_mtime < (folder / "ledger.json").stat().st_mtime + _AFTERWARDS:
        return ledger
    told = (
        "The ledger.md of the earlier plugin was edited by hand after it was last written; the "
        f"edited file is kept in {ORIGINALS}/{folder.name} beside the projects folder."
    )
    notes = [*(prose.text for prose in ledger.prose), told]
    return msgspec.structs.replace(ledger, prose=(Prose("notes", "\n\n".join(notes)),))


def _free(beside: Path, slug: str) -> Path:
    path, number = beside / slug, 1
    while path.exists():
        number += 1
        path = beside / f"{slug}-{number}"
    return path


def _brief(error: ValueError) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
