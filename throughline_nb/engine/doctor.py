"""``/tl doctor``: every problem and its cure in one line, then the facts that a report needs."""

import os
import platform
from typing import TYPE_CHECKING

import msgspec

from throughline_nb import __version__
from throughline_nb.chat import ChatKey
from throughline_nb.errors import ThroughLineError
from throughline_nb.store import gitrun
from throughline_nb.store.home import HOME_FORMAT, Home
from throughline_nb.store.legacy import waiting
from throughline_nb.store.problems import Problem, git_problems
from throughline_nb.store.projects import Project
from throughline_nb.store.settings import Settings
from throughline_nb.store.surroundings import identity_problems, kept_out

if TYPE_CHECKING:
    from throughline_nb.engine.session import Engine


def report(
    engine: "Engine", project: Project | None, key: ChatKey | None
) -> tuple[list[str], list[str]]:
    """Check everything.

    Args:
        engine: The engine.
        project: The project to look into; all of them where it is None.
        key: The chat whose settings are shown, or None.

    Returns:
        Problems with their cures, and facts; a line each.
    """
    git = git_problems()
    problems = [_line("", problem) for problem in git + _home(engine.home)]
    problems += [_line("", problem) for problem in engine.host_problems()]
    problems += engine.loaded(key).problems
    if not git:
        problems += [_line("", problem) for problem in identity_problems()]
        for slug in [project.slug] if project else engine.projects.names():
            problems += _project(engine, slug)
    problems += [
        f"{slug} is of the earlier plugin's format and was not imported: read the log in "
        f"{engine.home.logs}, then say /tl open {slug}."
        for slug in waiting(engine.home)
    ]
    shared = [] if git else _shared(engine, project)
    return problems, [*_facts(engine, git=not git), *shared, *_settings(engine, key)]


def _shared(engine: "Engine", project: Project | None) -> list[str]:
    from throughline_nb.store.sharing import health  # noqa: PLC0415 - rarely needed, not small

    names = [project.slug] if project else engine.projects.names()
    lines = (health.facts(Project(engine.home, slug)) for slug in names)
    return [line for line in lines if line]


def _project(engine: "Engine", slug: str) -> list[str]:
    try:
        # Opening heals what can be healed; what stands before that is what the user wants to know.
        found = Project(engine.home, slug).problems()
    except ThroughLineError as error:
        return [f"{slug}: {error}"]
    return [_line(f"{slug}: ", problem) for problem in dict.fromkeys(found)]


def _home(home: Home) -> list[Problem]:
    if home.format > HOME_FORMAT:
        return [Problem(f"{home.path} is of a newer format, so it is only read", "upgrade")]
    if home.path.exists() and not os.access(home.path, os.W_OK):
        return [Problem(f"{home.path} cannot be written", "give yourself the right to write there")]
    return []


def _line(prefix: str, problem: Problem) -> str:
    return f"{prefix}{problem.what}: {problem.cure}."


def _facts(engine: "Engine", *, git: bool) -> list[str]:
    version = ".".join(map(str, gitrun.version())) if git else "none"
    names = engine.projects.names()
    python = f"Python {platform.python_version()}"
    return [
        f"throughLine {__version__}, {python}, git {version}, {platform.system()}.",
        f"Home: {engine.home.path} ({len(names)} project{'s' * (len(names) != 1)}).",
        *kept_out(),
    ]


def _settings(engine: "Engine", key: ChatKey | None) -> list[str]:
    loaded = engine.loaded(key)
    lines = ["Settings in force:"]
    for field in msgspec.structs.fields(Settings):
        value = getattr(loaded.settings, field.name)
        shown = {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value
        shown = ", ".join(shown) if isinstance(shown, tuple) else shown
        shown = "as recorded at install" if shown == "" else shown
        lines.append(f"  {field.name} = {shown} ({loaded.origin.get(field.name, 'default')})")
    return lines
