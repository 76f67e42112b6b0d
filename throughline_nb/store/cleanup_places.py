"""Where the hosts' chats lie, so that a folder that is not there now is no deletion.

A disk that is not mounted, a folder that is not synced yet or that the app made anew looks like one
whose chats were all deleted. So one that holds none of the chats that were seen in it says nothing
about them for a day.
"""

from collections.abc import Mapping

import msgspec

from throughline_nb.chat import ChatKey
from throughline_nb.store.marks import Place, marked
from throughline_nb.store.observed import DAY


def places_now(
    known: Mapping[str, Place],
    there: Mapping[ChatKey, bool | None],
    place: str,
    folders: Mapping[str, str],
    seen: float,
) -> dict[str, Place]:
    """What is to be remembered of the hosts' folders after a look.

    Args:
        known: What was remembered, by the host's name.
        there: Of each known chat whether it exists.
        place: What tells the folder that was looked into from another; empty where there is none.
        folders: The folder below it in which a chat lies, by the chat's id.
        seen: The time that was observed, in seconds since the epoch.
    """
    places = dict(known)
    for host in sorted({key.host for key in there}) if place else ():
        said = {key.id: found for key, found in there.items() if key.host == host}
        if None in said.values():
            continue
        was = places.get(host)
        if was is None or was.ident == place or True in said.values():
            places[host] = _below(place, was or Place(place), said, folders, seen)
            continue
        first = marked(was.other, seen) if was.other else seen
        if seen - first < DAY:
            places[host] = msgspec.structs.replace(was, other=first)
        else:
            places[host] = Place(place)
    return places


def doubtful(places: Mapping[str, Place], key: ChatKey, seen: float) -> bool:
    """Whether a chat that was not found may be in a folder that is not there now."""
    place = places.get(key.host)
    if place is None:
        return False
    since = place.empty.get(place.within.get(key.id, ""))
    return bool(place.other) or (since is not None and seen - since < DAY)


def _below(
    ident: str,
    was: Place,
    said: Mapping[str, bool | None],
    folders: Mapping[str, str],
    seen: float,
) -> Place:
    within = {id_: folders.get(id_, "") if found else was.within.get(id_, "")
              for id_, found in said.items()}  # fmt: skip
    within = {id_: folder for id_, folder in within.items() if folder}
    held = set(folders.values())
    missing = {within[id_] for id_, found in said.items() if not found and id_ in within}
    empty = {folder: marked(was.empty.get(folder, seen), seen) for folder in sorted(missing - held)}
    return Place(ident, 0.0, within, empty)
