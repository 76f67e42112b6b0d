"""Sphinx builds these pages with MyST; ``make docs``."""

from throughline_nb import __version__

project = "throughLine"
author = "throughLine contributors"
copyright = "2026, throughLine contributors"  # noqa: A001 - Sphinx names it so
version = release = __version__

extensions = ["myst_nb", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # the tests run them; here they are read
exclude_patterns = ["build", "pictures/README.md"]
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "throughLine"
html_static_path: list[str] = []
html_show_sourcelink = False
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True
