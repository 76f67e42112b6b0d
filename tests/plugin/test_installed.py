"""From the installer to the first message: what it hands over, built as LM Studio builds it.

LM Studio's installer bundles a plugin inside its own folder, where ``package.json`` says how node
reads the bundle; the other tests here bundle it elsewhere.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .standin import Chat, Host
from .toolchain import HERE, PLUGIN, node

# `createEsBuildArgs` with `production` (`esbuildArgs.ts` of lms-es-plugin-runner), nothing else.
ESBUILD = (
    "--platform=node",
    "--target=node18.16.0",
    "--sourcemap=inline",
    "--tree-shaking=true",
    "--bundle",
    "--packages=external",
    '--define:process.env.NODE_ENV="production"',
)


def built(folder: Path, packages: Path) -> Path:
    """Do to an installed plugin what LM Studio's ``NodePluginInstaller`` does."""
    modules = folder / "node_modules"
    if modules.is_dir():
        modules.rmdir()  # the stand-in for lms leaves it empty
    try:
        modules.symlink_to(packages / "node_modules", target_is_directory=True)
    except OSError:  # Windows gives links only to whom it trusts
        shutil.copytree(packages / "node_modules", modules)
    entry, made = folder / ".lmstudio" / "entry.ts", folder / ".lmstudio" / "production.js"
    entry.parent.mkdir()
    shutil.copyfile(HERE / "installed-entry.ts", entry)
    program = str(packages / "node_modules" / "esbuild" / "bin" / "esbuild")
    command = [node(), program, str(entry), *ESBUILD, f"--outfile={made}", "--log-level=warning"]
    subprocess.run(command, cwd=folder, check=True)
    return made


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for lms is a script with a shebang")
def test_an_installed_plugin_answers_its_first_message(
    tmp_path: Path, packages: Path, lmstudio: Path, bare_host: Host
) -> None:
    fake = HERE.parent / "programs" / "fake_lms.py"
    lms = lmstudio / "bin" / "lms"
    lms.parent.mkdir()
    lms.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{fake}" "$@"\n', encoding="utf-8")
    lms.chmod(0o755)
    env = {
        "HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
        "LMS_ASKED": str(tmp_path / "asked"),
        "LMS_HOME": str(lmstudio),
    }
    command = [sys.executable, "-m", "throughline_nb", "lmstudio", "install"]
    subprocess.run(command, env=env, cwd=tmp_path, check=True, capture_output=True)
    folder = lmstudio / "extensions" / "plugins" / "throughline-nb" / "throughline"
    bare_host.run(built(folder, packages))
    chat = Chat(bare_host, "1764500000000")
    reply = chat.say("/tl start Compare seven inference runtimes")
    assert "was carried out" in reply.text
    assert reply.status.startswith("throughLine: compare-seven-inference-runtimes")
    project = lmstudio / "throughline" / "projects" / "compare-seven-inference-runtimes"
    assert (project / ".git").is_dir()
    assert "ledger_record" in chat.tools()
    assert not (PLUGIN / ".lmstudio").exists()
