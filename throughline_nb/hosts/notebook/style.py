"""The style of what is shown: Jupyter's own colours, so that it follows light and dark.

Each output carries it, since a saved notebook shows outputs one by one. An untrusted notebook drops
``<style>``; what is shown is built on elements that read well without. Where a host has none of
Jupyter's variables, as VS Code, text has the colour that the host gives it.
"""

from typing import Final

JSON: Final = "application/vnd.throughline+json"
"""Media type of the data beside it; what a cell shows under it is ours, no output of the cell."""

_STATES: Final = {
    "verified": "var(--jp-success-color1, green)",
    "done": "var(--jp-success-color1, green)",
    "doing": "var(--jp-brand-color1, royalblue)",
    "unverified": "var(--jp-ui-font-color1, currentColor)",
    "todo": "var(--jp-ui-font-color1, currentColor)",
    "retracted": "var(--jp-ui-font-color1, currentColor)",
    "not-read": "var(--jp-warn-color1, darkorange)",
    "stale": "var(--jp-warn-color1, darkorange)",
    "suspect": "var(--jp-warn-color1, darkorange)",
    "blocked": "var(--jp-error-color1, crimson)",
    "figures-missing": "var(--jp-error-color1, crimson)",
}

_BASE: Final = """
.tl{color:var(--jp-ui-font-color1,currentColor);font-size:13px;line-height:1.45;max-width:900px;
font-family:var(--jp-ui-font-family,system-ui,sans-serif);color-scheme:light dark}
.tl-card{border:1px solid var(--jp-border-color2,currentColor);border-radius:8px;padding:16px 20px}
.tl h3{font-size:16px;font-weight:650;margin:0 0 2px}
.tl h4{font-size:13px;font-weight:600;margin:18px 0 4px}
.tl p{margin:0 0 6px}
.tl small{font-size:12px;color:color-mix(in srgb,var(--jp-ui-font-color0,currentColor) 66%,
var(--jp-layout-color1,transparent))}
.tl ul{list-style:none;margin:0!important;padding:0!important}
.tl li{padding:5px 8px 5px 50px;position:relative;text-align:left}
.tl li>code:first-child{position:absolute;left:4px;top:6px;background:none;padding:0}
.tl code{font-size:11px;font-family:var(--jp-code-font-family,monospace)}
.tl li.tl-dim{opacity:.72}
.tl li.tl-now b{font-weight:650}
.tl em{font-style:normal;font-size:11px;padding:1px 8px;border-radius:9px;white-space:nowrap}
.tl .tl-trouble{color:color-mix(in srgb,var(--jp-warn-color1,darkorange) 60%,
var(--jp-ui-font-color0,currentColor))}
.tl table{border-collapse:collapse;margin:4px 0}
.tl tr{background:none!important}
.tl td,.tl th{text-align:left!important;font-weight:400;padding:3px 12px 3px 0;vertical-align:top}
.tl pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:12px;margin:4px 0;
font-family:var(--jp-code-font-family,monospace);color:inherit;background:none}
.tl ins{text-decoration:none;font-weight:600;
background:color-mix(in srgb,var(--jp-success-color1,green) 24%,transparent)}
.tl del{background:color-mix(in srgb,var(--jp-error-color1,crimson) 20%,transparent)}
.tl em.tl-verified,.tl em.tl-done{background:none!important;padding:1px 2px}
.tl hr{border:0;border-top:1px solid var(--jp-border-color2,currentColor);margin:12px 0 8px}
"""

CSS: Final = "".join(
    [
        *_BASE.splitlines(),
        *(
            f".tl em.tl-{state}{{color:color-mix(in srgb,{colour} 62%,"
            "var(--jp-ui-font-color0,currentColor));"
            f"background:color-mix(in srgb,{colour} 12%,transparent)}}"
            for state, colour in _STATES.items()
        ),
    ]
)
"""Rules for what stands within ``class="tl"``."""

SHAPES: Final = {
    "verified": "●",
    "done": "●",
    "doing": "●",
    "unverified": "○",
    "not read": "○",
    "todo": "○",
    "stale": "■",
    "suspect": "■",
    "blocked": "◆",
    "figures missing": "◆",
    "retracted": "–",
}
"""The shape beside the word and the colour of a state."""
