"""What commands and tools share: one typed function with one docstring gives all the rest.

An :class:`Operation` is read off a function: its name, the type, default and help of each
argument, the JSON Schema that a model sees, the validation with one-line errors, and the parsing
of a typed line. Hosts, completion, help and the reference pages all read the same object.

A function's first parameter is what it works on (a run), the others are its arguments. The
docstring's first paragraph is the help, its ``Args:`` section describes each argument.
"""

import difflib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

import msgspec

from throughline_nb.errors import ThroughLineError

_LONGEST = 60
"""Characters of what was given that a message repeats."""


class UsageError(ThroughLineError):
    """Arguments that do not fit: the text names the argument, what was given, what is allowed."""


def shown(given: object) -> str:
    """What was given, in quotes and cut, as a message repeats it."""
    text = str(given)
    return repr(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


class Param(msgspec.Struct, frozen=True):
    """One argument of an operation.

    Attributes:
        name: Its name.
        type: Its annotation.
        help: One or two sentences.
        required: Whether it must be given.
        default: What holds when it is not given.
    """

    name: str
    type: Any
    help: str
    required: bool
    default: Any = None

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed words, where only some are; the empty one, for not given, is left out."""
        words = get_args(self.type) if get_origin(self.type) is Literal else ()
        return tuple(word for word in words if word)


class Operation(msgspec.Struct, frozen=True):
    """A command or a tool.

    Attributes:
        name: As typed or called.
        help: First paragraph of the docstring.
        details: The paragraphs after it.
        params: Its arguments, in order.
        run: The function.
        needs: What must be there: ``""``, ``"chat"``, ``"project"`` or a complete ``"recall"``.
        struct: Record type of the arguments, for validation and schema.
    """

    name: str
    help: str
    details: str
    params: tuple[Param, ...]
    run: Callable[..., Any]
    needs: str
    struct: type[msgspec.Struct]

    @property
    def usage(self) -> str:
        """Name and arguments, as the help shows them: ``goal <text>``, ``log [n]``."""
        words = [f"<{p.name}>" if p.required else f"[{p.name}]" for p in self.params]
        return " ".join([self.name, *words])

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        schema = msgspec.json.schema(self.struct)
        definition = schema["$defs"][self.struct.__name__]
        properties = definition["properties"]
        for param in self.params:
            if param.choices:
                properties[param.name] = {"type": "string", "enum": list(param.choices)}
            properties[param.name].pop("default", None)
            properties[param.name]["description"] = param.help
        return {
            "type": "object",
            "properties": properties,
            "required": definition.get("required", []),
            "additionalProperties": False,
        }

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Check and convert arguments by name.

        Raises:
            UsageError: One line that names the argument, what was given and what is allowed.
        """
        if not isinstance(given, Mapping):  # a model's JSON may be any
            raise UsageError(f"{self.name} takes arguments by name; {shown(given)} was given.")
        names = [param.name for param in self.params]
        for name in given:
            if name not in names:
                near = difflib.get_close_matches(str(name)[:_LONGEST], names, 1)
                hint = f"did you mean {near[0]}?" if near else f"allowed: {', '.join(names)}."
                raise UsageError(f"{self.name} has no argument {shown(name)}; {hint}")
        values: dict[str, Any] = {}
        for param in self.params:
            value = given.get(param.name)
            if value is None or (value == "" and not param.required):
                if param.required:
                    raise UsageError(f"{self.name} needs {param.name}: {param.help}")
                values[param.name] = param.default
                continue
            values[param.name] = self._converted(param, value)
        return values

    def _converted(self, param: Param, value: object) -> object:
        if param.choices and isinstance(value, str):
            value = value.strip().casefold()
        elif param.type is str and isinstance(value, int | float):
            return str(value)
        try:
            return msgspec.convert(value, param.type, strict=False)
        except msgspec.ValidationError:
            allowed = ", ".join(map(str, param.choices)) or _type_words(param.type)
            raise UsageError(
                f"{self.name}: {param.name} was {shown(str(value))}; allowed: {allowed}."
            ) from None

    def parsed(self, line: str) -> dict[str, Any]:
        """Arguments from what a person typed behind the name; the last one takes the rest."""
        words = line.strip()
        given: dict[str, Any] = {}
        for at, param in enumerate(self.params):
            if not words:
                break
            if at == len(self.params) - 1:
                given[param.name], words = words, ""
            else:
                given[param.name], *rest = words.split(maxsplit=1)
                words = "".join(rest).strip()
        if words:
            raise UsageError(f"{self.name} takes no arguments; {shown(words)} was given.")
        return self.arguments(given)


class Registry:
    """Operations by name, in the order in which they were defined.

    Args:
        noun: What one of them is called in a message: ``command`` or ``tool``.
    """

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._operations: dict[str, Operation] = {}

    def __iter__(self) -> Iterator[Operation]:
        return iter(self._operations.values())

    def __contains__(self, name: str) -> bool:
        return name in self._operations

    def add(self, needs: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorator that enters a function under its own name."""

        def enter(function: Callable[..., Any]) -> Callable[..., Any]:
            operation = _read(function, needs)
            self._operations[operation.name] = operation
            return function

        return enter

    def get(self, name: str) -> Operation:
        """The operation of that name.

        Raises:
            UsageError: There is none; the text gives the nearest name.
        """
        found = self._operations.get(name)
        if found is not None:
            return found
        near = difflib.get_close_matches(str(name)[:_LONGEST], self._operations, 1, 0.6)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(self._operations)}."
        raise UsageError(f"There is no {self._noun} {shown(name)}; {hint}")


COMMANDS = Registry("command")
"""The ``/tl`` commands, in the order in which the help lists them."""

TOOLS = Registry("tool")
"""The tools that a model is offered, each where what it needs is there."""


def _read(function: Callable[..., Any], needs: str) -> Operation:
    name = function.__name__.rstrip("_")
    doc = inspect.getdoc(function) or ""
    text, _, args = doc.partition("\nArgs:\n")
    first, _, details = text.partition("\n\n")
    helps = _argument_helps(args)
    params = []
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        required = parameter.default is inspect.Parameter.empty
        params.append(
            Param(
                parameter.name.rstrip("_"),
                parameter.annotation,
                helps[parameter.name.rstrip("_")],
                required,
                None if required else parameter.default,
            )
        )
    fields = [(p.name, p.type) if p.required else (p.name, p.type, p.default) for p in params]
    struct = msgspec.defstruct(name, fields, frozen=True, kw_only=True)
    joined = " ".join(first.split())
    return Operation(name, joined, details.strip(), tuple(params), function, needs, struct)


def _argument_helps(section: str) -> dict[str, str]:
    helps: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        start = re.match(r" {4}(\w+): (.*)", line)
        if start:
            name = start.group(1).rstrip("_")
            helps[name] = start.group(2).strip()
        elif name and line.startswith(" " * 8):
            helps[name] += " " + line.strip()
    return helps


def _type_words(annotation: Any) -> str:
    if annotation is bool:
        return "true or false"
    if annotation is int:
        return "a whole number"
    if annotation is str:
        return "text"
    return "text, or a list of texts"
