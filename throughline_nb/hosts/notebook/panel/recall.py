"""Search as you type over what was said in the chats of the project."""

import re
import time
from functools import partial
from html import escape
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

import ipywidgets as w

from throughline_nb.chat import ChatKey
from throughline_nb.engine.recalling import in_full
from throughline_nb.engine.registry import COMMANDS, UsageError
from throughline_nb.hosts.notebook.panel.parts import say, swap
from throughline_nb.hosts.notebook.panel.words import count
from throughline_nb.ledger.delta import clip

if TYPE_CHECKING:
    from throughline_nb.hosts.notebook.panel.pages import Shown
    from throughline_nb.hosts.notebook.panel.shell import Panel
    from throughline_nb.store.recall.packing import Passage

EVERY: Final = "all"
MOST: Final = 12
"""Passages that are shown."""

BUTTONS: Final = 4
"""Chats up to which each is a button; more are a field to choose in."""


class RecallPage:
    """A field to search in, and the passages that answer.

    Args:
        panel: The panel.
    """

    def __init__(self, panel: "Panel") -> None:
        parts = panel.parts
        self.panel = panel
        self._chats: tuple[ChatKey, ...] | None = None
        self.query = parts.field("Search what was said", hint=_help())
        parts.on_change(self.query, lambda _: self._search())
        self._where = parts.box((), "tl-where")
        self.where: w.Widget | None = None
        self._found = parts.html()
        self._list = parts.box((), "tl-passages")
        self._turn = parts.box()
        asked = parts.row((self.query, self._where), "tl-asked")
        self.widget = parts.box((asked, self._found, self._turn, self._list), "tl-page")

    def update(self, _shown: "Shown") -> None:
        """Offer the chats that there are now."""
        recalls = self.panel.engine.recalls
        chats = tuple(key for key in self.panel.p.chats() if recalls.holds(key))
        if chats == self._chats:
            return
        self._chats = chats
        self.where = self._choice(chats)
        swap(self._where, [self.where] if self.where is not None else [])
        self._search()

    # --- inside ------------------------------------------------------------------------------

    def _choice(self, chats: tuple[ChatKey, ...]) -> w.Widget | None:
        if len(chats) < 2:
            return None
        parts = self.panel.parts
        every = f"All {count(len(chats), 'chat')}"
        if len(chats) <= BUTTONS:
            options = [(every, EVERY), *((clip(self._name(key), 28), str(key)) for key in chats)]
            made: w.Widget = parts.choice("In", options, EVERY)
        else:
            made = parts.combobox("In", [str(key) for key in chats], hint=every)
        parts.on_change(made, lambda _: self._search())
        return made

    def _name(self, key: ChatKey) -> str:
        return "This chat" if key == self.panel.key else str(key)

    def _wanted(self) -> list[ChatKey]:
        value = str(self.where.value) if self.where is not None else EVERY
        chosen = [key for key in self._chats or () if str(key) == value]
        return chosen or list(self._chats or ())

    def _search(self) -> None:
        swap(self._turn, ())
        words = self.query.value.strip()
        if not self._chats:
            nothing = "Recall holds no chat of this project yet; it copies long ones."
            say(self._found, f'<p class="tl-empty">{nothing}</p>')
            swap(self._list, ())
            return
        if not words:
            say(self._found, "")
            swap(self._list, ())
            return
        lists: list[list[tuple[ChatKey, Passage]]] = []
        waiting = ""
        for key in self._wanted():
            try:
                answer = self.panel.engine.recalls.of(key).search(words)
            except UsageError as error:
                waiting = str(error)
            else:
                lists.append([(key, each) for each in answer])
        # Scores compare within one chat only, so that the best of each come first.
        found = [pair for rank in zip_longest(*lists) for pair in rank if pair is not None]
        many = len(self._wanted())
        told = f"{count(len(found), 'passage')} in {count(many, 'chat')}, best first"
        nothing = waiting or f"Nothing in {count(many, 'chat')} answers “{escape(words)}”."
        say(self._found, f"<p><small>{told if found else nothing}</small></p>")
        offered: set[tuple[ChatKey, int]] = set()
        rows = []
        for key, each in found[:MOST]:
            rows.append(self._passage(key, each, words, first=(key, each.turn) not in offered))
            offered.add((key, each.turn))
        swap(self._list, rows)

    def _passage(self, key: ChatKey, passage: "Passage", words: str, *, first: bool) -> w.Box:
        """A passage; the first of its turn has the button that opens the turn."""
        parts, turn = self.panel.parts, passage.turn
        where = f" of {self._name(key)}" if len(self._chats or ()) > 1 else ""
        speaker = {"user": "you", "assistant": "model"}.get(passage.role, passage.role)
        said = " ".join(filter(None, [_when(passage), speaker, passage.tool]))
        text = parts.html(
            f'<div class="tl-text"><b>turn {turn}</b> <small>{escape(said + where)}</small>'
            f"<p>{_lit(passage.text, words)}</p></div>"
        )
        act = partial(self._open, key, turn, 1)
        button = [parts.button(f"Open turn {turn}{where}", act, "tl-quiet")] if first else []
        return parts.row((text, *button), "tl-row", "tl-passage")

    def _open(self, key: ChatKey, turn: int, page: int) -> None:
        parts = self.panel.parts
        lines = in_full(self.panel.engine.recalls.of(key), turn, page)
        more = lines[-1].startswith(f"Page {page} of ")
        text = escape("\n".join(lines[:-1] if more else lines))
        buttons = [parts.button(f"Close turn {turn}", lambda: swap(self._turn, ()))]
        if more:
            act = partial(self._open, key, turn, page + 1)
            buttons.insert(0, parts.button(f"Page {page + 1} of turn {turn}", act))
        head = f"<h3>Turn {turn} <small>{escape(str(key))}, page {page}</small></h3>"
        swap(self._turn, [
            parts.box((parts.html(f"{head}<pre>{text}</pre>"), parts.row(buttons, "tl-actions")),
                      "tl-editor"),
        ])  # fmt: skip
        self.panel.focus(buttons[0])


def _help() -> str:
    return next(param.help for param in COMMANDS.get("recall").params)


def _when(passage: "Passage") -> str:
    if passage.time is None:
        return ""
    at = time.strftime("%a %H:%M", time.localtime(passage.time))
    return f"before {at}" if passage.before else at


def _lit(text: str, words: str) -> str:
    """HTML of a passage with the words that were looked for marked."""
    wanted = [re.escape(escape(word)) for word in re.findall(r"\w{2,}", words)]
    shown = escape(clip(" ".join(text.split()), 600))
    if not wanted:
        return shown
    return re.sub(rf"(?i)\b({'|'.join(wanted)})\w*", r"<mark>\g<0></mark>", shown)
