"""The panel's style: Jupyter's colours and variables alone, so that it follows light and dark.

Sizes and mixtures are those of the design: 16/650 for the title, 15 for the goal, 13/1.45 for the
body, 12 for what is said beside it, 11 for chips and ids.
"""

from typing import Final

from throughline_nb.hosts.notebook.style import CSS

_TEXT: Final = "var(--jp-ui-font-color0,currentColor)"
_PAGE: Final = "var(--jp-layout-color1,transparent)"
_LINE: Final = "var(--jp-border-color2,currentColor)"


def _mixed(colour: str, percent: int, other: str = _TEXT) -> str:
    return f"color-mix(in srgb,{colour} {percent}%,{other})"


_MUTED: Final = _mixed(_TEXT, 66, _PAGE)
_WARN: Final = _mixed("var(--jp-warn-color1,darkorange)", 60)
_ERROR: Final = _mixed("var(--jp-error-color1,crimson)", 66)
_BRAND: Final = "var(--jp-brand-color1,royalblue)"

_RULES: Final = f"""
.tl-panel{{max-width:none;border:1px solid {_LINE};border-radius:8px;background:{_PAGE};
container-type:inline-size;overflow:visible;margin:2px 0;
--jp-widgets-inline-height:auto;--jp-widgets-color:var(--jp-ui-font-color1,currentColor)}}
body[data-jp-theme-light=true] .tl-panel{{color-scheme:light}}
body[data-jp-theme-light=false] .tl-panel{{color-scheme:dark}}
.tl-panel .jupyter-widgets{{margin:0;overflow:visible}}
.tl-panel .widget-html,.tl-panel .widget-html-content{{line-height:1.45;height:auto;
font-size:13px;overflow:visible;color:inherit}}
.tl-panel .widget-vbox,.tl-panel .widget-hbox,.tl-panel .widget-box{{overflow:visible}}
.tl-panel .tl-style,.tl-panel .tl-hidden{{display:none}}
.tl-panel h2{{font-size:16px;font-weight:650;margin:0;display:inline-block}}
.tl-panel h3{{font-size:13px;font-weight:600;margin:0}}
.tl-panel h3 small{{font-weight:400;margin-left:4px}}
.tl-panel p{{margin:0}}
.tl-panel small,.tl-panel .tl-empty{{font-size:12px;color:{_MUTED}}}
.tl-panel .tl-empty{{font-size:13px}}
.tl-panel small.tl-trouble,.tl-panel .tl-header b{{color:{_WARN};font-weight:500}}
.tl-panel code{{font-size:11px;font-family:var(--jp-code-font-family,monospace);background:none;
color:inherit;padding:0}}
.tl-panel .tl-text code{{background:var(--jp-layout-color2,transparent);padding:0 4px;
border-radius:3px;font-size:12px}}
.tl-panel a{{color:inherit;text-decoration:underline;text-decoration-color:{_LINE};
text-underline-offset:2px}}
.tl-panel .jupyter-button{{width:auto;height:auto;min-height:26px;line-height:1.3;font-size:12px;
font-weight:500;padding:4px 10px;border:1px solid {_LINE};border-radius:6px;background:{_PAGE};
color:var(--jp-ui-font-color0,inherit);box-shadow:none;white-space:nowrap;text-overflow:clip}}
.tl-panel .jupyter-button:hover:enabled{{background:var(--jp-layout-color2,transparent);
box-shadow:none}}
.tl-panel .jupyter-button:focus-visible,.tl-panel input:focus-visible,
.tl-panel textarea:focus-visible,.tl-panel select:focus-visible{{outline:2px solid {_BRAND};
outline-offset:1px}}
.tl-panel .jupyter-button:focus:not(:focus-visible){{outline:none}}
.tl-panel .jupyter-button.tl-tab:hover:enabled{{background:none;
color:var(--jp-ui-font-color0,inherit)}}
.tl-panel .jupyter-button:disabled{{opacity:.55}}
.tl-panel .jupyter-button.tl-primary{{background:var(--jp-brand-color0,royalblue);color:white;
border-color:transparent}}
.tl-panel .jupyter-button.tl-primary:hover:enabled{{background:var(--jp-brand-color1,royalblue)}}
.tl-panel .jupyter-button.tl-quiet{{border-color:transparent;background:none;padding:2px 6px;
min-height:22px;color:{_MUTED}}}
.tl-panel .jupyter-button.tl-quiet:hover:enabled{{color:inherit;border-color:{_LINE}}}
.tl-panel .jupyter-button.tl-remove{{border-color:transparent;background:none;color:{_ERROR};
margin-left:auto}}
.tl-panel .tl-header{{padding:16px 20px 4px;align-items:center;justify-content:space-between;
gap:12px}}
.tl-panel .tl-header>.widget-html{{flex:1 1 auto}}
.tl-panel .tl-bar{{display:inline-flex;gap:2px;margin:0 8px 0 12px;vertical-align:middle}}
.tl-panel .tl-bar i{{width:16px;height:5px;border-radius:2px;
background:var(--jp-layout-color2,#ddd);
border:1px solid {_LINE};box-sizing:border-box}}
.tl-panel .tl-bar i.tl-done{{background:var(--jp-success-color1,green);border-color:transparent}}
.tl-panel .tl-bar i.tl-doing{{background:{_BRAND};border-color:transparent}}
.tl-panel .tl-bar i.tl-blocked{{background:var(--jp-error-color1,crimson);
border-color:transparent}}
.tl-panel .tl-tabs{{padding:4px 12px 0;gap:4px;border-bottom:1px solid {_LINE};flex-wrap:wrap}}
.tl-panel .jupyter-button.tl-tab{{border:0;border-bottom:2px solid transparent;border-radius:0;
background:none;padding:8px;font-size:13px;color:{_MUTED}}}
.tl-panel .jupyter-button.tl-tab.tl-open{{border-bottom-color:{_BRAND};
color:var(--jp-ui-font-color0,inherit);font-weight:600}}
.tl-panel .tl-told,.tl-panel .tl-warning,.tl-panel .tl-notice{{font-size:12px;padding:8px 10px;
border-radius:6px}}
.tl-panel .tl-told{{margin:10px 20px 0;background:{_mixed(_BRAND, 8, "transparent")}}}
.tl-panel .tl-warning{{background:{_mixed("var(--jp-error-color1,crimson)", 12, "transparent")};
color:{_ERROR};margin:0}}
.tl-panel>.widget-html .tl-warning{{margin:10px 20px 0}}
.tl-panel .tl-notice{{background:{_mixed(_BRAND, 10, "transparent")};align-items:center;gap:8px}}
.tl-panel .tl-notice>.widget-html{{flex:1 1 200px;min-width:0;overflow-wrap:anywhere}}
.tl-panel .tl-editor p+p{{margin-top:8px}}
.tl-panel .tl-body{{align-items:stretch;min-width:0}}
.tl-panel .tl-main{{flex:1 1 auto;min-width:0;padding:18px 20px 24px;gap:22px}}
.tl-panel .tl-side{{flex:0 0 328px;box-sizing:border-box;padding:18px 20px 24px;gap:26px;
border-left:1px solid {_LINE};background:{_mixed("var(--jp-layout-color2,#eee)", 40, _PAGE)};
border-bottom-right-radius:8px}}
.tl-panel .tl-page{{padding:18px 20px 24px;gap:10px}}
.tl-panel .tl-head{{justify-content:space-between;align-items:center;margin-bottom:2px}}
.tl-panel .tl-proposals:not(:has(.tl-row)){{display:none}}
.tl-panel .tl-proposals .tl-head{{display:none}}
.tl-panel .tl-goal .tl-said{{font-size:15px;line-height:1.5;max-width:62ch}}
.tl-panel .tl-row{{display:grid;align-items:start;column-gap:8px;padding:4px 0;min-width:0}}
.tl-panel .tl-row>.widget-html,.tl-panel .tl-row>.widget-html>.widget-html-content{{
display:contents}}
.tl-panel .tl-row code{{grid-column:2;padding-top:2px;color:{_MUTED}}}
.tl-panel .tl-row .tl-text{{grid-column:3;min-width:0;overflow-wrap:anywhere}}
.tl-panel .tl-row .tl-text small{{display:block;overflow-wrap:anywhere}}
.tl-panel .tl-row .tl-text small>code,.tl-panel .tl-row .tl-text>code{{color:inherit}}
.tl-panel .tl-row .tl-state{{grid-column:4;padding-left:8px}}
.tl-panel .tl-row>.jupyter-button{{justify-self:end;grid-row:1}}
.tl-panel .tl-row.tl-finding,.tl-panel .tl-row.tl-step{{column-gap:0;
grid-template-columns:26px 34px minmax(0,1fr) 112px 72px}}
.tl-panel .tl-row.tl-finding>.jupyter-button,.tl-panel .tl-row.tl-step>.jupyter-button{{
grid-column:5}}
.tl-panel .tl-row .tl-g{{grid-column:1;width:15px;text-align:center;font-size:10px;
line-height:20px;
background:none}}
.tl-panel em{{font-style:normal;font-size:11px;padding:1px 8px;border-radius:9px;
white-space:nowrap;display:inline-block}}
.tl-panel .tl-finding em.tl-verified,.tl-panel .tl-finding em.tl-retracted{{background:none;
color:{_MUTED}}}
.tl-panel .tl-g.tl-verified{{color:var(--jp-success-color1,green)}}
.tl-panel .tl-g.tl-unverified,.tl-panel .tl-g.tl-retracted{{color:{_MUTED}}}
.tl-panel .tl-g.tl-not-read,.tl-panel .tl-g.tl-stale{{color:{_WARN}}}
.tl-panel .tl-g.tl-figures-missing{{color:var(--jp-error-color1,crimson)}}
.tl-panel .tl-finding:has(.tl-g.tl-figures-missing) small.tl-trouble{{color:{_ERROR}}}
.tl-panel .tl-row.tl-dim .tl-text,.tl-panel .tl-row.tl-dim .widget-label-basic{{color:{_MUTED}}}
.tl-panel .tl-row.tl-now .widget-label-basic{{font-weight:600}}
.tl-panel .tl-step>.widget-checkbox{{grid-column:1/4;grid-row:1;width:auto;height:auto;
min-width:0}}
.tl-panel .tl-step>.widget-html code{{grid-row:1;pointer-events:none}}
.tl-panel .tl-step>.widget-html .tl-state{{grid-row:1}}
.tl-panel .tl-step .tl-below{{grid-column:3/5;grid-row:2}}
.tl-panel .tl-step .widget-label-basic{{display:grid;grid-template-columns:18px 1fr;
column-gap:42px;
align-items:start;white-space:normal;line-height:1.45;height:auto;font-size:13px;margin:0;
color:inherit;width:100%}}
.tl-panel .tl-step .widget-label-basic span{{white-space:normal;overflow-wrap:anywhere}}
.tl-panel .tl-step input[type=checkbox]{{margin:2px 0 0;align-self:start;width:15px;height:15px;
accent-color:var(--jp-success-color1,green)}}
.tl-panel .tl-row.tl-side-row{{grid-template-columns:0 34px minmax(0,1fr) auto;
column-gap:0;padding:5px 0}}
.tl-panel .tl-side-row>.jupyter-button{{grid-column:4}}
.tl-panel .tl-row.tl-question{{grid-template-columns:0 34px minmax(0,1fr) auto;
column-gap:0;padding:5px 0 9px}}
.tl-panel .tl-question .tl-text{{grid-column:3/5}}
.tl-panel .tl-question>.tl-field{{grid-column:1/5;padding-top:4px}}
.tl-panel .tl-question>.jupyter-button{{grid-row:auto;justify-self:start;grid-column:1/4;
margin-top:5px}}
.tl-panel .tl-question>.jupyter-button.tl-quiet{{justify-self:end;grid-column:4}}
.tl-panel .tl-row.tl-proposal{{grid-template-columns:minmax(0,1fr) auto auto auto;
align-items:center;padding:10px 14px;border:1px solid {_mixed(_BRAND, 45, _PAGE)};border-radius:8px;
background:{_mixed(_BRAND, 6, _PAGE)};margin-bottom:8px}}
.tl-panel .tl-row.tl-proposal .tl-text{{grid-column:1;grid-row:1}}
.tl-panel .tl-filter .tl-field{{max-width:420px;margin:2px 0 8px}}
.tl-panel .tl-row.tl-health{{grid-template-columns:126px 42px minmax(0,1fr) auto;
align-items:center;
border-bottom:1px solid {_LINE};padding:6px 0}}
.tl-panel .tl-health .tl-state{{grid-column:1;grid-row:1;padding-left:0}}
.tl-panel .tl-health .tl-text small{{display:inline;margin-left:8px}}
.tl-panel .tl-health>.jupyter-button{{grid-column:4}}
.tl-panel .tl-row.tl-passage,.tl-panel .tl-row.tl-project{{
grid-template-columns:minmax(0,1fr) auto;
border-top:1px solid {_LINE};padding:8px 0}}
.tl-panel .tl-passage .tl-text,.tl-panel .tl-project .tl-text{{grid-column:1;max-width:76ch}}
.tl-panel .tl-passage .tl-text small{{display:inline}}
.tl-panel .tl-passage>.jupyter-button,.tl-panel .tl-project>.jupyter-button{{grid-column:2}}
.tl-panel mark{{color:inherit;border-radius:3px;padding:0 1px;
background:{_mixed("var(--jp-warn-color1,darkorange)", 26, "transparent")}}}
.tl-panel .tl-actions{{gap:8px;align-items:center;flex-wrap:wrap;margin-top:4px}}
.tl-panel .tl-more{{align-self:flex-start}}
.tl-panel .tl-editor{{border:1px solid {_BRAND};border-radius:8px;padding:12px 14px;gap:10px;
margin:6px 0;
box-shadow:0 2px 8px {_mixed("black", 14, "transparent")};background:{_PAGE}}}
.tl-panel .tl-field.jupyter-widgets{{width:auto;height:auto;display:flex;flex-direction:column;
align-items:stretch}}
.tl-panel .jupyter-widgets>.widget-label,.tl-panel label.widget-label{{width:auto;
text-align:left;font-size:12px;line-height:1.4;height:auto;color:{_MUTED};margin:0 0 3px;
justify-content:flex-start}}
.tl-panel .tl-field input[type=text],.tl-panel .tl-field textarea,
.tl-panel .tl-select select{{font-family:var(--jp-ui-font-family,system-ui,sans-serif);
width:100%;box-sizing:border-box;font-size:13px;line-height:1.45;padding:5px 8px;height:auto;
border:1px solid var(--jp-border-color1,currentColor);border-radius:6px;background:{_PAGE};
color:var(--jp-ui-font-color0,inherit)}}
.tl-panel .tl-field textarea{{resize:vertical;min-height:44px;flex:none}}
.tl-panel input::placeholder,.tl-panel textarea::placeholder{{color:{_MUTED};opacity:1}}
.tl-panel .tl-choice.jupyter-widgets{{width:auto;height:auto;display:flex;flex-direction:column;
align-items:flex-start}}
.tl-panel .tl-choice .jupyter-button{{margin:0 -1px 0 0;border-radius:0;min-width:0}}
.tl-panel .tl-choice .jupyter-button.mod-active{{background:var(--jp-layout-color2,transparent);
font-weight:650;box-shadow:none;color:var(--jp-ui-font-color0,inherit)}}
.tl-panel .tl-asked{{gap:12px;align-items:flex-end;flex-wrap:wrap}}
.tl-panel .tl-asked>.tl-field{{flex:1 1 240px}}
.tl-panel .tl-history .tl-versions{{flex:0 0 40%;box-sizing:border-box;min-width:0;
padding:18px 20px 24px;
gap:8px;border-right:1px solid {_LINE};
background:{_mixed("var(--jp-layout-color2,#eee)", 40, _PAGE)};border-bottom-left-radius:8px}}
.tl-panel .tl-history .tl-version{{flex:1 1 auto;min-width:0;padding:18px 20px 24px;gap:12px;
align-items:flex-start}}
.tl-panel .tl-history .tl-version>*{{max-width:100%}}
.tl-panel .tl-history .tl-version>.tl-asked,.tl-panel .tl-history .tl-version>.widget-html{{
align-self:stretch}}
.tl-panel .tl-select.jupyter-widgets{{width:auto;height:auto;display:flex;flex-direction:column}}
.tl-panel .tl-select select{{font-family:var(--jp-code-font-family,monospace);font-size:12px;
padding:4px;flex:none}}
.tl-panel .tl-select option{{padding:2px 4px;border-radius:4px;white-space:pre}}
.tl-panel .tl-change{{border-bottom:1px solid {_LINE};padding:8px 0}}
.tl-panel .tl-change:last-child{{border-bottom:0}}
.tl-panel ins,.tl-panel del{{border-radius:3px;padding:0 2px;font-weight:400}}
.tl-panel ins{{text-decoration:underline;
background:{_mixed("var(--jp-success-color1,green)", 18, "transparent")}}}
.tl-panel del{{background:{_mixed("var(--jp-error-color1,crimson)", 14, "transparent")}}}
.tl-panel .tl-was .tl-card{{border-style:dashed}}
.tl-panel .tl-was h3{{font-size:15px}}
.tl-panel .tl-handoff{{border:1px dashed {_LINE};border-radius:8px;padding:12px 16px}}
.tl-panel .tl-handoff h1{{font-size:16px;font-weight:650;margin:0 0 6px}}
.tl-panel .tl-handoff h2{{font-size:14px;margin:14px 0 4px;display:block}}
.tl-panel .tl-handoff h3{{margin:10px 0 2px}}
.tl-panel .tl-handoff ul{{list-style:disc;padding-left:18px}}
.tl-panel .tl-page ul{{margin:4px 0 8px;padding:0;list-style:none}}
.tl-panel .tl-page li{{padding:2px 0}}
.tl-panel .tl-page li>code:first-child{{position:static}}
.tl-panel .tl-card-inside{{border:1px solid {_LINE};border-radius:8px;padding:12px 14px;gap:8px}}
.tl-panel pre{{max-height:340px;overflow:auto;border:1px solid {_LINE};
border-radius:6px;padding:8px}}
@container (max-width:820px){{
.tl-panel .tl-body{{flex-direction:column}}
.tl-panel .tl-side,.tl-panel .tl-history .tl-versions{{flex:0 0 auto;border-left:0;border-right:0;
border-top:1px solid {_LINE};border-radius:0 0 8px 8px}}
.tl-panel .tl-history .tl-versions{{border-top:0;border-bottom:1px solid {_LINE};
border-radius:0}}}}
"""

# An output below brings the rules of its own page again; the panel's must weigh more than those.
PANEL: Final = CSS + "".join(_RULES.splitlines()).replace(".tl-panel", ".tl.tl-panel")
"""Rules for the panel, and for what it shows of a ledger."""
