"""Operations of the registry as Python functions: signature, help and schema come from there."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from throughline_nb.engine.registry import Operation, UsageError, shown

Tool = Callable[..., str]


class Tools(tuple[Tool, ...]):
    """A model's tools: functions that take what a model gives, and answer in text.

    They go as they are to a client that takes functions, such as ``lmstudio``'s ``act``; a client
    that takes schemas gets :attr:`schemas`, and :meth:`call` executes what its model asks for.
    """

    __slots__ = ()

    @property
    def schemas(self) -> list[dict[str, Any]]:
        """The tools as OpenAI's chat completions take them, with the JSON Schema of arguments."""
        return [
            {
                "type": "function",
                "function": {
                    "name": each.__name__,
                    "description": description(_operation(each)),
                    "parameters": _operation(each).schema(),
                },
            }
            for each in self
        ]

    def call(self, name: str, arguments: str | Mapping[str, Any] | None = None) -> str:
        """Execute a tool call.

        Args:
            name: Name of the tool.
            arguments: What the model gave, by name, or as JSON.

        Returns:
            The answer for the model; what does not fit or fails is told in it, in one line.
        """
        wanted = next((each for each in self if each.__name__ == name), None)
        if wanted is None:
            names = ", ".join(each.__name__ for each in self)
            return f"Not done: there is no tool {shown(name)}; there are {names}."
        given = arguments or {}
        try:
            if isinstance(given, str):
                given = msgspec.json.decode(given)
        except msgspec.DecodeError:
            return f"Not done: the arguments of {name} are no JSON; {shown(arguments)} was given."
        if not isinstance(given, Mapping):
            return f"Not done: {name} takes arguments by name; {shown(given)} was given."
        return wanted(**{str(key): value for key, value in given.items()})


def tool(operation: Operation, call: Callable[[Operation, dict[str, Any]], str]) -> Tool:
    """A function by which a model executes an operation.

    Args:
        operation: The operation.
        call: Executes it with arguments by name, not yet checked.
    """

    def execute(*args: Any, **given: Any) -> str:
        try:
            values = by_name(operation, args, given)
        except UsageError as error:
            return f"Not done: {error}"
        return call(operation, values)

    execute.__name__ = execute.__qualname__ = operation.name
    execute.__doc__ = docstring(operation)
    signed = signature(operation, str)
    execute.__annotations__ = {each.name: each.annotation for each in signed.parameters.values()}
    execute.__annotations__["return"] = str
    vars(execute)["__signature__"] = signed
    vars(execute)["operation"] = operation
    return execute


def by_name(operation: Operation, args: Iterable[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name, where some were given by place.

    Raises:
        UsageError: There are too many, or one is given twice.
    """
    names = [param.name for param in operation.params]
    placed = list(args)
    if len(placed) > len(names):
        raise UsageError(f"{operation.name} takes {', '.join(names)}; {len(placed)} were given.")
    values = dict(zip(names, placed, strict=False))
    twice = values.keys() & given.keys()
    if twice:
        raise UsageError(f"{operation.name}: {', '.join(sorted(twice))} is given twice.")
    return {**values, **given}


def signature(operation: Operation, returns: Any) -> inspect.Signature:
    """The signature that the registry gives an operation."""
    params = [
        inspect.Parameter(
            param.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if param.required else param.default,
            annotation=param.type,
        )
        for param in operation.params
    ]
    return inspect.Signature(params, return_annotation=returns)


def description(operation: Operation) -> str:
    """What an operation is for, as a model reads it."""
    return "\n\n".join(part for part in (operation.help, operation.details) if part)


def docstring(operation: Operation) -> str:
    """The whole docstring: what it is for, and each argument."""
    if not operation.params:
        return description(operation)
    described = "\n".join(f"    {param.name}: {param.help}" for param in operation.params)
    return f"{description(operation)}\n\nArgs:\n{described}"


def _operation(tool: Tool) -> Operation:
    operation: Operation = vars(tool)["operation"]
    return operation
