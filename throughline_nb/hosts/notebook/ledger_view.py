"""A version of a ledger to look at: as text, Markdown and HTML that reads well without its style.

The HTML is built on headings, lists, ``code``, ``em`` and ``br`` alone, so that a notebook that is
not trusted, which drops ``<style>``, still shows a page. It is also what a saved notebook keeps of
the panel.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from throughline_nb.engine import views
from throughline_nb.hosts.notebook.display import Shown, inline, rendered
from throughline_nb.hosts.notebook.style import SHAPES
from throughline_nb.ledger import Entry, Ledger, write
from throughline_nb.ledger.model import LABELS, SECTIONS, Section
from throughline_nb.ledger.urls import bare_url, urls_in

_ORDER = ("plan", "findings", "decisions", "questions", "constraints", "proposals")
"""Sections as a reader wants them; the file has its own order."""


class LedgerView:
    """A project's ledger in one version; its sections are attributes, as ``view.findings``.

    Args:
        ledger: The ledger.
        version: Name of the version.
        health: Phrases on what is not in order; empty for a former version.
        when: Time of the version in seconds since the epoch, or None.
    """

    def __init__(
        self, ledger: Ledger, version: str, health: Sequence[str] = (), when: float | None = None
    ) -> None:
        self.ledger = ledger
        self.version = version
        self.health = tuple(health)
        self.when = when

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.ledger, name)

    def __getitem__(self, ident: str) -> Entry:
        """The entry with this id."""
        entry = self.ledger.get(ident)
        if entry is None:
            raise KeyError(ident)
        return entry

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *Ledger.__struct_fields__, "current", "empty", "entries", "get"]

    def __repr__(self) -> str:
        return views.status(self.ledger, self.version, self.health)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return self.shown()._repr_mimebundle_(include, exclude)

    def shown(self, note: str = "") -> Shown:
        """The whole ledger.

        Args:
            note: A line below it, as HTML.
        """
        parts = [_head(self.ledger, self.version, self.when), *_sections(self.ledger)]
        parts += [f"<hr><p><small>{note}</small></p>"] if note else []
        inside = f'<div class="tl-card">{"".join(parts)}</div>'
        return Shown(repr(self), _markdown(self.ledger), inside, self.data())

    def card(self, note: str = "") -> Shown:
        """Where the project stands, in a few lines.

        Args:
            note: A line below it, as HTML.
        """
        rows = "".join(
            f"<tr><th scope='row'><small>{name}</small></th><td>{text}</td></tr>"
            for name, text in _position(self.ledger, self.health)
        )
        version = f"version {self.version}"
        foot = f"<hr><p><small>{' · '.join(filter(None, [version, note]))}</small></p>"
        goal = inline(self.ledger.goal) or "no goal yet: <code>%tl goal &lt;text&gt;</code> sets it"
        inside = (
            f'<div class="tl-card"><h3>{inline(self.ledger.project)} '
            f"<small>{_done(self.ledger)}</small></h3><p>{goal}</p>"
            f"<table>{rows}</table>{foot}</div>"
        )
        return Shown(repr(self), "", inside, self.data())

    def data(self) -> dict[str, Any]:
        """The ledger as data for JSON."""
        built: dict[str, Any] = msgspec.to_builtins(self.ledger)
        return {"ledger": built, "version": self.version, "health": list(self.health)}


def state_of(entry: Entry) -> str:
    """The word for where an entry stands: a state, a status, or what is wrong with it."""
    if entry.missing and entry.state == "verified":
        return "figures missing"
    if entry.suspect:
        return "suspect"
    return entry.status or entry.state


def chip(state: str) -> str:
    """HTML of a state: shape, word and colour."""
    if not state:
        return ""
    name = state.replace(" ", "-")
    return f' <em class="tl-{name}">{SHAPES.get(state, "○")} {state}</em>'


def source_link(source: str) -> str:
    """HTML of a source: a link where it is one page."""
    url = next(iter(urls_in(source)), "") or bare_url(source) or ""
    if url and source.strip("<>") in (url, url.partition("://")[2]):
        return inline(url)
    return inline(source)


def trouble_of(entry: Entry) -> str:
    """What is wrong with an entry, in a line of HTML; empty when nothing is."""
    said = []
    if entry.missing:
        said.append(f"{inline(entry.missing)} is not in its source")
    if entry.state == "stale" and entry.reason:
        said.append(inline(entry.reason))
    if entry.suspect:
        said.append(f"suspect: {inline(entry.suspect)}")
    return " · ".join(said)


def below(entry: Entry) -> str:
    """What else is said of an entry, in a line of HTML."""
    said = [source_link(entry.source)] if entry.source else []
    if entry.kind == "finding" and not entry.source:
        said.append("no source")
    said += [inline(entry.note)] if entry.note else []
    said += [inline(entry.reason)] if entry.reason and entry.state != "stale" else []
    said += [f"because {inline(entry.because)}"] if entry.because else []
    said += [f"answer: {inline(entry.answer)}"] if entry.answer else []
    return " · ".join(said)


def _head(ledger: Ledger, version: str, when: float | None) -> str:
    said = f", of {time.strftime('%Y-%m-%d %H:%M', time.localtime(when))}" if when else ""
    goal = inline(ledger.goal) or "not set"
    return (
        f"<h3>{inline(ledger.project)}</h3><p><small>{_done(ledger)}<br>"
        f"version {version}{said}</small></p><h4>Goal</h4><p>{goal}</p>"
    )


def _done(ledger: Ledger) -> str:
    if not ledger.plan:
        return "no plan yet"
    return f"{sum(s.status == 'done' for s in ledger.plan)} of {len(ledger.plan)} done"


def _sections(ledger: Ledger) -> Iterator[str]:
    for section in sorted(SECTIONS, key=lambda each: _ORDER.index(each.attr)):
        entries = ledger.list(section.attr)
        if entries:
            yield f"<h4>{section.title} <small>{_count(section, ledger)}</small></h4>"
            yield f"<ul>{''.join(_row(entry, ledger.current) for entry in entries)}</ul>"
    notes = "\n\n".join(part.text for part in ledger.prose)
    if notes:
        yield f"<h4>Notes</h4>{rendered(notes)}"


def _count(section: Section, ledger: Ledger) -> str:
    entries = ledger.list(section.attr)
    return _done(ledger) if section.attr == "plan" else str(len(entries))


def _row(entry: Entry, current: Entry | None) -> str:
    box = ("☑ " if entry.status == "done" else "☐ ") if entry.kind == "step" else ""
    dim = entry.status == "done" or entry.retracted or bool(entry.answer)
    kind = "tl-now" if entry is current else "tl-dim" if dim else ""
    text = inline(entry.text)
    text = f"<b>{text}</b>" if entry is current else f"<s>{text}</s>" if entry.retracted else text
    state = state_of(entry) if entry.status not in ("todo", "done") else ""
    lines = [f"{box}{text}{chip(state)}"]
    if more := below(entry):
        lines.append(f"<small>{more}</small>")
    if trouble := trouble_of(entry):
        lines.append(f'<small class="tl-trouble">{trouble}</small>')
    return f'<li class="{kind}"><code>{entry.id}</code> {"<br>".join(lines)}</li>'


def _position(ledger: Ledger, health: Sequence[str]) -> Iterator[tuple[str, str]]:
    step = ledger.current
    if step is not None:
        note = f" <small>{inline(step.note)}</small>" if step.note else ""
        yield "Now", f"<code>{step.id}</code> {inline(step.text)}{chip(step.status)}{note}"
        later = [s for s in ledger.plan[ledger.plan.index(step) + 1 :] if s.status == "todo"]
        if later:
            yield "Next", f"<code>{later[0].id}</code> {inline(later[0].text)}"
    newest = [entry for entry in ledger.findings if not entry.retracted][-1:]
    for entry in newest:
        yield "Found", f"<code>{entry.id}</code> {inline(entry.text)}{chip(state_of(entry))}"
    if health:
        yield "Health", f'<span class="tl-trouble">{" · ".join(map(inline, health))}</span>'
    for entry in ledger.proposals:
        settle = " or ".join(f"<code>%tl {word} {entry.id}</code>" for word in ("accept", "reject"))
        yield "For you", f"{entry.id} proposes {inline(entry.text)}: {settle}"


def _markdown(ledger: Ledger) -> str:
    """The file as it is, without its front matter, comment and last line."""
    lines = write(ledger).splitlines()
    start = next((at for at, line in enumerate(lines) if line.startswith("# ")), 0)
    return "\n".join(lines[start:]).strip()


def fields_of(section: Section) -> dict[str, str]:
    """The columns of a section: name in a table by the name of the field."""
    return {name: LABELS.get(name, name) for name in ("id", "text", *section.fields)}
