"""Front matter: flat ``key: value`` lines, all of them text.

What we write ourselves is read line by line. Anything else goes through python-frontmatter with a
loader that leaves every scalar as text (``no``, ``0123``, ``1.10`` and dates mean what they say);
a plain value is quoted before, so that ``Governance: Root`` and ``see issue #12`` are read whole.
"""

import json
import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec

RESERVED: Final = ("throughline", "project", "version")
"""Keys of the engine's own; every other key is the person's."""

_LARGEST: Final = 65_536
"""Characters; a larger block is no front matter that a person wrote."""

_KEY = r"[^\W\d][\w./-]*(?: [\w./-]+)*"
_PLAIN_KEY = re.compile(_KEY)
_PLAIN_START = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`]|[-?:](?=\S)")
_FLOW = re.compile(r"\[(?:[\w./-]+(?: [\w./-]+)*(?:, [\w./-]+(?: [\w./-]+)*)*)?\]")
_LINE = re.compile(rf"({_KEY}|\"(?:[^\"\\]|\\.)*\"):(?: (.*))?")
_LOOSE_LINE = re.compile(rf"({_KEY}|\"(?:[^\"\\]|\\.)*\"|'[^']*')[ \t]*:(?:[ \t]+(.*))?")
_FENCE = re.compile(r"(?:-{3,}|[–—]+-?)[ \t]*")
_CLOSING = re.compile(r"(?:-{3,}|[–—]+-?|\.{3})[ \t]*")
_HEADING = re.compile(r"#{2,6}[ \t]+\S")  # one # may be a comment


class Front(msgspec.Struct, frozen=True):
    """What the front matter says.

    Attributes:
        pairs: Keys and values in the order of the file.
        notices: What was not as it should be, one sentence each.
        found: Whether there was front matter that could be read.
    """

    pairs: tuple[tuple[str, str], ...] = ()
    notices: tuple[str, ...] = ()
    found: bool = False

    def get(self, key: str) -> str | None:
        """The value of ``key``, or None."""
        return next((value for name, value in self.pairs if name == key), None)


def write_front(pairs: tuple[tuple[str, str], ...]) -> str:
    """The block with its fences, as one flat line a pair."""
    lines = [f"{_key(key)}: {_value(value)}".rstrip(" ") for key, value in pairs]
    return "\n".join(("---", *lines, "---"))


def split_front(content: str) -> tuple[Front, str]:
    r"""Take the front matter, or several blocks of it, off the file.

    Args:
        content: The file, with ``\n`` line ends and without a byte order mark.

    Returns:
        What it says, and the rest of the file.
    """
    front = Front()
    while True:
        block, rest = _first_block(content)
        if block is None:
            return front, content
        read = plain_front(block) or _loose_front(block)
        if not read.found and front.found:
            return front, content
        front = _merged(front, read)
        content = rest


def plain_front(lines: list[str]) -> Front | None:
    """Read lines as :func:`write_front` writes them, or None where any of them is otherwise."""
    pairs: dict[str, str] = {}
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            return None
        key, value = found[1], found[2] or ""
        try:
            key = json.loads(key) if key.startswith('"') else key
            if value.startswith('"'):
                value = json.loads(value)
            elif not _is_plain(value):
                return None
        except ValueError:
            return None
        if key in pairs:
            return None
        pairs[key] = value
    return Front(tuple(pairs.items()), found=True)


def _first_block(content: str) -> tuple[list[str] | None, str]:
    """The lines of a block at the start of ``content``, and what follows it; None without one."""
    stripped = content.lstrip("\n \t")
    head = stripped[:_LARGEST]
    lines = head.split("\n")
    if not _FENCE.fullmatch(lines[0]) or len(lines) < 2:
        return None, content
    closing = next((n for n, line in enumerate(lines) if n and _CLOSING.fullmatch(line)), 0)
    inside = lines[1:closing]
    if not closing or any(map(_HEADING.match, inside)) or not _looks_flat(inside):
        # Never closed: it ends where its lines do.
        closing = next((n for n, line in enumerate(lines) if n and not _is_pair(line)), 0)
        inside = lines[1:closing]
        if not inside:
            return None, content
        closing -= 1
    return inside, stripped[sum(len(line) + 1 for line in lines[: closing + 1]) :]


def _is_pair(line: str) -> bool:
    return _LOOSE_LINE.fullmatch(line) is not None


def _looks_flat(lines: list[str]) -> bool:
    """Whether these may be the lines of a mapping, rather than text between two rules."""
    first = next((line for line in lines if line.strip() and not line.startswith("#")), None)
    return _is_pair(first.strip()) if first is not None else not any(map(str.strip, lines))


def _merged(front: Front, other: Front) -> Front:
    known = dict(front.pairs)
    twice = [_twice(key) for key, value in other.pairs if key in known and known[key] != value]
    pairs = (*front.pairs, *(pair for pair in other.pairs if pair[0] not in known))
    notices = (*front.notices, *other.notices, *twice)
    return Front(pairs, notices, found=front.found or other.found)


def _twice(key: str) -> str:
    return f"The front matter names “{key}” twice; the first value stands."


def _loose_front(lines: list[str]) -> Front:
    """Read a block as YAML whose scalars are text, else line by line."""
    import yaml  # noqa: PLC0415 - only for front matter that we did not write

    lines = [line.expandtabs(2) for line in lines if line.strip()]
    duplicates: list[str] = []
    try:
        metadata = _parse("\n".join(map(_quoted, lines)), duplicates)
        pairs = tuple((str(key), _flat(value)) for key, value in metadata.items())
        notices = tuple(map(_twice, dict.fromkeys(duplicates)))
        return Front(pairs, notices, found=bool(pairs) or not lines)
    except (yaml.YAMLError, ValueError, RecursionError):
        return _by_line(lines)


def _by_line(lines: Iterable[str]) -> Front:
    pairs: dict[str, str] = {}
    notices = ["The front matter is no valid YAML; it was read line by line."]
    for line in lines:
        found = _LOOSE_LINE.fullmatch(line)
        if found is None:
            continue
        key, value = (_unquoted(part or "") for part in found.groups())
        if key in pairs:
            notices.append(_twice(key))
        pairs.setdefault(key, value)
    return Front(tuple(pairs.items()), tuple(dict.fromkeys(notices)), found=bool(pairs))


def _parse(block: str, duplicates: list[str]) -> dict[Any, Any]:
    """Read YAML with python-frontmatter; every scalar stays text, the first of two keys stands."""
    import frontmatter  # noqa: PLC0415 - see _loose_front
    import yaml  # noqa: PLC0415
    from frontmatter.default_handlers import YAMLHandler  # noqa: PLC0415

    class TextLoader(yaml.SafeLoader):
        """Knows no types, and no aliases, which could grow without bound."""

        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - overrides PyYAML's own

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("aliases are not read")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            del deep
            found: dict[Any, Any] = {}
            for key_node, value_node in node.value:
                key = _flat(self.construct_object(key_node, deep=True))
                if key in found:
                    duplicates.append(key)
                else:
                    found[key] = self.construct_object(value_node, deep=True)
            return found

    def tagged(loader: Any, _suffix: str, node: Any) -> Any:
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        return node.value

    TextLoader.yaml_constructors = {}
    TextLoader.yaml_multi_constructors = {None: tagged, "": tagged}

    class TextHandler(YAMLHandler):
        """Loads with the loader above."""

        def load(self, fm: str, **_: object) -> Any:
            return yaml.load(fm, Loader=TextLoader)  # noqa: S506 - a SafeLoader without types

    metadata, _content = frontmatter.parse(f"---\n{block}\n---\n", handler=TextHandler())
    return dict(metadata)


def _flat(value: object) -> str:
    """A YAML value as one string; lists and mappings in flow style."""
    if isinstance(value, list):
        return f"[{', '.join(map(_flat, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flat(key)}: {_flat(item)}" for key, item in value.items()) + "}"
    return "" if value is None else str(value).strip()


def _quoted(line: str) -> str:
    """A top-level line whose plain value is put in quotes, so that YAML reads it as it stands."""
    found = _LOOSE_LINE.fullmatch(line)
    value = (found[2] or "").strip() if found else ""
    if found is None or not value or value[0] in "\"'[{|>&*!" or _is_plain(value):
        return line
    return f"{found[1]}: {json.dumps(value, ensure_ascii=False)}"


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _is_plain(value: str) -> bool:
    """Whether ``value`` may stand without quotes, for us and for YAML."""
    if not value:
        return True
    if value != value.strip() or not value.isprintable():
        return False
    if _PLAIN_START.match(value):
        return ": " not in value and " #" not in value and not value.endswith(":")
    return _FLOW.fullmatch(value) is not None


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _value(value: str) -> str:
    return value if _is_plain(value) else json.dumps(value, ensure_ascii=False)
