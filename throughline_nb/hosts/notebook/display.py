"""What a cell shows: one object as plain text, Markdown, HTML and JSON.

JSON goes under a media type of its own: JupyterLab prefers ``application/json`` to HTML, and would
show a tree of braces in place of the page.
"""

import html
import re
from collections.abc import Callable, Container, Mapping
from functools import cache
from typing import Any, Final

from throughline_nb.engine.run import Reply
from throughline_nb.hosts.notebook.style import CSS, JSON
from throughline_nb.ledger.inline import escape_paragraph, one_line

_EXPLAINED: Final = re.compile(r"[^\\`*_{}\[\]<>()#+.!|~$&:/\n-]*")
_COMMAND: Final = re.compile(r"(?<![\w./])/tl(?= [a-z<]|$)", re.MULTILINE)
_MARKS: Final = re.compile(r"\[-(.*?)-\]|\{\+(.*?)\+\}")


class Shown:
    """Something to show; ``print`` and ``str`` give the plain text.

    Args:
        plain: Text for a terminal.
        markdown: The same for a notebook that shows no HTML; the plain text in a fence if empty.
        inside: HTML of it, without style; the plain text if empty. It must be safe.
        data: The same as data for JSON.
        ident: Id of the entry that it is about, or empty.
    """

    def __init__(
        self,
        plain: str,
        markdown: str = "",
        inside: str = "",
        data: Mapping[str, Any] | None = None,
        ident: str = "",
    ) -> None:
        self.plain = plain
        self.markdown = markdown or fenced(plain)
        self.inside = inside or f"<pre>{html.escape(plain)}</pre>"
        self.data = {"text": plain, **(data or {})}
        self.id = ident

    @property
    def html(self) -> str:
        """The HTML, with its style."""
        return f'<div class="tl"><style>{CSS}</style>{self.inside}</div>'

    def __str__(self) -> str:
        return self.plain

    def __repr__(self) -> str:
        return self.plain

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, Any]:
        """What Jupyter shows; ``application/json`` only where it is asked for."""
        bundle: dict[str, Any] = {
            "text/plain": self.plain,
            "text/markdown": self.markdown,
            "text/html": self.html,
            JSON: self.data,
        }
        if include and "application/json" in include:
            bundle["application/json"] = self.data
        return {
            kind: value
            for kind, value in bundle.items()
            if (not include or kind in include) and not (exclude and kind in exclude)
        }


def show(shown: object) -> None:
    """Show something below the cell that runs."""
    from IPython import display  # noqa: PLC0415 - it runs in IPython, and is not loaded elsewhere

    put: Callable[[object], None] = display.display
    put(shown)


def of_reply(
    reply: Reply, told: tuple[str, ...] = (), *, marked: bool = False, ours: bool = False
) -> Shown:
    """What a command or an operation gave.

    Args:
        reply: What it gave.
        told: What is to be said before it.
        marked: Whether what it shows has words marked as added or removed.
        ours: Whether what it shows is our own text, in which commands are named, not a ledger's.
    """
    text = typed_here(" ".join([*told, reply.text]))
    shown = typed_here(reply.shown) if ours else reply.shown
    plain = "\n\n".join(part for part in (text, shown) if part)
    body = marks(shown) if marked else html.escape(shown)
    inside = f"<p>{inline(text)}</p>" + (f"<pre>{body}</pre>" if shown else "")
    markdown = "\n\n".join(
        part for part in (escape_paragraph(one_line(text)), fenced(shown) if shown else "") if part
    )
    data = {"text": text, "shown": shown, "id": reply.id}
    return Shown(plain, markdown, inside, data, reply.id)


def typed_here(text: str) -> str:
    """Commands as they are typed in a notebook, where a text names them as a chat does."""
    return _COMMAND.sub("%tl", text)


def fenced(text: str) -> str:
    """Text as a block of Markdown that shows it as it is."""
    longest = max([2, *(len(run) for run in re.findall(r"`+", text))])
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def inline(text: str) -> str:
    """HTML of one line of a ledger: what is code or a link there is so here, all else is text."""
    if _EXPLAINED.fullmatch(text):
        return html.escape(text)
    rendered = _markdown()(escape_paragraph(one_line(text))).strip()
    return rendered.removeprefix("<p>").removesuffix("</p>")


def rendered(markdown: str) -> str:
    """HTML of Markdown that a person wrote; raw HTML in it is shown as text."""
    return _markdown()(markdown)


def marks(text: str) -> str:
    """HTML of a text whose removed words stand in ``[-…-]`` and added ones in ``{+…+}``."""
    return _MARKS.sub(
        lambda found: (
            f"<del>{found[1]}</del>" if found[1] is not None else f"<ins>{found[2]}</ins>"
        ),
        html.escape(text),
    )


@cache
def _markdown() -> Callable[[str], str]:
    import mistune  # noqa: PLC0415 - 20 ms, which only what is shown as HTML needs

    class Renderer(mistune.HTMLRenderer):
        """Shows a picture as a link: opening a notebook must fetch nothing."""

        def image(self, text: str, url: str, title: str | None = None) -> str:
            return self.link(text or url, url, title)

    made = mistune.create_markdown(
        renderer=Renderer(escape=True), plugins=["strikethrough", "table"]
    )
    return lambda text: str(made(text))
