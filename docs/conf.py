"""Sphinx builds these pages with MyST; ``make docs``.

The notebooks are copied in and run, in a home of their own, so that the pages show what they give.
"""

import os
import shutil
import tempfile
from pathlib import Path

from throughline_nb import __version__

HERE = Path(__file__).parent
NOTEBOOKS = HERE / "notebooks"

shutil.rmtree(NOTEBOOKS, ignore_errors=True)
shutil.copytree(HERE.parent / "notebooks", NOTEBOOKS)
os.environ["THROUGHLINE_HOME"] = str(Path(tempfile.mkdtemp(prefix="throughline-docs-")) / "home")

project = "throughLine"
author = "throughLine contributors"
copyright = "2026, throughLine contributors"  # noqa: A001 - Sphinx names it so
version = release = __version__

extensions = ["myst_nb", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
exclude_patterns = ["build", "pictures/README.md"]
suppress_warnings = ["misc.highlighting_failure", "mystnb.unknown_mime_type"]

html_theme = "furo"
html_title = "throughLine"
html_static_path: list[str] = []
html_show_sourcelink = False
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True
