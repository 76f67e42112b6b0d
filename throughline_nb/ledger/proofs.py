"""What a chat's history proves: which pages, files and turns were read, and with which figures.

A page counts as read when a page-reading tool was called with its URL and the call succeeded, or
when that tool's result says which page it is. Search results, links on a page and failed calls
prove nothing. Of the text only the figures are kept (:mod:`.figures`).
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from throughline_nb.chat import Message
from throughline_nb.ledger.fence import without_blocks
from throughline_nb.ledger.figures import figures
from throughline_nb.ledger.sources import Proof, file_key, parse
from throughline_nb.ledger.urls import bare_url, normalise_url, urls_in

_URL_NAMES: Final = frozenset(
    ["url", "urls", "uri", "link", "href", "website", "page", "address", "pageurl"]
)
_PAGE_NAMES: Final = frozenset(
    name.replace("_", "")
    for name in ("url", "final_url", "page_url", "canonical_url", "source_url", "resolved_url")
)
_LISTS: Final = ("results", "pages", "documents", "data", "items")
_TEXTS: Final = ("content", "text", "markdown", "body", "html", "raw_content", "page_content")
_HEADER: Final = re.compile(
    r"(?im)^[ \t#>*-]*(?:url source|final url|source url|page url|url|source|contents? of|fetched"
    r"|read|page|address)\**[ \t]*[:=]?[ \t]*\**[ \t]*<?(https?://\S+)"
)
_HEADER_LINES: Final = 8
_DEPTH: Final = 8
_CODE_READ: Final = 20_000
"""Characters of a command or a piece of code that are searched for names of files."""

_WORDS: Final = re.compile(r"[^\s'\"`=(),;<>|&]+")
_FILE: Final = re.compile(r"\w\.[A-Za-z]\w{0,7}$")

_FILE_NAMES: Final = frozenset(
    [
        "path",
        "paths",
        "file",
        "files",
        "filename",
        "filepath",
        "notebook",
        "notebookpath",
        "document",
        "sourcefile",
        "targetfile",
        "absolutepath",
    ]
)
_READS: Final = re.compile(r"(?i)read|view|open|cat|load|get|show|fetch|parse|extract")
_LEDGER_TOOLS: Final = re.compile(r"(?i)(?:^|[^a-z])ledger_\w+$|^recall$")

_SHORT: Final = 600
"""Characters below which a result that begins like a failure is one, and not a page about one."""

_FAILED: Final = re.compile(
    r"(?i)\W*(?:error\b|failed\b|failure\b|fetch failed|exception\b|traceback \(|could not\b"
    r"|couldn['’]t\b|cannot\b|can['’]t\b|unable to\b|time(?:d)?[ -]?out\b|request (?:failed|timed)"
    r"|access denied|forbidden\b|not found\b|no (?:such|content)\b|invalid url|net::err|enotfound"
    r"|econn|getaddrinfo|ssl\b|certificate\b|robots\.txt|blocked\b|rate limit|too many requests"
    r"|(?:https?[ /\d.]*)?(?:status(?: code)?[: ]*)?[45]\d\d(?=\W*(?:$|error|not|forbidden|bad"
    r"|service|internal|too|unauth|gone|gateway|client|server))|page not found|fehler\b|erreur\b"
    r"|<(?:tool_use_)?error>|mcp error)"
)
_FAILED_PAGE: Final = re.compile(
    r"(?i)\W*(?:(?:error )?(?:401|403|404|410|429|500|502|503|504)\W*(?:error|not found|forbidden"
    r"|page not found|bad gateway|service unavailable|internal server error|too many requests"
    r"|unauthorized|gone|gateway time-?out)?\W*$|page not found\W*$|access denied\W*$"
    r"|just a moment\W*$|attention required|(?:http )?error \d{3}\b|tool (?:call )?failed)"
)


def proofs_of(messages: Sequence[Message], page_tools: Collection[str]) -> list[Proof]:
    """The proofs in a part of a chat's history.

    Args:
        messages: Whole turns, in order.
        page_tools: Names of the tools that read pages; a server's prefix before a name is passed
            over.

    Returns:
        Proofs in the order of the history: of the pages and files read, then of each turn.
    """
    readers = {name.casefold() for name in page_tools}
    results = _results(messages)
    found: list[Proof] = []
    turns: dict[int, set[str]] = {}
    for at, message in enumerate(messages):
        shown = turns.setdefault(message.turn, set())
        if _LEDGER_TOOLS.search(message.tool):
            continue
        if message.role == "user":
            shown.update(figures(without_blocks(message.text)))
            found += [Proof("file", file_key(name), message.turn) for name in message.files]
        elif message.role == "tool":
            shown.update(_figures(unwrapped(message.text)))
        elif message.tool:
            found += _of_call(message, results.get(at), readers)
        elif message.role == "assistant":
            shown.update(figures(message.text))
    found += [
        Proof("turn", f"turn {turn}", turn, tuple(sorted(shown))) for turn, shown in turns.items()
    ]
    return list(dict.fromkeys(found))


def failed(result: Message) -> bool:
    """Whether a tool's result says that the call did not succeed."""
    if result.failed:
        return True
    content = unwrapped(result.text)
    if isinstance(content, Mapping):
        return _failed_record(content)
    text = (content if isinstance(content, str) else result.text).strip()
    if len(text) < _SHORT and _FAILED.match(text):
        return True
    return _FAILED_PAGE.match(text.partition("\n")[0][:200]) is not None


