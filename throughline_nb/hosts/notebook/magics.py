"""The extension: ``%tl``, ``%%tl``, ``/tl`` on a cell's first line, completion, and their removal.

Loading reads no project and runs no git: the line that it prints takes a look at the notebook's own
state. Everything else is imported when it is first used.
"""

import re
from typing import Any, Final
from weakref import WeakKeyDictionary

import msgspec
from IPython.core.completer import (
    CompletionContext,
    MatcherAPIv2,
    SimpleMatcherResult,
    context_matcher,
)
from IPython.core.magic import no_var_expand

from throughline_nb.hosts.notebook import outputs, place

MAGIC: Final = "tl"
_FIRST: Final = re.compile(r"[/%]tl(?=\s|$)[^\S\n]*(?P<line>.*?)[^\S\n]*$")


class _Extension(msgspec.Struct, frozen=True):
    """What was registered in one shell."""

    transformer: Any
    matcher: Any


_loaded: "WeakKeyDictionary[Any, _Extension]" = WeakKeyDictionary()


def load(shell: Any) -> None:
    """Register everything in a shell, once, and say what to type next."""
    unload(shell)
    shell.register_magic_function(tl, "line_cell", MAGIC)
    extension = _Extension(first_line, _matcher())
    shell.input_transformers_cleanup.append(extension.transformer)
    shell.Completer.custom_matchers.append(extension.matcher)
    outputs.watch(shell)
    _loaded[shell] = extension
    print(greeting())  # noqa: T201 - as the design has it: a line below the cell


def unload(shell: Any) -> None:
    """Take away what was registered."""
    outputs.unwatch(shell)
    extension = _loaded.pop(shell, None)
    if extension is None:
        return
    shell.input_transformers_cleanup.remove(extension.transformer)
    shell.Completer.custom_matchers.remove(extension.matcher)
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop(MAGIC, None)


def greeting() -> str:
    """One line that says what to type next."""
    try:
        bound = place.bound_name()
    except Exception:  # noqa: BLE001 - a line of greeting is no reason to fail
        bound = ""
    if bound:
        return (
            f"throughLine is ready; this notebook works on {bound}. Type %tl status, or %tl help."
        )
    return "throughLine is ready. Type %tl start <goal>, or %tl open <name>; %tl list shows all."


@no_var_expand
def tl(line: str, cell: str | None = None) -> None:
    """A throughLine command, such as ``%tl status``; ``%tl help`` lists them.

    A longer text stands below ``%%tl goal``. Only a mistake is an error, and it fails the cell.
    """
    from throughline_nb.hosts.notebook.commands import typed  # noqa: PLC0415 - see the module
    from throughline_nb.hosts.notebook.display import show  # noqa: PLC0415

    show(typed(line if cell is None else f"{line} {cell}"))


def first_line(lines: list[str]) -> list[str]:
    """Take ``/tl …`` on a cell's first line that is not blank for the command that it is.

    IPython would read it as a call. ``%tl …`` there is taken whole too, since a question mark at
    its end would be read as a wish for help.
    """
    for at, line in enumerate(lines):
        if not line.strip():
            continue
        found = _FIRST.match(line.rstrip("\n"))
        if found is None:
            return lines
        call = f"get_ipython().run_line_magic({MAGIC!r}, {found['line']!r})\n"
        return [*lines[:at], call, *lines[at + 1 :]]
    return lines


def _matcher() -> MatcherAPIv2:
    @context_matcher()  # type: ignore[untyped-decorator]
    def throughline_matcher(context: CompletionContext) -> SimpleMatcherResult:
        """Complete commands, projects, ids, versions and allowed words."""
        from throughline_nb.hosts.notebook.completion import completions  # noqa: PLC0415

        return completions(context.full_text, context.cursor_line, context.cursor_position)

    matcher: MatcherAPIv2 = throughline_matcher
    return matcher
