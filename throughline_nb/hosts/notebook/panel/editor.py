"""The editor of an entry, or of the goal: a form on the version that stood when it was opened.

What others change meanwhile is shown above the fields, and never put into them unasked. On saving,
the fields that were changed are merged with what stands then.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import ipywidgets as w

from throughline_nb.errors import RefusedError
from throughline_nb.hosts.notebook.ledger_view import state_of, trouble_of
from throughline_nb.hosts.notebook.panel.parts import focus, say
from throughline_nb.hosts.notebook.panel.targets import GOAL, Target, Values
from throughline_nb.hosts.notebook.panel.words import hint, marked, readable, turn_of, verb
from throughline_nb.hosts.notebook.style import SHAPES
from throughline_nb.ledger import Ledger, edits
from throughline_nb.ledger.edits import By, Edited
from throughline_nb.ledger.model import STATUSES, is_id
from throughline_nb.ledger.rebase import rebased
from throughline_nb.store.gitrun import merge_text

if TYPE_CHECKING:
    from throughline_nb.hosts.notebook.panel.pages import Shown
    from throughline_nb.hosts.notebook.panel.shell import Panel

VIA: Final = "Command: panel"


class Editor:
    """An open editor.

    Args:
        panel: The panel.
        target: What it edits.
        shown: The version that it is opened on.
        close: Called when it is done with.
    """

    def __init__(
        self, panel: "Panel", target: Target, shown: "Shown", close: Callable[[], None]
    ) -> None:
        parts = panel.parts
        self.panel = panel
        self.target = target
        self._close = close
        self._base = shown.ledger
        self._seen = target.read(shown.ledger)
        self._shown = shown
        self.fields = {name: self._field(name, value) for name, value in self._values.items()}
        self._head = parts.html(self._headline())
        self._changed = parts.html()
        self.theirs = parts.button("Use theirs", self._use_theirs)
        self.mine = parts.button("Keep mine", self._keep_mine)
        self._notice = parts.row((), "tl-notice", "tl-hidden")
        self._notice.children = (self._changed, self.theirs, self.mine)
        self._trouble = parts.html(self._warnings())
        self.save = parts.button(f"Save {target.name}", self._save, "tl-primary")
        self.cancel = parts.button(f"Cancel {target.name}", close)
        self.widget = parts.box(
            (
                self._head,
                self._notice,
                *self.fields.values(),
                self._trouble,
                parts.row((self.save, self.cancel, *self._more()), "tl-actions"),
            ),
            "tl-editor",
        )
        focus(next(iter(self.fields.values())))

    @property
    def changed(self) -> Values:
        """The fields that differ from the version that it was opened on."""
        was = self.target.read(self._base) or {}
        now = {name: str(field.value or "") for name, field in self.fields.items()}
        return {name: value for name, value in now.items() if value != was.get(name, "")}

    def follow(self, shown: "Shown") -> None:
        """Tell of a change that was made elsewhere; the fields stay as they are."""
        self._shown = shown
        current = self.target.read(shown.ledger)
        if current != self._seen:
            self._tell(current)

    # --- inside ------------------------------------------------------------------------------

    @property
    def _values(self) -> Values:
        return self._seen or {}

    def _field(self, name: str, value: str) -> w.Widget:
        label = self.target.label(name)
        if name == "status":
            return self.panel.parts.choice(label, STATUSES, value or STATUSES[0])
        lines = max(2, min(8, len(value) // 70 + 1)) if name in ("text", GOAL) else 1
        tool = "ledger_plan" if self.target.name.startswith("S") else "ledger_record"
        return self.panel.parts.field(label, value, lines=lines, hint=hint(tool, name))

    def _headline(self) -> str:
        entry = self._base.get(self.target.name)
        if entry is None:
            return f"<small>{readable(self.target.name)}</small>"
        state = state_of(entry)
        chip = f"<em class='tl-{state.replace(' ', '-')}'>{SHAPES.get(state, '')} {state}</em>"
        said = [f"added by {entry.by}" if entry.by else "", turn_of(entry), entry.added[:10]]
        return (
            f"<code>{entry.id}</code> {chip if state else ''} "
            f"<small>{', '.join(filter(None, said))}</small>"
        )

    def _warnings(self) -> str:
        ident = self.target.name
        entry = self._base.get(ident)
        said = []
        if entry is not None and (trouble := trouble_of(entry)):
            said.append(f'<p class="tl-warning">{trouble}.</p>')
        resting = [d.id for d in self._base.decisions if ident in d.rests_on]
        if resting:
            verbs = "rests" if len(resting) == 1 else "rest"
            them = "it" if len(resting) == 1 else "them"
            said.append(
                f'<p class="tl-notice">{", ".join(resting)} {verbs} on {ident}: a changed text '
                f"marks {them} suspect until you confirm {them}.</p>"
            )
        return "".join(said)

    def _more(self) -> list[w.Widget]:
        """What else can be done with an entry; what removes it stands far right."""
        parts, ident = self.panel.parts, self.target.name
        if not is_id(ident):
            return []
        more = []
        if ident.startswith("S"):
            more += [
                parts.button(f"Move {ident} up", lambda: self._move(-1)),
                parts.button(f"Move {ident} down", lambda: self._move(1)),
            ]
        entry = self._base.get(ident)
        if entry is not None and entry.suspect:
            more.append(parts.button(verb("accept", ident), lambda: self._settled("accept")))
        if entry is not None and entry.kind == "finding" and not entry.retracted:
            more.append(parts.button(f"Retract {ident}", self._retract))
        more.append(parts.button(f"Remove {ident}", self._remove, "tl-remove"))
        return more

    def _tell(self, current: Values | None) -> None:
        was = self._seen or {}
        ident = self.target.name
        record = self._shown.latest
        by_model = record.actor == "model" and ident.lower() in record.subject.lower()
        who = f"The model changed {ident}" if by_model else f"{readable(ident)} was changed"
        turn = f", turn {record.turn}" if by_model and record.turn else ""
        if current is None:
            said = [f"<b>{ident} was removed while you were typing</b>"]
        else:
            said = [f"<b>{who} while you were typing</b>{turn}"]
            said += [
                f"{self.target.label(name)}: {marked(was.get(name, ''), value)}"
                for name, value in current.items()
                if value != was.get(name, "")
            ]
        say(self._changed, f'<div role="status">{"<br>".join(said)}</div>')
        self._notice.remove_class("tl-hidden")

    def _use_theirs(self) -> None:
        now = self._shown.ledger
        current, was = self.target.read(now), self.target.read(self._base) or {}
        if current is None:
            self._close()
            return
        for name, value in current.items():
            if value != was.get(name, ""):
                self.fields[name].value = value
        self._base, self._seen = now, current
        self._notice.add_class("tl-hidden")

    def _keep_mine(self) -> None:
        self._seen = self.target.read(self._shown.ledger)
        self._notice.add_class("tl-hidden")

    def _save(self) -> None:
        values = self.changed
        if not values:
            self._close()
            return
        notices: list[str] = []

        def edit(now: Ledger, by: By) -> Edited:
            current = self.target.read(now)
            if current == self.target.read(self._base):
                return self.target.write(now, by, self._given(values))
            done = rebased(
                self._base,
                now,
                lambda base: self.target.write(base, by, self._given(values)),
                merge_text,
            )
            if done.notices and current != self._seen:  # both changed one thing, and it is news
                raise RefusedError(f"{done.notices[0]} Nothing is saved yet: choose above.")
            notices[:] = done.notices if current != self._seen else ()
            return done.edited

        self.panel.told(self.panel.p.change(VIA, edit), *notices)
        self._close()

    def _given(self, values: Values) -> Values:
        if "source" not in values:
            return values
        return {**values, "source": self.panel.p.source_of(values["source"])}

    def _move(self, by: int) -> None:
        plan = [step.id for step in self._shown.ledger.plan]
        at = plan.index(self.target.name) if self.target.name in plan else -1
        to = at + by
        if at < 0 or not 0 <= to < len(plan):
            self.panel.tell(f"{self.target.name} cannot go further.")
            return
        plan.remove(self.target.name)
        behind = plan[to - 1] if to else ""
        self.panel.told(self.panel.p.move(self.target.name, behind))

    def _settled(self, command: str) -> None:
        self.panel.carry_out(command, self.target.name)
        self._close()

    def _retract(self) -> None:
        reason = str(self.fields["reason"].value)
        self._unless_changed(lambda ledger, by: edits.retract(ledger, self.target.name, by, reason))

    def _remove(self) -> None:
        self._unless_changed(lambda ledger, by: edits.remove(ledger, self.target.name, by))

    def _unless_changed(self, edit: Callable[[Ledger, By], Edited]) -> None:
        """Do what takes an entry away, unless it is no longer what the person saw."""

        def checked(now: Ledger, by: By) -> Edited:
            if self.target.read(now) != self._seen:
                raise RefusedError(
                    f"{self.target.name} was changed meanwhile; nothing was done: look at it, and "
                    "say it again."
                )
            return edit(now, by)

        self.panel.told(self.panel.p.change(VIA, checked))
        self._close()