def unwrapped(text: str) -> Any:
    """A result without the JSON around it: text, or a decoded record or list.

    Args:
        text: A plain text, a JSON string, or a JSON array of parts ``{"type": "text", "text": …}``.
    """
    content: Any = text
    for _ in range(4):
        if isinstance(content, list) and content and all(map(_is_part, content)):
            content = "\n".join(str(part.get("text") or "") for part in content)
        if not isinstance(content, str):
            break
        bare = content.strip()
        if not bare or bare[0] + bare[-1] not in ('""', "[]", "{}"):
            break
        try:
            content = msgspec.json.decode(bare)
        except (msgspec.DecodeError, RecursionError):
            break
    return content


def _is_part(part: Any) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("type"), str)


def _failed_record(record: Mapping[str, Any]) -> bool:
    status = record.get("status", record.get("status_code", record.get("statusCode")))
    return (
        bool(record.get("error") or record.get("isError") or record.get("is_error"))
        or record.get("success") is False
        or record.get("ok") is False
        or (isinstance(status, int) and status >= 400)
        or (isinstance(status, str) and status.lower() in ("error", "failed", "failure"))
    )


def _results(messages: Sequence[Message]) -> dict[int, Message]:
    """The result of each call, by the call's place: by call id, else the next of that tool."""
    found: dict[int, Message] = {}
    waiting: list[int] = []
    for at, message in enumerate(messages):
        if message.role == "assistant" and message.tool:
            waiting.append(at)
        elif message.role == "tool":
            call = next((one for one in waiting if _answers(message, messages[one])), None)
            if call is not None:
                waiting.remove(call)
                found[call] = message
    return found


def _answers(result: Message, call: Message) -> bool:
    if result.turn != call.turn:
        return False
    if result.call_id or call.call_id:
        return result.call_id == call.call_id
    return result.tool in ("", call.tool)


def _of_call(call: Message, result: Message | None, readers: Collection[str]) -> Iterator[Proof]:
    if result is not None and failed(result):
        return
    content = unwrapped(result.text) if result is not None else ""
    reads = {_bare_name(call.tool), call.tool.casefold()} & set(readers)
    shown_anything = not isinstance(content, str) or content.strip() != ""
    if reads and shown_anything:
        pages: dict[str, tuple[str, ...] | None] = {}
        for url, shown in _pages(content):
            pages.setdefault(normalise_url(url), shown)
        for url in map(normalise_url, _named_urls(call.args)):
            if url not in pages:
                pages[url] = _figures(content)
        for url, shown in pages.items():
            if shown is not None:
                yield Proof("url", url, call.turn, shown)
    files = _named_files(call.args)
    shown = _figures(content) if files and shown_anything and _READS.search(call.tool) else None
    for path in files:
        yield Proof("file", path, call.turn, shown)


def _figures(content: Any) -> tuple[str, ...]:
    """The figures in all texts and numbers of a result."""
    if isinstance(content, str):
        return figures(content)
    return figures("\n".join(value for _, value in _strings(content)))


def _bare_name(tool: str) -> str:
    return re.split(r"__|[/.:]", tool)[-1].casefold()


def _named_urls(args: Mapping[str, Any]) -> list[str]:
    """URLs in a call's arguments: under a name that says so, else anywhere in them."""
    named: list[str] = []
    others: list[str] = []
    for name, value in _strings(args):
        found = list(urls_in(value))
        if _plain_name(name) in _URL_NAMES:
            named += found or [url for url in [bare_url(value.strip())] if url]
        others += found
    return list(dict.fromkeys(named or others))


def _named_files(args: Mapping[str, Any]) -> list[str]:
    """The files that a call names, also in a command or a piece of code, as keys."""
    found: list[str] = []
    for name, value in _strings(args):
        if _plain_name(name) in _FILE_NAMES and "\n" not in value and "://" not in value:
            found.append(value)
        else:
            words = _WORDS.findall(value[:_CODE_READ])
            found += [word for word in words if _FILE.search(word) and parse(word).kind == "file"]
    return list(dict.fromkeys(file_key(path) for path in found if path))


def _plain_name(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")


def _strings(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """All strings and numbers in a value of JSON, each with the name that it stands under."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, int | float):
        yield name, str(value)
    elif depth > _DEPTH:
        return
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _strings(inner, str(key), depth + 1)
    elif isinstance(value, Iterable) and not isinstance(value, bytes):
        for inner in value:
            yield from _strings(inner, name, depth + 1)


def _pages(content: Any) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    """The pages that a result names: each with the figures of its text, or None if that failed."""
    if isinstance(content, str):
        head = "\n".join(content.lstrip().splitlines()[:_HEADER_LINES])
        for match in _HEADER.finditer(head):
            for url in urls_in(match[1]):
                yield url, figures(content)
    elif isinstance(content, Mapping):
        yield from _record_pages(content)
    elif isinstance(content, list):
        for item in content:
            if isinstance(item, Mapping) and (
                _failed_record(item) or any(item.get(name) for name in _TEXTS)
            ):
                yield from _pages(item)


def _record_pages(record: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    shown = None if _failed_record(record) else _figures(record)
    for name, value in record.items():
        if name in _LISTS and isinstance(value, list):
            yield from _pages(value)
        elif _plain_name(name) in _PAGE_NAMES and isinstance(value, str):
            for url in urls_in(value):
                yield url, shown
