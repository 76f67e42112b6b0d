"""Projects for code: ``import throughline_nb as tl; p = tl.open("llm-runtimes")``.

Calls act as the user; what :meth:`OpenProject.tools` gives acts as the model. The operations and
their help come from the registry, so that ``p.goal``, ``p.record`` or ``p.undo`` take what the
command or tool of that name takes. It works in a script too, which is no chat.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from throughline_nb.chat import ChatKey
from throughline_nb.engine import views
from throughline_nb.engine.operations import COMMANDS, TOOLS
from throughline_nb.engine.recalling import across
from throughline_nb.engine.registry import Operation, UsageError
from throughline_nb.engine.run import Reply, Run
from throughline_nb.errors import NotFoundError, ThroughLineError
from throughline_nb.hosts.notebook.binding import Here, here, plain_errors
from throughline_nb.hosts.notebook.callables import Tools, by_name, docstring, signature, tool
from throughline_nb.hosts.notebook.display import Shown, fenced, marks, of_reply
from throughline_nb.hosts.notebook.ledger_view import LedgerView, fields_of
from throughline_nb.hosts.notebook.outputs import cell_source
from throughline_nb.ledger import amend, edits
from throughline_nb.ledger.delta import stated
from throughline_nb.ledger.edits import By, Edited
from throughline_nb.ledger.model import BY_ATTR, Ledger
from throughline_nb.store.project import Project
from throughline_nb.store.records import Record

if TYPE_CHECKING:
    import pandas as pd

    from throughline_nb.hosts.notebook.panel.shell import Panel

PREFIX: Final = "ledger_"
"""What the names of the model's ledger tools begin with; ``p.record`` is ``ledger_record``."""


