"""axe-core, run in a page: what it finds wrong for people who cannot see or use a mouse."""

from functools import cache
from importlib.resources import files


@cache
def _source():
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def violations(page, within, *but):
    """What axe-core finds, a line each; empty where all is well.

    Args:
        page: The page.
        within: Selector of the part that is looked at.
        but: Rules that do not hold there: an output among others has no outline of its own.
    """
    page.evaluate(f"() => {{ if (!window.axe) {{ {_source()} }} }}")
    rules = {rule: {"enabled": False} for rule in but}
    found = page.evaluate(
        "([within, rules]) => axe.run(within, {resultTypes: ['violations'], rules})",
        [within, rules],
    )
    return [
        f"{each['id']}: {node['html'][:160]} ({node['failureSummary'][:300]})"
        for each in found["violations"]
        for node in each["nodes"]
    ]
