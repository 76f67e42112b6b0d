"""The head of the panel: where the project stands, which version it is, whether all is well."""

from html import escape
from typing import Final

from throughline_nb.hosts.notebook.panel.pages import Shown
from throughline_nb.hosts.notebook.panel.words import ago, by, count

SEGMENTS: Final = 40
"""Steps that the bar shows."""


def header(shown: Shown) -> str:
    """HTML of the head."""
    ledger, latest = shown.ledger, shown.latest
    done = sum(step.status == "done" for step in ledger.plan)
    bar = "".join(f'<i class="tl-{step.status}"></i>' for step in ledger.plan[:SEGMENTS])
    position = [f"{done} of {len(ledger.plan)} done"] if ledger.plan else []
    if shown.current is not None:
        position.append(f"now {shown.current.id}")
    what = "saved" if latest.parents else "started"
    said = f"version {shown.version} · {what} {ago(latest.time, shown.now)} by {by(latest)}"
    many = len(shown.troubles)
    need = f" · <b>{count(many, 'thing')} need{'s' * (many == 1)} a look</b>" if many else ""
    return (
        f'<h2>{escape(ledger.project)}</h2><span class="tl-bar" aria-hidden="true">{bar}</span>'
        f"<small>{' · '.join(position)}</small><p><small>{escape(said)}{need}</small></p>"
    )
