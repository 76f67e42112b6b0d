"""What a saved notebook keeps of the panel: the ledger as a page, in an output of its own.

In one output with the widget, a trusted notebook without a kernel would show only that the widget's
model is not there. As two, the style below hides the page while the panel lives, and the message
where it does not. An untrusted notebook drops the style; the page reads well without.
"""

from typing import Any, Final

import ipywidgets as w

from throughline_nb.hosts.notebook.ledger_view import LedgerView
from throughline_nb.hosts.notebook.style import CSS, JSON

WIDGET: Final = "application/vnd.jupyter.widget-view+json"

_LIVE: Final = ".tl-panel:not(.jupyter-widgets-disconnected)"
_CHILD: Final = ".jp-OutputArea-child"
_HIDE: Final = (
    f"{_CHILD}:has({_LIVE}) + {_CHILD}:has(.tl-saved){{display:none}}"
    f"{_CHILD}:not(:has({_LIVE})):has(+ {_CHILD} .tl-saved){{display:none}}"
)
_NOTE: Final = (
    "A saved view. Run this cell for the panel, or <code>%tl status</code> for where it stands."
)
_NONE: Final = "No project is open in this notebook; %tl start <goal> starts one."


class _Bundle:
    """Something to display whose data are known."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        return self._data


class Saved:
    """The page of one panel; it follows the panel, so that what is saved is what was seen."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._version = ""

    def show(self, view: LedgerView | None) -> None:
        """Display it."""
        from IPython.display import display  # noqa: PLC0415 - it runs in IPython

        self._version = view.version if view is not None else ""
        self._handle = display(_page(view), display_id=True)  # type: ignore[no-untyped-call]

    def update(self, view: LedgerView | None) -> None:
        """Show another version."""
        version = view.version if view is not None else ""
        if self._handle is not None and version != self._version:
            self._version = version
            self._handle.update(_page(view))


def live(widget: w.Widget, name: str) -> _Bundle:
    """The widget, to be displayed; it is no output that a finding could cite."""
    made: dict[str, Any] = widget._repr_mimebundle_()
    about = f"throughLine panel of {name}" if name else "throughLine panel"
    return _Bundle({WIDGET: made[WIDGET], "text/plain": about, JSON: {"panel": name}})


def _page(view: LedgerView | None) -> _Bundle:
    if view is None:
        inside, plain, markdown = f"<p>{_NONE.replace('<', '&lt;')}</p>", _NONE, _NONE
    else:
        shown = view.shown(_NOTE)
        inside, plain, markdown = shown.inside, shown.plain, shown.markdown
    html = f'<div class="tl tl-saved"><style>{CSS}{_HIDE}</style>{inside}</div>'
    version = view.version if view is not None else ""
    data = {"panel": "saved", "version": version}
    return _Bundle({"text/html": html, "text/markdown": markdown, "text/plain": plain, JSON: data})
