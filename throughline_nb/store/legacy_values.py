"""Names and values in the earlier plugin's JSON: what each may be called, and how it is read."""

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from throughline_nb.ledger.inline import one_line
from throughline_nb.ledger.model import PROPOSABLE, Section, is_id


def _names(words: str) -> tuple[str, ...]:
    return tuple(words.split())


SECTIONS: Final = {
    "constraints": _names("constraints rules requirements"),
    "plan": _names("plan steps tasks plan_steps"),
    "findings": _names("findings facts claims evidence"),
    "decisions": _names("decisions"),
    "questions": _names("questions open_questions"),
    "proposals": _names("proposals proposed"),
}
TEXT: Final = _names(
    "text claim title content statement question decision choice step rule constraint finding "
    "description summary name value"
)
FIELDS: Final = {
    "source": _names("source url source_url sources ref reference path file"),
    "missing": _names("missing missing_figures"),
    "reason": _names("reason rationale why retract_reason"),
    "because": _names("because based_on depends_on rests_on supported_by"),
    "answer": _names("answer resolution resolved_with"),
    "note": _names("note notes comment comments detail details"),
    "by": _names("by author actor added_by recorded_by created_by"),
    "added": _names("added added_at created_at recorded_at created timestamp time at date"),
    "step": _names("step during step_id"),
}
GOAL: Final = _names("goal objective")
NOTES: Final = _names("notes note scratchpad")
COUNTERS: Final = _names("next next_ids counters next_id ids")
WRAPPERS: Final = _names("ledger data state")
PLAIN: Final = frozenset(_names("project name slug format schema version id"))
"""What says nothing that the new project does not say itself."""

TIMES: Final = _names(
    "saved_at updated_at updated modified modified_at timestamp time saved at created_at created "
    "date"
)
SENTENCES: Final = _names("message sentence change")

_STATES: Final = {
    "plan": {
        "todo": _names("todo pending open planned not_started next"),
        "doing": _names("doing in_progress active current started wip"),
        "done": _names("done complete completed finished closed"),
        "blocked": _names("blocked waiting on_hold paused"),
    },
    "findings": {
        "unverified": _names("unverified unchecked pending new active"),
        "verified": _names("verified confirmed checked"),
        "not read": _names("not_read unread"),
        "stale": _names("stale outdated"),
        "retracted": _names("retracted withdrawn invalid removed rejected"),
    },
    "decisions": {"": _names("active accepted made open current decided")},
    "questions": {
        "": _names("open pending active"),
        "closed": _names("answered resolved closed done"),
    },
    "proposals": {"": _names("open pending proposed new")},
}
_DEFAULTS: Final = {"plan": "todo", "findings": "unverified"}
_ACTORS: Final = {
    "user": _names("user human person"),
    "engine": _names("engine plugin system throughline"),
}
_ID: Final = re.compile(r"([A-Za-z])[-_ #]?0*([1-9][0-9]{0,8})")
_SECONDS_BELOW: Final = 10**11
"""A number below this is seconds (until the year 5138), one above it milliseconds."""
_LATEST: Final = 253_402_300_800.0
"""First second of the year 10000, which no clock of a computer shows."""


def snaked(value: Any) -> dict[str, Any]:
    """An object with its names in snake case; of anything else, an empty one."""
    if not isinstance(value, Mapping):
        return {}
    return {
        re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[\s-]+", "_", str(name)).casefold(): inner
        for name, inner in value.items()
    }


def first(item: Mapping[str, Any], names: Iterable[str]) -> tuple[str, Any]:
    """The first of the names that has a value, and that value; else an empty name and None."""
    empty: tuple[Any, ...] = (None, "", [], {})
    return next(((name, item[name]) for name in names if item.get(name) not in empty), ("", None))


def items(value: Any) -> Iterator[dict[str, Any]]:
    """The entries of a section: a list of texts or objects, an object by id, or one text."""
    if isinstance(value, Mapping):
        _, nested = first(snaked(value), ("steps", "items", "entries"))
        value = nested if isinstance(nested, list) else [_named(*pair) for pair in value.items()]
    for item in value if isinstance(value, list) else [value] if isinstance(value, str) else []:
        if isinstance(item, Mapping):
            yield snaked(item)
        elif item not in (None, ""):
            yield {"text": item}


