"""The first page: goal, constraints, plan, findings, decisions, questions, proposals."""

from typing import TYPE_CHECKING, Final

from throughline_nb.hosts.notebook.display import inline
from throughline_nb.hosts.notebook.panel.editor import Editor
from throughline_nb.hosts.notebook.panel.parts import focus, put, say, swap
from throughline_nb.hosts.notebook.panel.rows import QuestionRow
from throughline_nb.hosts.notebook.panel.section import Section
from throughline_nb.hosts.notebook.panel.targets import GOAL, OfGoal
from throughline_nb.hosts.notebook.panel.words import readable
from throughline_nb.ledger.model import BY_LETTER, Attr

if TYPE_CHECKING:
    from throughline_nb.hosts.notebook.panel.pages import Shown
    from throughline_nb.hosts.notebook.panel.shell import Panel

MAIN: Final[tuple[Attr, ...]] = ("proposals", "plan", "findings")
SIDE: Final[tuple[Attr, ...]] = ("questions", "decisions", "constraints")


class LedgerPage:
    """The ledger, every entry of which can be edited in place.

    Args:
        panel: The panel.
    """

    def __init__(self, panel: "Panel") -> None:
        self.sections = {attr: Section(panel, attr) for attr in (*MAIN, *SIDE)}
        self.goal = GoalSection(panel)
        main = [self.sections[attr].widget for attr in MAIN]
        main.insert(1, self.goal.widget)
        side = [self.sections[attr].widget for attr in SIDE]
        parts = panel.parts
        self.widget = parts.row((parts.box(main, "tl-main"), parts.box(side, "tl-side")), "tl-body")

    def update(self, shown: "Shown") -> None:
        """Show this version; what is being typed is left alone."""
        self.goal.update(shown)
        for section in self.sections.values():
            section.update(shown)

    def edit(self, ident: str) -> None:
        """Open the editor of an entry, or of the goal."""
        if ident == GOAL:
            self.goal.edit()
            return
        self.sections[BY_LETTER[ident[0]].attr].edit(ident)

    def answer(self, ident: str) -> None:
        """Move the focus to the answer of a question."""
        row = self.sections["questions"].rows.get(ident)
        if isinstance(row, QuestionRow) and row.answer is not None:
            focus(row.answer)
        else:
            self.edit(ident)


class GoalSection:
    """The goal, with its editor.

    Args:
        panel: The panel.
    """

    def __init__(self, panel: "Panel") -> None:
        parts = panel.parts
        self.panel = panel
        self.editor: Editor | None = None
        self._text = parts.html()
        self.button = parts.button(f"Edit {GOAL}", self.edit, "tl-quiet")
        self._slot = parts.box()
        head = parts.row((parts.html(f"<h3>{readable(GOAL)}</h3>"), self.button), "tl-head")
        self.widget = parts.box((head, self._text, self._slot), "tl-section", "tl-goal")

    def update(self, shown: "Shown") -> None:
        """Show the goal as it is now."""
        self._shown = shown
        goal = inline(shown.ledger.goal)
        nothing = "No goal yet. One paragraph: what must this project produce?"
        said = f'<p class="tl-said">{goal}</p>' if goal else f'<p class="tl-empty">{nothing}</p>'
        say(self._text, "" if self.editor is not None else said)
        name = f"Edit {GOAL}" if goal else f"Write the {GOAL}"
        if self.button.description != name:
            self.button.description = name
        if self.editor is not None:
            self.editor.follow(shown)

    def edit(self) -> None:
        """Open the editor."""
        self.editor = Editor(self.panel, OfGoal(), self._shown, self.close)
        put(self._slot, [self.editor.widget])
        self.update(self._shown)

    def close(self) -> None:
        """Close the editor."""
        self.editor = None
        swap(self._slot, ())
        self.update(self._shown)
        self.panel.focus(self.button)
