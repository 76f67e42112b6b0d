"""A person's front matter, in the spelling of the base."""

from throughline_nb.ledger.front import RESERVED, Front
from throughline_nb.ledger.loosely import equal, key, spelled
from throughline_nb.ledger.model import Ledger


def settle_project(front: Front, title: str, base: Ledger | None) -> str:
    """The project's name: from the front matter, else as before, else the file's title."""
    named = front.get("project")
    if named is None:
        return base.project if base is not None else title
    return _respelled(base.project if base is not None else "", named)


def settle_meta(front: Front, base: Ledger | None) -> tuple[tuple[str, str], ...]:
    """The person's own pairs, in the order of the base; all of the base's where ours is gone."""
    ours = front.get("throughline") is not None
    if base is not None and not ours:
        return base.meta
    before = dict(base.meta) if base is not None else {}
    names = {key(_unquoted(name)): name for name in before}
    found = {
        name if name in before else names.get(key(_unquoted(name)), name): value
        for name, value in front.pairs
        if name not in RESERVED
    }
    order = [name for name in before if name in found]
    return tuple(
        (name, _respelled(before.get(name, ""), found[name]))
        for name in dict.fromkeys([*order, *found])
    )


def _respelled(before: str, value: str) -> str:
    """A value as before where smart quotes or YAML's numbers are the only difference."""
    if before and (equal(before, _unquoted(value)) or _same_number(before, value)):
        return before
    return spelled(before, value)


def _same_number(before: str, value: str) -> bool:
    """Whether ``0123`` or ``1.10`` was written as the number that YAML takes it for."""
    try:
        return f"{float(before):g}" == value
    except ValueError:
        return False


def _unquoted(value: str) -> str:
    return value.strip("“”‘’")
