"""One function with one docstring gives parsing, help, schema and validation."""

from typing import Literal

import pytest

from throughline_nb.engine.operations import COMMANDS, TOOLS
from throughline_nb.engine.registry import Registry, UsageError

ORDER = """
start open list off rename goal constraint accept reject status log diff undo
recall handoff share sync forget purge doctor help
"""


@pytest.fixture
def registry():
    made = Registry("tool")

    @made.add("project")
    def paint(
        run,
        wall: str,
        colour: Literal["", "red", "blue"] = "",
        ids: str | list[str] = "",
        n: int = 3,
    ):
        """Paint a wall,
        and only one.

        Details follow.

        Args:
            wall: Which wall. It
                has a name.
            colour: What colour.
            ids: Which ids.
            n: How often.
        """

    return made


def test_what_is_read_off_a_function(registry):
    paint = registry.get("paint")
    assert (paint.help, paint.details) == ("Paint a wall, and only one.", "Details follow.")
    assert paint.usage == "paint <wall> [colour] [ids] [n]"
    assert paint.params[0].help == "Which wall. It has a name."
    assert paint.schema() == {
        "type": "object",
        "properties": {
            "wall": {"type": "string", "description": "Which wall. It has a name."},
            "colour": {"type": "string", "enum": ["red", "blue"], "description": "What colour."},
            "ids": {
                "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
                "description": "Which ids.",
            },
            "n": {"type": "integer", "description": "How often."},
        },
        "required": ["wall"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"wall": "north"}, ["north", "", "", 3]),
        ({"wall": "north", "colour": "RED ", "n": "4"}, ["north", "red", "", 4]),
        ({"wall": "north", "colour": None, "ids": ["F1"]}, ["north", "", ["F1"], 3]),
        ({"wall": 7}, ["7", "", "", 3]),
    ],
)
def test_arguments_are_taken_as_models_write_them(registry, given, expected):
    assert list(registry.get("paint").arguments(given).values()) == expected


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "paint needs wall: Which wall. It has a name."),
        ({"wall": "x", "color": "red"}, "paint has no argument 'color'; did you mean colour?"),
        ({"wall": "x", "zz": 1}, "paint has no argument 'zz'; allowed: wall, colour, ids, n."),
        ({"wall": "x", "colour": "green"}, "paint: colour was 'green'; allowed: red, blue."),
        ({"wall": "x", "n": "many"}, "paint: n was 'many'; allowed: a whole number."),
        (
            {"wall": "x", "ids": {"a": 1}},
            "paint: ids was \"{'a': 1}\"; allowed: text, or a list of texts.",
        ),
    ],
)
def test_what_does_not_fit_is_one_line(registry, given, told):
    with pytest.raises(UsageError) as error:
        registry.get("paint").arguments(given)
    assert str(error.value) == told


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("log", {"n": 0}),
        ("log 5", {"n": 5}),
        ("goal  Compare  seven runtimes ", {"text": "Compare  seven runtimes"}),
    ],
)
def test_a_typed_line(line, expected):
    name, _, rest = line.partition(" ")
    assert COMMANDS.get(name).parsed(rest) == expected


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("log many", "log: n was 'many'; allowed: a whole number."),
        ("list everything", "list takes no arguments; 'everything' was given."),
        ("goal", "goal needs text: The goal, one paragraph."),
    ],
)
def test_a_typed_line_that_does_not_fit(line, told):
    name, _, rest = line.partition(" ")
    with pytest.raises(UsageError) as error:
        COMMANDS.get(name).parsed(rest)
    assert str(error.value) == told


@pytest.mark.parametrize("operation", [*COMMANDS, *TOOLS], ids=lambda operation: operation.name)
def test_every_operation_explains_itself(operation):
    assert operation.help.endswith(".")
    assert len(operation.help) < 160
    assert operation.needs in {"", "chat", "project", "recall"}
    for param in operation.params:
        assert param.help.endswith(".")
        assert operation.schema()["properties"][param.name]["description"] == param.help


def test_the_commands_stand_in_the_order_of_the_design():
    names = [operation.name for operation in COMMANDS]
    assert [name for name in ORDER.split() if name in names] == names
