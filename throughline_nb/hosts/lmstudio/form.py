"""What of the LM Studio plugin is made here: its settings form and the lines that it says alone.

The plugin writes no text of its own. Its form comes from the definitions of
:class:`~throughline_nb.store.settings.Settings`, everything else from the running engine, and what
it has to say while there is no engine from :data:`LINES`.

``python -m throughline_nb.hosts.lmstudio.form`` writes ``lmstudio_plugin/src/generated.ts``; a test
fails where that file differs.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import inspect

from throughline_nb import __version__
from throughline_nb.hosts.bridge.messages import PROTOCOL
from throughline_nb.hosts.lmstudio.record import FORMAT
from throughline_nb.store.settings import Settings

FILE: Final = Path(__file__).parents[3] / "lmstudio_plugin" / "src" / "generated.ts"

_WENT_ON: Final = "your message went on unchanged"
_INSTALL: Final = "run `throughline-nb lmstudio install` in a terminal"

LINES: Final = {
    "absent": f"throughLine is not set up on this machine ({{file}} is missing), so {_WENT_ON}: "
    f"{_INSTALL}.",
    "damaged": f"throughLine: {{file}} cannot be read ({{why}}), so {_WENT_ON}: {_INSTALL}, which "
    "writes it anew.",
    "newer": f"throughLine: {{file}} is of a newer version than this plugin, so {_WENT_ON}: "
    f"{_INSTALL}, then restart LM Studio.",
    "unstarted": f"throughLine: {{python}} could not be started ({{why}}), so {_WENT_ON}: "
    f"{_INSTALL}, or correct the interpreter's path in the plugin's settings.",
    "stopped": f"throughLine: the engine stopped ({{why}}), so {_WENT_ON}; what was recorded is "
    "kept, and the next message starts it again. If it stops again, run `throughline-nb doctor` in "
    "a terminal.",
    "resting": f"throughLine: the engine stopped {{times}} times in a row ({{why}}), so "
    f"{_WENT_ON}; it is tried again in {{seconds}} s. Run `throughline-nb doctor` in a terminal, "
    "or turn the plugin off.",
    "late": f"throughLine: no answer within {{seconds}} s, so {_WENT_ON}; what there was to add "
    "comes with the next one.",
    "refused": f"throughLine: {{why}}; {_WENT_ON}.",
    "undone": "Not done: throughLine does not answer ({why}). Go on without it, and tell the user.",
    "odd": "it wrote what is no message of the bridge",
    "hung": "it no longer answered",
    "ended": "it ended with {code}",
    "silent": "no answer within {seconds} s",
}
"""What the plugin says where no engine says it, by name; words in braces are filled in there.
``odd``, ``hung``, ``ended`` and ``silent`` are reasons, which go into the others as ``why``."""


def source() -> str:
    """The text of ``generated.ts``."""
    scopes: dict[str, list[inspect.Field]] = {"chat": [], "global": []}
    described = inspect.type_info(Settings)
    for field in described.fields if isinstance(described, inspect.StructType) else ():
        scopes[_scope(field)].append(field)
    return "".join(
        (
            "// Made by `python -m throughline_nb.hosts.lmstudio.form`; do not edit.\n",
            'import { createConfigSchematics } from "@lmstudio/sdk";\n\n',
            f"export const VERSION = {_js(__version__)};\n",
            f"export const PROTOCOL = {PROTOCOL};\n",
            f"export const RECORD_FORMAT = {FORMAT};\n",
            f"export const TURN_SECONDS = {Settings().turn_seconds:g};\n\n",
            *_form("chat", scopes["chat"]),
            *_form("global", scopes["global"]),
            *_lines(),
        )
    )


def _form(name: str, fields: Iterable[inspect.Field]) -> Iterator[str]:
    fields = list(fields)
    yield f"export const {name}Form = createConfigSchematics()\n"
    for field in fields:
        kind, params = _kind(field)
        shown = ", ".join(f"{key}: {_js(value)}" for key, value in params.items())
        default = _js(msgspec.to_builtins(field.default))
        yield f"  .field({_js(field.name)}, {_js(kind)}, {{ {shown} }}, {default})\n"
    keys = ", ".join(_js(field.name) for field in fields)
    yield f"  .build();\nexport const {name}Keys = [{keys}] as const;\n\n"


def _kind(field: inspect.Field) -> tuple[str, dict[str, Any]]:
    """LM Studio's type of a field, and its parameters."""
    meta = _schema(field)
    params: dict[str, Any] = {"displayName": meta["title"], "subtitle": meta["description"]}
    limits = {
        ours: meta[theirs]
        for ours, theirs in (("min", "minimum"), ("max", "maximum"))
        if theirs in meta
    }
    kind = _bare(field.type)
    if isinstance(kind, inspect.BoolType):
        return "boolean", params
    if isinstance(kind, inspect.IntType):
        return "numeric", {**params, "int": True, **limits}
    if isinstance(kind, inspect.FloatType):
        return "numeric", {**params, **limits}
    if isinstance(kind, inspect.StrType):
        return "string", params
    if isinstance(kind, inspect.VarTupleType) and isinstance(kind.item_type, inspect.StrType):
        return "stringArray", params
    raise TypeError(f"LM Studio's form has no field for {field.name}: {kind}")


def _schema(field: inspect.Field) -> dict[str, Any]:
    definition = msgspec.json.schema(Settings)["$defs"][Settings.__name__]
    return dict(definition["properties"][field.name])


def _bare(kind: inspect.Type) -> inspect.Type:
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    return kind


def _scope(field: inspect.Field) -> str:
    kind, scope = field.type, "chat"
    while isinstance(kind, inspect.Metadata):
        scope = (kind.extra or {}).get("scope", scope)
        kind = kind.type
    return scope


def _lines() -> Iterator[str]:
    yield "export const say = {\n"
    for name, line in LINES.items():
        words = list(dict.fromkeys(re.findall(r"\{(\w+)\}", line)))
        given = f"{{ {', '.join(words)} }}: Record<{' | '.join(map(_js, words))}, string>"
        text = line.replace("\\", "\\\\").replace("`", "\\`").replace("$", "\\$")
        text = re.sub(r"\{(\w+)\}", r"${\1}", text)
        yield f"  {name}: ({given if words else ''}) =>\n    `{text}`,\n"
    yield "};\n"


def _js(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    FILE.write_text(source(), encoding="utf-8", newline="\n")
