"""Every command and tool: the one place from which hosts take them.

Importing the modules enters their functions into the registries, in the order of the help.
"""

# isort: off
from throughline_nb.engine import lifecycle
from throughline_nb.engine import commands
from throughline_nb.engine import recalling
from throughline_nb.engine import handoff
from throughline_nb.engine import sharing
from throughline_nb.engine import upkeep
from throughline_nb.engine import tools

# isort: on
from throughline_nb.engine.registry import COMMANDS, TOOLS

__all__ = [
    "COMMANDS",
    "TOOLS",
    "commands",
    "handoff",
    "lifecycle",
    "recalling",
    "sharing",
    "tools",
    "upkeep",
]
