"""The editors: how each is installed, asked, and named in the fixtures.

`editors.json` lists the configurations. Each is one command over a folder of Markdown files, which
it saves in place, as the editor's own command line does; editors without one are driven by a few
lines in `editors/`. npm packages are pinned in `package.json` and its lock, Python packages in
`requirements.txt`; both are installed below this folder, apart from the project's own.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping
from pathlib import Path

import msgspec

HERE = Path(__file__).parent
SCRIPTS = HERE / ".venv" / ("Scripts" if os.name == "nt" else "bin")
NODE_SCRIPTS = HERE / "node_modules" / ".bin"


class Configuration(msgspec.Struct, frozen=True):
    """One editor in one configuration.

    Attributes:
        name: What fixtures and tests call it.
        tool: Package that does the work.
        command: Its arguments; ``FOLDER`` stands for a folder of Markdown files, ``FILE`` for each
            of them in turn.
        named: Whether the format's design names the tool; chains are drawn from these.
        packages: Other packages that take part.
        exits: Exit codes that mean that the files were saved.
    """

    name: str
    tool: str
    command: tuple[str, ...]
    named: bool = True
    packages: tuple[str, ...] = msgspec.field(default=(), name="with")
    exits: tuple[int, ...] = (0,)


def configurations() -> tuple[Configuration, ...]:
    """All configurations, in the order of `editors.json`."""
    return msgspec.json.decode((HERE / "editors.json").read_bytes(), type=tuple[Configuration, ...])


def versions() -> dict[str, str]:
    """The pinned version of every package."""
    pins: dict[str, str] = json.loads((HERE / "package.json").read_text("utf-8"))["dependencies"]
    requirements = (HERE / "requirements.txt").read_text("utf-8")
    return pins | dict(re.findall(r"^(\S+)==(\S+)$", requirements, re.MULTILINE))


def install() -> None:
    """Install what is pinned, unless it is there."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        sys.exit("The editors need node 20 or newer and npm on PATH; nothing was changed.")
    _once("npm", HERE / "package-lock.json", HERE / "node_modules", _install_node)
    _once("pip", HERE / "requirements.txt", HERE / ".venv", _install_python)


def save(configuration: Configuration, texts: Mapping[str, str]) -> dict[str, str]:
    """Open each of the texts in the editor and save it.

    Args:
        configuration: The editor.
        texts: Texts by name; names are file names without the suffix.

    Returns:
        What the editor wrote, by the same names.

    Raises:
        RuntimeError: The editor failed.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {key: folder / f"{key}.md" for key in texts}
        for key, file in files.items():
            file.write_text(texts[key], encoding="utf-8", newline="\n")
        if "FILE" in configuration.command:
            for file in files.values():
                _run(configuration, folder, file)
        else:
            _run(configuration, folder, folder)
        return {key: file.read_bytes().decode("utf-8") for key, file in files.items()}


def _run(configuration: Configuration, folder: Path, file: Path) -> None:
    words = (
        word.replace("FOLDER", folder.as_posix()).replace("FILE", str(file))
        for word in configuration.command
    )
    program, *arguments = words
    done = subprocess.run(
        [_find(program), *arguments],
        cwd=HERE,
        env=os.environ | {"NO_COLOR": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode not in configuration.exits:
        raise RuntimeError(f"{configuration.name} failed: {done.stderr or done.stdout}")


def _find(program: str) -> str:
    if program == "pandoc":
        found = sorted((HERE / ".venv").rglob("pypandoc/files/pandoc*"))
        return str(found[0])
    path = os.pathsep.join([str(SCRIPTS), str(NODE_SCRIPTS), os.environ["PATH"]])
    found_program = shutil.which(program, path=path)
    if found_program is None:
        raise RuntimeError(f"{program} is not installed")
    return found_program


def _once(name: str, pins: Path, target: Path, run) -> None:
    ready = target / ".corpora-ready"
    wanted = pins.read_text("utf-8")
    if not ready.exists() or ready.read_text("utf-8") != wanted:
        print(f"installing with {name} …", flush=True)
        run()
        ready.write_text(wanted, encoding="utf-8", newline="\n")


def _install_node() -> None:
    npm = shutil.which("npm")
    subprocess.run([npm, "ci", "--ignore-scripts", "--loglevel=error"], cwd=HERE, check=True)


def _install_python() -> None:
    venv.EnvBuilder(clear=True, with_pip=True).create(HERE / ".venv")
    python = SCRIPTS / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        + ["-r", HERE / "requirements.txt"],
        check=True,
    )
