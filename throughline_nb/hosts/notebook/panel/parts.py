"""The widgets that the panel is made of, with one layout and one style of each kind for all.

A layout and a style of its own for each row would make a long ledger slow: they are models that
travel to the browser one by one.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from threading import Event, Thread, Timer
from typing import Any, Final
from weakref import WeakSet

import ipywidgets as w

from throughline_nb.hosts.notebook.panel.words import readable

FOCUS_SECONDS: Final = 0.15
"""How long a new field has to be there before it can have the focus."""

SETTLED_SECONDS: Final = 0.5
"""A browser holds a letter back until the one before it was taken in, but sends a click at once: so
for so long after a letter, what a button asks for waits for the rest of what was typed, or until
the browser gave back a number, which it does after all that it held back."""

Act = Callable[[], object]


class Parts:
    """Makes widgets.

    Args:
        doing: Carries out what a button or field asks for, and tells of what fails.
    """

    def __init__(self, doing: Callable[[Act], None]) -> None:
        self._doing = doing
        self._layout = w.Layout()
        self._styles: dict[type, Any] = {
            kind: kind()
            for kind in (w.widget_button.ButtonStyle, w.widget_string.HTMLStyle,
                         w.widget_string.TextStyle, w.widget_bool.CheckboxStyle,
                         w.widget_selection.ToggleButtonsStyle,
                         w.widget_description.DescriptionStyle)
        }  # fmt: skip
        self._made: WeakSet[w.Widget] = WeakSet([self._layout, *self._styles.values()])
        self._typed = -SETTLED_SECONDS
        self._waiting: list[Thread] = []
        common = self._common(w.widget_description.DescriptionStyle, ())
        self._asked, self._given = w.IntText(**common), w.IntText(**common)
        self._echo = w.jsdlink((self._asked, "value"), (self._given, "value"))
        self._echoed = Event()
        self._given.observe(lambda change: self._heard_back(change["new"]), "value")
        self._made |= {self._asked, self._given, self._echo}

    def html(self, value: str = "", *classes: str) -> w.HTML:
        """Something to read."""
        return self._kept(w.HTML(value, **self._common(w.widget_string.HTMLStyle, classes)))

    def button(
        self, text: str, act: Act, *classes: str, tip: str = "", disabled: bool = False
    ) -> w.Button:
        """A button; its text is its name."""
        made = w.Button(
            description=text,
            tooltip=tip or None,
            disabled=disabled,
            **self._common(w.widget_button.ButtonStyle, classes),
        )
        made.on_click(lambda _: self._clicked(act))
        return self._kept(made)

    def field(self, label: str, value: str = "", *, lines: int = 1, hint: str = "") -> w.Text:
        """A field for text; of several lines where ``lines`` says so."""
        common = self._common(w.widget_string.TextStyle, ("tl-field",))
        if lines > 1:
            made = w.Textarea(value, description=label, placeholder=hint, rows=lines, **common)
        else:
            made = w.Text(value, description=label, placeholder=hint, **common)
        made.observe(self._heard, "value")
        return self._kept(made)

    def choice(
        self, label: str, options: Sequence[Any], value: Any, *classes: str
    ) -> w.ToggleButtons:
        """A choice of a few, as buttons: the keys of a list would reach JupyterLab."""
        common = self._common(w.widget_selection.ToggleButtonsStyle, ("tl-choice", *classes))
        return self._kept(
            w.ToggleButtons(options=options, value=value, description=label, **common)
        )

    def combobox(self, label: str, options: Sequence[str], hint: str = "") -> w.Combobox:
        """A field that offers words to choose from."""
        common = self._common(w.widget_string.TextStyle, ("tl-field",))
        return self._kept(
            w.Combobox(
                options=options,
                description=label,
                placeholder=hint,
                continuous_update=False,
                **common,
            )
        )

    def select(self, label: str, options: Sequence[Any], rows: int) -> w.Select:
        """A list to pick from; buttons beside it must do the same."""
        common = self._common(w.widget_description.DescriptionStyle, ("tl-select",))
        return self._kept(w.Select(options=options, description=label, rows=rows, **common))

    def checkbox(self, label: str, value: bool) -> w.Checkbox:
        """A box to tick."""
        common = self._common(w.widget_bool.CheckboxStyle, ())
        return self._kept(w.Checkbox(value, description=label, indent=False, **common))

    def box(self, children: Iterable[w.Widget] = (), *classes: str) -> w.VBox:
        """Widgets below one another, unless a class says otherwise."""
        return self._kept(w.VBox(tuple(children), layout=self._layout, _dom_classes=classes))

    def row(self, children: Iterable[w.Widget] = (), *classes: str) -> w.HBox:
        """Widgets beside one another."""
        return self._kept(w.HBox(tuple(children), layout=self._layout, _dom_classes=classes))

    def on_change(self, field: w.Widget, act: Callable[[Any], object]) -> None:
        """Do something when a person changes a value."""
        field.observe(lambda change: self._doing(lambda: act(change["new"])), "value")

    def close(self) -> None:
        """Close all that was made, shown or not; what was clicked is still done before."""
        for each in self._waiting:
            each.join(timeout=5)
        for each in list(self._made):
            each.close()

    def _heard(self, change: Any) -> None:
        if change["owner"]._property_lock:  # noqa: SLF001 - set while a change of the browser's is taken in
            self._typed = time.monotonic()

    def _clicked(self, act: Act) -> None:
        if self._left() <= 0:
            self._doing(act)
        else:  # in a thread: the kernel has to take in what is still to come
            self._echoed.clear()
            self._asked.value += 1
            later = Thread(target=self._after_typing, args=(act,), daemon=True)
            self._waiting = [*filter(Thread.is_alive, self._waiting), later]
            later.start()

    def _after_typing(self, act: Act) -> None:
        while (left := self._left()) > 0 and not self._echoed.wait(left):
            pass  # more was typed meanwhile
        self._doing(act)

    def _heard_back(self, number: int) -> None:
        if number == self._asked.value:
            self._echoed.set()

    def _left(self) -> float:
        return self._typed + SETTLED_SECONDS - time.monotonic()

    def _kept(self, made: w.Widget) -> w.Widget:
        self._made.add(made)
        return made

    def _common(self, style: type, classes: Sequence[str]) -> dict[str, Any]:
        return {"layout": self._layout, "style": self._styles[style], "_dom_classes": classes}


def put(box: w.Box, children: Iterable[w.Widget]) -> None:
    """Set what a box holds, where it differs."""
    wanted = tuple(children)
    if box.children != wanted:
        box.children = wanted


def swap(box: w.Box, children: Iterable[w.Widget]) -> None:
    """As :func:`put`; what is no longer held is not shown again, and is closed."""
    former, wanted = box.children, tuple(children)
    put(box, wanted)
    for each in former:
        if each not in wanted:
            close_all(each)


def say(html: w.HTML, value: str) -> None:
    """Set what stands there, where it differs."""
    if html.value != value:
        html.value = value


def focus(field: w.Widget) -> None:
    """Move the focus to a field as soon as it is there."""
    later = Timer(FOCUS_SECONDS, field.focus)
    later.daemon = True
    later.start()


def close_all(widget: w.Widget) -> None:
    """Close a widget and all that it holds."""
    for child in getattr(widget, "children", ()):
        close_all(child)
    widget.close()


def label_of(name: str, kind: str) -> str:
    """The label of a field of an entry of a kind."""
    return readable(kind if name == "text" else name)