class History(tuple[Record, ...]):
    """Changes, newest first; it shows itself by days."""

    __slots__ = ()

    def __repr__(self) -> str:
        return views.log(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        data = {"history": [{"version": r.version, "subject": r.subject} for r in self]}
        return Shown(repr(self), data=data)._repr_mimebundle_(include, exclude)


class OpenProject:
    """One project; made by :func:`open`, :func:`start` and :func:`projects`.

    Args:
        name: Its name.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<throughLine project {self.name}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return self.ledger.card()._repr_mimebundle_(include, exclude)

    # --- looking -----------------------------------------------------------------------------

    @property
    def ledger(self) -> LedgerView:
        """The ledger as it stands, an edit of ``ledger.md`` merged."""

        def work(run: Run) -> str:
            run.absorb()
            return ""

        self.do("", work)
        now = self.store.read()
        health = here().engine.health(self.store, now.ledger)
        return LedgerView(now.ledger, now.version, health)

    def history(self, n: int | None = None) -> History:
        """The latest changes, newest first.

        Args:
            n: How many; all when left out.
        """
        with plain_errors():
            return History(self.store.history(n))

    def at(self, version: str) -> LedgerView:
        """The ledger as it was in a version.

        Args:
            version: Its name as :meth:`history` has it, such as ``42-7c1e``, or its number.
        """
        with plain_errors():
            then = self.store.at(str(version))
            record = next((r for r in self.store.history() if r.commit == then.commit), None)
            return LedgerView(then.ledger, then.version, when=record.time if record else None)

    def diff(self, a: str = "", b: str = "") -> Shown:
        """What changed between two versions, entry by entry, with words marked.

        Args:
            a: The earlier one; the one before the last change when left out.
            b: The later one; the one that stands when left out.
        """
        with plain_errors():
            records = self.store.history(2)
            then = self.store.at(str(a) or records[-1].version)
            now = self.store.at(str(b)) if b else self.store.read()
            text = views.diff(then.ledger, now.ledger) or "Nothing differs."
            head = f"Changes from {then.version} to {now.version}."
            return Shown(
                f"{head}\n\n{text}",
                f"{head}\n\n{fenced(text)}",
                f"<p>{head}</p><pre>{marks(text)}</pre>",
                {"from": then.version, "to": now.version},
            )

    def recall(self, query: str, chats: Iterable[ChatKey | str] = ()) -> Shown:
        """Search what was said in the chats of this project.

        Args:
            query: Words to look for.
            chats: Those to search, of :meth:`chats`; all when left out.
        """
        keys = [ChatKey.parse(str(chat)) for chat in chats]
        return self._shown("", lambda run: across(run, query, keys))

    def chats(self) -> tuple[ChatKey, ...]:
        """The chats and notebooks that are bound to this project."""
        return tuple(here().engine.chats.bound(self.name))

    def cell(self, ident: str) -> Shown:
        """What the cell gave that a finding cites: when it was verified, and a later other output.

        Args:
            ident: Id of the finding.
        """
        with plain_errors():
            this = here()
            entry = edits.find(self.store.read().ledger, ident, "finding")
            kept = this.engine.cells.of(this.key, entry) if this.key is not None else None
            if kept is None:
                raise NotFoundError(
                    f"No output of a cell is kept here for {entry.id}; its source is "
                    f"{entry.source or 'not given'}."
                )
            parts = [f"{entry.id}, verified by this output:", kept.ran.text]
            if kept.now is not None:
                parts += ["", "Run again, it gave:", kept.now.text]
            return Shown("\n".join(parts))

    def to_frame(self, section: str = "findings") -> "pd.DataFrame":
        """One section of the ledger as a pandas frame, a row an entry.

        Args:
            section: ``findings``, ``plan``, ``decisions``, ``questions``, ``constraints`` or
                ``proposals``.
        """
        with plain_errors():
            if section not in BY_ATTR:
                raise UsageError(f"section: {section!r} is not one of {', '.join(BY_ATTR)}.")
            try:
                import pandas  # noqa: PLC0415, ICN001 - only where it is installed
            except ImportError:
                raise ThroughLineError(
                    "to_frame needs pandas, which is not installed; p.ledger has the same entries."
                ) from None
            names = fields_of(BY_ATTR[section])
            entries = self.ledger.list(section)
            rows = [[getattr(entry, name) for name in names] for entry in entries]
            return pandas.DataFrame(rows, columns=list(names.values()))

    def tools(self) -> Tools:
        """The model's tools for this project, as functions and as JSON Schemas.

        They act as the model: it can propose a goal or constraint, not set one.
        """
        offered = here().engine.tools(here().key) if self._is_own else ()
        return Tools(
            tool(each, self._as_model)
            for each in TOOLS
            if each.needs == "project" or each in offered
        )

    # --- changing ----------------------------------------------------------------------------

    def edit(self, ident: str, **fields: str) -> Shown:
        """Change fields of an entry in place, as in ``ledger.md``; an empty one is taken out.

        Args:
            ident: Id of the entry, such as F12.
            fields: New values: ``text``, and what its kind has, such as ``source`` or ``note``.
        """
        if "source" in fields:
            fields["source"] = self.source_of(fields["source"])
        return self.change(
            "Command: p.edit", lambda ledger, by: amend.amend(ledger, ident, by, **fields)
        )

    def remove(self, ident: str) -> Shown:
        """Remove an entry; its id is never used again, and undo brings it back.

        Args:
            ident: Id of the entry.
        """
        return self.change("Command: p.remove", lambda ledger, by: edits.remove(ledger, ident, by))

    def move(self, step: str, after: str = "") -> Shown:
        """Give a step of the plan another place.

        Args:
            step: Id of the step.
            after: Id of the step behind which it stands; first when left out.
        """
        return self.change("Command: p.move", lambda ledger, _by: amend.move(ledger, step, after))

    def change(self, via: str, edit: Callable[[Ledger, By], Edited]) -> Shown:
        """Apply one operation of :mod:`throughline_nb.ledger.edits` as one commit of the user."""

        def work(run: Run) -> Reply:
            edited, _ = run.change(edit)
            return Reply(stated(edited.sentence), id=edited.id)

        return self._shown(via, work)

    # --- what the above and the panel build on --------------------------------------------------

    @property
    def store(self) -> Project:
        """The project itself: its versions, its folder, its repository."""
        return here().engine.projects.find(self.name)

    def do(self, via: str, work: Callable[[Run], Reply | str]) -> Reply:
        """Do something for the user on this project, with errors as they are told here."""
        with plain_errors():
            return here().perform(via, work, self.name)

    @property
    def _is_own(self) -> bool:
        own = here().project
        return own is not None and own.slug == self.name

    def _shown(self, via: str, work: Callable[[Run], Reply | str]) -> Shown:
        return of_reply(self.do(via, work), here().to_tell())

    def panel(self) -> "Panel":
        """A panel on this project, to see, edit and steer it; a cell that ends with it shows it."""
        from throughline_nb.hosts.notebook.panel.shell import Panel  # noqa: PLC0415 - ipywidgets takes 100 ms

        with plain_errors():
            return Panel(self)

    def source_of(self, given: str) -> str:
        """A finding's source as it is recorded, where it may be a cell of this notebook."""
        source = cell_source(given)
        if source.startswith("cell ") and not self._is_own:
            here().recorded.add(self.name)
        return source

    def _as_user(self, operation: Operation, given: dict[str, Any]) -> Any:
        with plain_errors():
            given = self._with_source(given)
            arguments = operation.arguments(given)
        via = (
            f"Tool: {operation.name}"
            if operation.name in TOOLS
            else f"Command: /tl {operation.name}"
        )

        def work(run: Run) -> Reply | str:
            answer: Reply | str = operation.run(run, *arguments.values())
            if isinstance(answer, str):  # what comes next is said to a model
                lines = [line for line in answer.splitlines() if not line.startswith("next: ")]
                return "\n".join(lines)
            return answer

        reply = self.do(via, work)
        if operation.name == "rename":
            self.name = reply.name or self.name
        return of_reply(reply, here().to_tell())

    def _as_model(self, operation: Operation, given: dict[str, Any]) -> str:
        return here().call(operation.name, self._with_source(given), self.name)

    def _with_source(self, given: dict[str, Any]) -> dict[str, Any]:
        source = given.get("source")
        return given | {"source": self.source_of(source)} if isinstance(source, str) else given


def _method(operation: Operation, name: str) -> Callable[..., Shown]:
    """A method that executes an operation on a project."""

    def method(self: OpenProject, *args: Any, **given: Any) -> Shown:
        shown: Shown = self._as_user(operation, by_name(operation, args, given))
        return shown

    method.__name__ = name
    method.__qualname__ = f"{OpenProject.__name__}.{name}"
    method.__doc__ = docstring(operation)
    me = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    signed = signature(operation, Shown)
    vars(method)["__signature__"] = signed.replace(parameters=[me, *signed.parameters.values()])
    return method


for _operation in (*COMMANDS, *TOOLS):
    _name = _operation.name.removeprefix(PREFIX)
    if _operation.needs == "project" and not hasattr(OpenProject, _name):
        setattr(OpenProject, _name, _method(_operation, _name))


def open(name: str = "") -> OpenProject:  # noqa: A001 - as the command is called
    """Open a project for code; a notebook that has none yet is bound to it.

    Args:
        name: Its name; in a notebook, the one that it is bound to when left out.

    Raises:
        ThroughLineError: There is none; the text names the nearest.
    """
    this = here()
    with plain_errors():
        own = this.project
        if not name:
            if own is None:
                raise UsageError("Which project? Give its name, as %tl list shows it: open('…').")
            return OpenProject(own.slug)
        if own is None and this.key is not None:
            return OpenProject(this.command(f"open {name}").name)
        found = _reopened(this, name)
        return OpenProject(found.slug)


def start(goal: str = "") -> OpenProject:
    """Start a project; in a notebook it takes the place of the one that it is bound to.

    Args:
        goal: What the project must produce.
    """
    with plain_errors():
        return OpenProject(here().command(f"start {goal}").name)


def projects() -> Sequence[OpenProject]:
    """All projects, by name."""
    return [OpenProject(name) for name in here().engine.projects.names()]


def _reopened(this: Here, name: str) -> Project:
    from throughline_nb.store.cleanup import reopened  # noqa: PLC0415 - rarely needed

    return this.engine.projects.find(reopened(this.engine.projects, name))
