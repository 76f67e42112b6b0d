"""The settings: each defined once, with its default, its limits and the words a person reads.

LM Studio's form governs LM Studio's chats, ``settings.toml`` in the home all others. Both are
read through :func:`parse`, so a value that cannot be used never stops a chat: the default stands
in, and :attr:`Loaded.problems` says so in one line each.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=1, le=100)]
Tokens = Annotated[int, Meta(ge=100, le=1_000_000)]
Days = Annotated[int, Meta(ge=0, le=3650)]

GLOBAL = {"scope": "global"}
"""Marks a setting that has one value for all chats of a host whose form knows both kinds; the
others can differ from chat to chat."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting, with the defaults of the design."""

    automatic_start: Annotated[
        bool,
        Meta(
            title="Start by itself",
            description="Start a project after two heavy turns in a row in a chat that has none.",
        ),
    ] = True
    heavy_turn_calls: Annotated[
        Count,
        Meta(
            title="Tool calls for a heavy turn",
            description="A turn with at least this many tool calls is heavy.",
        ),
    ] = 3
    digest_tokens: Annotated[
        Annotated[int, Meta(ge=200, le=4000)],
        Meta(title="Digest cap", description="The digest is at most this long, in tokens."),
    ] = 600
    verbatim_tokens: Annotated[
        Tokens,
        Meta(
            title="Verbatim window",
            description="The digest comes again when the last one lies further back than this, in "
            'tokens. Match context-compressor\'s "Recent context kept verbatim".',
        ),
    ] = 6000
    recall: Annotated[
        bool,
        Meta(
            title="Recall",
            description="Keep a searchable copy of long chats. Off deletes the existing copy.",
        ),
    ] = True
    recall_tokens: Annotated[
        Tokens,
        Meta(title="Recall threshold", description="Recall starts at this history length, tokens."),
    ] = 24_000
    stale_turns: Annotated[
        Count,
        Meta(
            title="Stale after",
            description="Remind the model to record after this many turns with tool calls and no "
            "change of the ledger.",
        ),
    ] = 2
    refuse_empty_done: Annotated[
        bool,
        Meta(
            title="Refuse an empty done",
            description="Refuse to mark a step done while nothing was recorded during it.",
        ),
    ] = True
    orphan_days: Annotated[
        Days,
        Meta(
            title="Orphan grace",
            description="Days until a project whose last chat was deleted moves to the trash.",
            extra=GLOBAL,
        ),
    ] = 7
    trash_days: Annotated[
        Days,
        Meta(
            title="Trash retention",
            description="Days after which a project in the trash is deleted.",
            extra=GLOBAL,
        ),
    ] = 30
    versions_shown: Annotated[
        Annotated[int, Meta(ge=1, le=10_000)],
        Meta(
            title="Versions shown",
            description="How many versions the log shows; git keeps all of them.",
            extra=GLOBAL,
        ),
    ] = 50
    page_tools: Annotated[
        tuple[str, ...],
        Meta(
            title="Page-reading tools",
            description="Tools whose successful call proves that a page was read.",
            extra=GLOBAL,
        ),
    ] = ("read_webpage", "visit_website", "fetch", "fetch_url")
    turn_seconds: Annotated[
        Annotated[float, Meta(ge=0.1, le=60)],
        Meta(
            title="Time-out of a turn",
            description="Seconds after which a message in LM Studio goes on unchanged.",
            extra=GLOBAL,
        ),
    ] = 2.0
    python: Annotated[
        str,
        Meta(
            title="Path of the Python interpreter",
            description="Used by LM Studio's plugin; empty means the one recorded at install.",
            extra=GLOBAL,
        ),
    ] = ""


class Loaded(msgspec.Struct, frozen=True):
    """Settings in force, where each comes from, and what could not be used.

    Attributes:
        settings: The values.
        origin: Name of a setting to where its value comes from; ``default`` where it is absent.
        problems: One line for each value or file that was not used.
    """

    settings: Settings
    origin: Mapping[str, str]
    problems: tuple[str, ...] = ()


def parse(values: Mapping[str, Any], where: str, before: Loaded | None = None) -> Loaded:
    """Lay ``values`` over the defaults, or over the settings ``before``.

    Args:
        values: Names of settings to values as a file or a form gives them.
        where: What a person calls their origin, for example ``settings.toml``.
        before: Settings that hold where ``values`` says nothing.
    """
    base = before or Loaded(Settings(), {})
    known = {field.name: field for field in msgspec.structs.fields(Settings)}
    taken: dict[str, Any] = {}
    problems = list(base.problems)
    for name, value in values.items():
        if name not in known:
            problems.append(f"{where}: there is no setting {name!r}; it is ignored.")
            continue
        try:
            taken[name] = msgspec.convert(value, known[name].type)
        except msgspec.ValidationError as error:
            default = getattr(base.settings, name)
            problems.append(
                f"{where}: {name} = {value!r} is not used ({error}); {default!r} holds."
            )
    return Loaded(
        msgspec.structs.replace(base.settings, **taken),
        {**base.origin, **dict.fromkeys(taken, where)},
        tuple(problems),
    )


def load(file: Path) -> Loaded:
    """Read ``settings.toml``; a file that is absent or broken leaves the defaults.

    It is asked for every turn, and read when the file changed.
    """
    try:
        found = file.stat()
    except OSError:
        return Loaded(Settings(), {})
    return _read(file, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=16)
def _read(file: Path, _time: int, _size: int) -> Loaded:
    import tomllib  # noqa: PLC0415 - 3 ms, and most homes have no such file

    try:
        values = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        problem = f"{file.name} cannot be read ({error}); the defaults hold until it is mended."
        return Loaded(Settings(), {}, (problem,))
    return parse(values, file.name)