def words(value: Any) -> str:
    """Any value as text; what is neither text nor a list of texts, as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str | int) for item in value):
        return ", ".join(map(str, value))
    if isinstance(value, Mapping) and len(value) <= 2:  # such as a source's kind and its value
        _, inner = first(snaked(value), (*TEXT, "url", "path", "id"))
        if isinstance(inner, str):
            return inner
    return msgspec.json.encode(value).decode()


def ident(value: Any, section: Section) -> str:
    """A valid id of this section, from ``F12``, ``f-012``, ``12`` or 12; else empty."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9:
        return f"{section.letter}{value}"
    if not isinstance(value, str):
        return ""
    found = any_id(section.letter + value.strip() if value.strip().isdecimal() else value)
    return found if found[:1] == section.letter else ""


def any_id(text: str) -> str:
    """A valid id of any section, from ``F12`` or ``f-012``; else empty."""
    match = _ID.fullmatch(text.strip())
    found = match[1].upper() + match[2] if match else ""
    return found if is_id(found) else ""


def seconds(value: Any) -> float | None:
    """A time as seconds since the epoch: a number of seconds or milliseconds, or ISO 8601."""
    if isinstance(value, str):
        text = value.strip()
        if re.fullmatch(r"[0-9]{10,13}", text):
            return seconds(int(text))
        try:
            when = datetime.fromisoformat(text)
            return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    found = value if value < _SECONDS_BELOW else value / 1000 if value < 1e15 else 0
    return float(found) if 0 < found < _LATEST else None


def field(name: str, value: Any) -> str:
    """The value of one field of an entry, as today's ledger has it; empty if it has no place."""
    if name == "added":
        when = seconds(value)
        return "" if when is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))
    text = one_line(words(value))
    if name == "by":
        known = (actor for actor, names in _ACTORS.items() if text.casefold() in names)
        return next(known, "model" if text else "")
    if name == "step":
        return any_id(text) if any_id(text)[:1] == "S" else ""
    return text


def state(section: Section, item: Mapping[str, Any]) -> tuple[str, frozenset[str]]:
    """Where an entry stands, and the names of what said so."""
    table = _STATES.get(section.attr, {})
    default = _DEFAULTS.get(section.attr, "")
    for flag in ("retracted", "done", "verified"):
        if flag in table and isinstance(item.get(flag), bool):
            found, told = state(section, {k: v for k, v in item.items() if k != flag})
            return flag if item[flag] else found, told | {flag}
    for name in ("status", "state", "verification"):
        folded = re.sub(r"[\s-]+", "_", str(item.get(name)).strip().casefold())
        for known, names in table.items():
            if folded in names:
                return known, frozenset({name})
    return default, frozenset()


def proposal(item: Mapping[str, Any], text: str) -> tuple[str, str]:
    """A proposal's text as today's ledger has it, and the name of what said its kind."""
    if text.partition(":")[0].strip().lower() in PROPOSABLE:
        return text, ""
    name, kind = first(item, ("kind", "type", "what"))
    what = str(kind).strip().lower()
    return f"{what if what in PROPOSABLE else 'constraint'}: {text}", name


def origin(item: Mapping[str, Any]) -> tuple[str, frozenset[str]]:
    """Where an entry was recorded, and the names of what said so."""
    name, said = first(item, ("from", "origin"))
    if isinstance(said, str):
        return one_line(said), frozenset({name})
    turn, (name, chat) = item.get("turn"), first(item, ("chat", "chat_id", "conversation"))
    if isinstance(turn, bool) or not isinstance(turn, int) or turn < 1:
        return "", frozenset()
    key = one_line(str(chat)) if "/" in str(chat) else f"lmstudio/{one_line(str(chat))}"
    return f"turn {turn} of {key}" if name else f"turn {turn}", frozenset({"turn", name})


def _named(name: Any, value: Any) -> Any:
    return {"id": name, **(value if isinstance(value, Mapping) else {"text": value})}
