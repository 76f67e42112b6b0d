"""Installing the LM Studio plugin as a person does it: real processes, a user's folder of its own.

``lms`` is a real script on PATH (``tests/programs/fake_lms.py``); the engine that is started in a
stripped environment is the real one.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
import time
import venv
from pathlib import Path

import msgspec
import pytest

from throughline_nb import __version__
from throughline_nb.hosts.bridge.messages import PROTOCOL, GivenHistory, Hello, TurnParams
from throughline_nb.hosts.lmstudio import plugin, trial
from throughline_nb.hosts.lmstudio.installing import SYSTEM_PROMPT
from throughline_nb.hosts.lmstudio.places import CARRIED, Places
from throughline_nb.hosts.lmstudio.record import Record, read

PROGRAMS = Path(__file__).parents[1] / "programs"
CONVERSATIONS = Path(__file__).parents[1] / "data" / "conversations"


def script(folder, name, command):
    """An executable of that name that runs a command."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.name == "nt":
        file = folder / f"{name}.cmd"
        file.write_text(f"@{subprocess.list2cmdline(command)} %*\n", encoding="utf-8")
    else:
        file = folder / name
        words = " ".join(f'"{word}"' for word in command)
        file.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


class Machine:
    """A user's machine: LM Studio's folder, and the commands on PATH."""

    def __init__(self, folder):
        self.user = folder / "user"
        self.lmstudio = self.user / ".lmstudio"
        self.lmstudio.mkdir(parents=True)
        self.places = Places(self.lmstudio)
        self.asked = folder / "asked.jsonl"
        self.bin = folder / "bin"
        git = shutil.which("git")
        self.env = {
            "HOME": str(self.user),
            "USERPROFILE": str(self.user),
            "PATH": os.pathsep.join([str(self.bin), str(Path(git).parent)]),
            "LMS_ASKED": str(self.asked),
            "LMS_HOME": str(self.lmstudio),
            "SECRET_TOKEN": "do-not-write-me",
            "LANG": "C.UTF-8",
        }
        for name in ("SystemRoot", "PATHEXT", "TEMP", "TMP", "COMSPEC"):
            if name in os.environ:
                self.env[name] = os.environ[name]

    def put_lms(self, folder=None):
        script(folder or self.bin, "lms", [sys.executable, str(PROGRAMS / "fake_lms.py")])

    def __call__(self, *arguments, code=0, python=sys.executable, **env):
        done = subprocess.run(
            [python, "-m", "throughline_nb", *arguments],
            cwd=self.user,
            env={**self.env, **env},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == code, (done.stdout, done.stderr)
        return done.stdout if code == 0 or done.stdout else done.stderr

    def fails(self, *arguments, **env):
        done = subprocess.run(
            [sys.executable, "-m", "throughline_nb", *arguments],
            cwd=self.user,
            env={**self.env, **env},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 1, (done.stdout, done.stderr)
        assert len(done.stderr.strip().splitlines()) == 1 or "LMS_DOWN" in env, done.stderr
        return done.stdout, done.stderr

    def chat(self, *texts):
        """What the engine makes of messages in a chat, started as the plugin starts it."""
        record = read(self.places.record)
        process = trial._Process(record, record.env, self.user, time.monotonic() + 30)
        try:
            process.ask("hello", Hello(protocol=PROTOCOL, plugin=__version__))
            history = GivenHistory(turn=0, head="", changed=1, base="", messages=())
            return [
                process.ask("turn", TurnParams(chat="1", text=text, history=history))
                for text in texts
            ]
        finally:
            process.end()

    @property
    def record(self):
        return json.loads(self.places.record.read_text(encoding="utf-8"))

    def rewrite(self, **fields):
        self.places.record.write_text(json.dumps({**self.record, **fields}), encoding="utf-8")

    @property
    def plugin(self):
        own = plugin.own_plugin()
        return self.places.plugins / own.owner / own.name

    def files(self):
        return sorted(
            path.relative_to(self.user).as_posix()
            for path in self.user.rglob("*")
            if path.is_file()
        )

    def fixes(self):
        lines = self("lmstudio", "status", code=1).splitlines()
        assert all(line[:5] in ("ok   ", "fix  ") for line in lines), lines
        return {line[5:].split(":")[0]: line for line in lines if line.startswith("fix")}


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


@pytest.fixture
def installed(machine):
    machine.put_lms()
    machine("lmstudio", "install")
    return machine


class TestInstall:
    def test_it_records_the_engine_and_has_the_plugin_installed(self, machine):
        machine.put_lms()
        said = machine("lmstudio", "install")
        record = machine.record
        assert (record["format"], record["version"]) == (1, __version__)
        assert Path(record["python"]) == Path(sys.executable)
        assert Path(record["git"]) == Path(shutil.which("git"))
        assert record["home"] == record["env"]["THROUGHLINE_HOME"]
        assert Path(record["home"]) == machine.lmstudio / "throughline"
        assert record["env"]["HOME"] == str(machine.user)
        assert "do-not-write-me" not in machine.places.record.read_text(encoding="utf-8")
        asked = [json.loads(line) for line in machine.asked.read_text("utf-8").splitlines()]
        assert [each["arguments"] for each in asked] == [["dev", "--install", "--yes"]]
        assert machine.lmstudio not in Path(asked[0]["folder"]).parents
        assert not Path(asked[0]["folder"]).exists()
        carried = {path.name for path in machine.plugin.iterdir()} - {"node_modules"}
        assert {"src", "manifest.json", "package.json"} <= carried <= set(CARRIED)
        assert (machine.plugin / "manifest.json").is_file()
        assert "commits" in said
        assert "switch on throughline-nb/throughline" in said
        assert all(sentence in said for sentence in SYSTEM_PROMPT)
        assert said.splitlines()[-1] == f"  {sys.executable} -m throughline_nb lmstudio status"
        # the test of the engine left nothing behind in the user's home
        assert not (machine.places.ours / "projects").exists()
        assert not (machine.places.ours / "chats").exists()

    def test_the_command_is_named_as_it_can_be_typed(self, installed):
        script(installed.bin, "throughline-nb", [sys.executable, "-m", "throughline_nb"])
        said = installed("lmstudio", "install")
        assert said.splitlines()[-1] == "  throughline-nb lmstudio status"

    def test_again_it_changes_nothing(self, installed):
        before = installed.files(), installed.record
        installed("lmstudio", "install")
        assert (installed.files(), installed.record) == before
        assert len(installed.asked.read_text("utf-8").splitlines()) == 2

    def test_again_it_mends(self, installed):
        installed.rewrite(python="/nowhere/python", env={})
        shutil.rmtree(installed.plugin)
        installed("lmstudio", "install")
        assert Path(installed.record["python"]) == Path(sys.executable)
        assert (installed.plugin / "manifest.json").is_file()
        installed.places.record.write_text("{", encoding="utf-8")
        installed("lmstudio", "install")
        assert installed.record["version"] == __version__

    def test_without_lms_it_says_the_two_steps(self, machine):
        said = machine("lmstudio", "install")
        assert "1. Start LM Studio once" in said
        assert "2. Run `throughline-nb lmstudio install` again, or `lms dev" in said
        assert str(plugin.own_plugin().folder) in said
        assert not machine.places.plugins.exists()
        assert machine.record["version"] == __version__

    def test_lms_in_lm_studios_own_folder(self, machine):
        if os.name == "nt":
            pytest.skip("an executable there is no script")
        machine.put_lms(machine.lmstudio / "bin")
        machine("lmstudio", "install")
        assert (machine.plugin / "manifest.json").is_file()

    def test_lm_studio_does_not_answer(self, machine):
        machine.put_lms()
        _, said = machine.fails("lmstudio", "install", LMS_DOWN="1")
        assert "Unable to connect" in said
        assert said.splitlines()[-1].endswith(
            "the engine is recorded: start LM Studio and run `throughline-nb lmstudio install` "
            "again."
        )
        machine("lmstudio", "install")

    def test_no_lm_studio(self, machine):
        machine.lmstudio.rmdir()
        _, said = machine.fails("lmstudio", "install")
        assert "start LM Studio once" in said
        assert machine.files() == []

    def test_a_pointer_leads_to_lm_studios_folder(self, machine, tmp_path):
        elsewhere = tmp_path / "elsewhere"
        machine.lmstudio.rename(elsewhere)
        (machine.user / ".lmstudio-home-pointer").write_text(str(elsewhere), encoding="utf-8")
        machine.put_lms()
        machine("lmstudio", "install", LMS_HOME=str(elsewhere))
        assert (elsewhere / "throughline" / "bridge.json").is_file()
        assert (elsewhere / "extensions" / "plugins").is_dir()

    def test_another_home_is_recorded_in_lm_studios_folder_and_found_by_all(self, installed):
        far = installed.user / "far"
        said = installed("lmstudio", "install", THROUGHLINE_HOME=str(far))
        assert f"used {installed.places.ours}" in said
        assert installed.record["home"] == str(far)
        installed("start", "Compare runtimes")
        assert (far / "projects" / "compare-runtimes").is_dir()
        installed("lmstudio", "install")
        assert installed.record["home"] == str(far)

    def test_the_shell_that_stands_in_a_project_does_not_choose_the_home(self, installed):
        far = installed.user / "far"
        installed("--home", str(far), "start", "Compare runtimes")
        installed.user = far / "projects" / "compare-runtimes"
        installed("lmstudio", "install")
        assert Path(installed.record["home"]) == installed.places.ours
        installed("--home", str(far), "lmstudio", "install")
        assert installed.record["home"] == str(far)

    def test_a_newer_record_is_kept(self, installed):
        installed.rewrite(format=2)
        _, said = installed.fails("lmstudio", "install")
        assert "upgrade" in said
        assert installed.record["format"] == 2

    @pytest.mark.skipif(os.name == "nt", reason="a script is no git.exe there")
    def test_an_engine_that_cannot_commit_is_not_installed(self, machine):
        machine.put_lms()
        pretends = "import sys; 'version' in sys.argv or sys.exit(3); print('git version 2.45.0')"
        script(machine.bin, "git", [sys.executable, "-c", pretends])
        _, said = machine.fails("lmstudio", "install")
        assert "committed nothing in a test (git init failed" in said
        assert machine.files() == []

    @pytest.mark.skipif(os.name == "nt", reason="a script is no git.exe there")
    def test_a_git_that_does_not_run(self, machine):
        script(machine.bin, "git", [sys.executable, "-c", "import sys; sys.exit('broken')"])
        _, said = machine.fails("lmstudio", "install")
        assert "git version failed (broken); nothing was changed" in said
        assert machine.files() == []

    def test_no_git(self, machine):
        _, said = machine.fails("lmstudio", "install", PATH=str(machine.bin))
        assert "install git 2.36" in said
        assert machine.files() == []


class TestStatus:
    def test_all_is_well(self, installed):
        said = installed("lmstudio", "status")
        assert all(line.startswith("ok   ") for line in said.splitlines()), said
        assert "commits" in said

    def test_nothing_is_installed(self, machine):
        assert set(machine.fixes()) == {"engine", "plugin"}
        machine.lmstudio.rmdir()
        assert set(machine.fixes()) == {"LM Studio"}

    def test_an_environment_of_python_that_was_moved(self, installed, tmp_path):
        venv.create(tmp_path / "env", with_pip=False)
        folder = "Scripts" if os.name == "nt" else "bin"
        installed.rewrite(python=str(tmp_path / "env" / folder / Path(sys.executable).name))
        fixes = installed.fixes()
        assert set(fixes) == {"start"}  # it is there, but has no throughline_nb
        assert "No module named" in fixes["start"]
        (tmp_path / "env").rename(tmp_path / "moved")
        fixes = installed.fixes()
        assert set(fixes) == {"interpreter"}
        assert "lmstudio install" in fixes["interpreter"]
        assert "LM Studio: " in installed("doctor")

    def test_what_answers_is_no_engine(self, installed):
        fake = script(installed.bin, "other", [sys.executable, "-c", "print('hello')"])
        installed.rewrite(python=str(fake))
        assert "something else" in installed.fixes()["start"]

    def test_git_is_gone(self, installed):
        installed.rewrite(git="/nowhere/git")
        assert "/nowhere/git is not there any more" in installed.fixes()["git"]

    def test_damaged_and_newer_records(self, installed):
        installed.rewrite(format=2)
        assert "upgrade" in installed.fixes()["engine"]
        installed.places.record.write_text("{", encoding="utf-8")
        assert "lmstudio install" in installed.fixes()["engine"]

    def test_versions_that_differ(self, installed):
        installed.rewrite(version="0.0.1")
        package = installed.plugin / "package.json"
        package.write_text(
            json.dumps({**json.loads(package.read_text("utf-8")), "version": "0.0.1"}), "utf-8"
        )
        fixes = installed.fixes()
        assert set(fixes) == {"version", "plugin"}
        assert "0.0.1 is installed" in fixes["plugin"]
        installed("lmstudio", "install")
        installed("lmstudio", "status")

    def test_an_earlier_plugin_beside_ours(self, installed):
        earlier = installed.places.plugins / "someone" / "throughline"
        earlier.mkdir(parents=True)
        manifest = {"type": "plugin", "runner": "node", "owner": "someone", "name": "throughline"}
        (earlier / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        assert "someone/throughline is installed, too" in installed.fixes()["other plugin"]
        assert "someone/throughline" in installed("lmstudio", "install")
        assert "someone/throughline" in installed("doctor")
        first, second = installed.chat("/tl doctor", "Hello")
        assert "someone/throughline is installed beside this plugin" in first["status"]
        assert "LM Studio: someone/throughline is installed, too" in first["text"]
        assert second["status"] == ""  # said once

    def test_two_homes(self, installed):
        fix = installed("lmstudio", "status", code=1, THROUGHLINE_HOME=str(installed.user / "x"))
        assert "the command line uses" in fix

    @pytest.mark.skipif(os.name == "nt", reason="no socket there")
    def test_an_agent_that_is_gone(self, installed):
        installed("lmstudio", "install", SSH_AUTH_SOCK=str(installed.user / "agent"))
        assert "agent" in installed.fixes()["ssh agent"]


class TestDoctor:
    def test_it_knows(self, installed):
        assert "LM Studio" not in installed("doctor")
        shutil.rmtree(installed.plugin)
        assert "LM Studio: " in installed("doctor")
        assert "is not installed in LM Studio" in installed("doctor")

    def test_it_is_silent_where_lm_studio_is_not_used(self, machine):
        assert "LM Studio" not in machine("doctor")


class TestUninstall:
    def test_projects_stay(self, installed):
        installed("start", "Compare runtimes")
        before = [name for name in installed.files() if "/projects/" in name]
        said = installed("lmstudio", "uninstall")
        assert f"Your project stays in {installed.places.ours / 'projects'}" in said
        assert not installed.places.plugins.joinpath(plugin.own_plugin().owner).exists()
        assert not installed.places.record.exists()
        assert [name for name in installed.files() if "/projects/" in name] == before
        assert "Nothing of the plugin" in installed("lmstudio", "uninstall")
        assert set(installed.fixes()) == {"engine", "plugin"}

    def test_without_projects_nothing_is_left(self, machine):
        machine.put_lms()
        before = machine.files()
        machine("lmstudio", "install")
        machine("lmstudio", "uninstall")
        assert machine.files() == before
        assert not machine.places.ours.exists()

    def test_a_home_elsewhere_is_named(self, installed):
        far = str(installed.user / "far")
        installed("lmstudio", "install", THROUGHLINE_HOME=far)
        installed("start", "Compare runtimes")
        assert f"THROUGHLINE_HOME={far}" in installed("lmstudio", "uninstall")


def test_the_chats_of_lm_studio(machine):
    shutil.copytree(CONVERSATIONS, machine.places.conversations)
    state = machine.places.ours / "chats" / "lmstudio" / "1764500000000" / "state.json"
    state.parent.mkdir(parents=True)
    state.write_text(
        json.dumps({"key": "lmstudio/1764500000000", "project": "inference-runtimes"}),
        encoding="utf-8",
    )
    said = machine("lmstudio", "chats")
    assert said.startswith("2 chats in ")
    assert "inference-runtimes        Runtime research/Inference runtimes\n" in said
    assert str(Path("Runtime research", "1764590000000.conversation.json")) in said


@pytest.mark.slow
def test_the_wheel_carries_the_plugin_and_installs_it(machine, tmp_path):
    root = Path(__file__).parents[2]
    checkout = tmp_path / "checkout"
    shutil.copytree(
        root,
        checkout,
        ignore=shutil.ignore_patterns(".*", "node_modules", "tests", "build", "dist"),
    )
    # what must stay out, even where it lies in the plugin's folder
    for name in ("node_modules/sdk/index.js", "test/a.ts", ".lmstudio/entry.ts", "src/a.test.ts"):
        file = checkout / "lmstudio_plugin" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("", encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel"],
        cwd=checkout, check=True, capture_output=True,
    )  # fmt: skip
    wheel = next((checkout / "dist").glob("*.whl"))
    folder = tmp_path / "env"
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / Path(sys.executable).name
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(wheel)],
        check=True, capture_output=True,
    )  # fmt: skip
    # what it depends on comes from this environment; no registry is asked
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True, capture_output=True, encoding="utf-8",
    ).stdout.strip()  # fmt: skip
    (Path(site) / "others.pth").write_text(str(Path(msgspec.__file__).parents[1]), "utf-8")
    carried = Path(site) / "throughline_nb" / "lmstudio_plugin"
    source = root / "lmstudio_plugin"
    assert {path.name for path in carried.iterdir()} == {
        name for name in CARRIED if (source / name).exists()
    }
    assert sorted(path.name for path in (carried / "src").rglob("*")) == sorted(
        path.name for path in (source / "src").rglob("*")
    )
    machine.put_lms()
    said = machine("lmstudio", "install", python=python)
    assert "LM Studio installed the plugin" in said
    assert Path(machine.record["python"]) == python
    assert all(
        line.startswith("ok") for line in machine("lmstudio", "status", python=python).splitlines()
    )


def test_plugin_and_package_have_one_version():
    assert plugin.own_plugin().version == __version__


def test_a_record_of_this_version_has_the_fields_that_the_plugin_reads():
    assert set(Record.__struct_fields__) == {"format", "version", "python", "git", "home", "env"}
