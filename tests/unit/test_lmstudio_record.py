"""What is written down of a user's environment, on each system, and what is never."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from throughline_nb.errors import NewerFormatError, StoreError, UnreadableFileError
from throughline_nb.hosts.lmstudio import record
from throughline_nb.store.home import Home

WINDOWS = {
    "Path": r'C:\Git\cmd;relative\bin;"C:\Program Files\Python 3.11";.;C:\Git\cmd',
    "SystemRoot": r"C:\Windows",
    "PATHEXT": ".COM;.EXE;.BAT",
    "USERPROFILE": r"C:\Users\someone",
    "APPDATA": r"C:\Users\someone\AppData\Roaming",
    "ProgramFiles(x86)": r"C:\Program Files (x86)",
    "OPENAI_API_KEY": "sk-secret",
}
MACOS = {
    "HOME": "/Users/someone",
    "PATH": "/opt/homebrew/bin:bin::/usr/bin:/opt/homebrew/bin",
    "LANG": "de_DE.UTF-8",
    "SSH_AUTH_SOCK": "/private/tmp/com.apple.launchd.x/Listeners",
    "TMPDIR": "/var/folders/x/T/",
    "GIT_AUTHOR_NAME": "Ada Example",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_DIR": "/elsewhere/.git",
    "VIRTUAL_ENV": "/Users/someone/venv",
    "PYTHONPATH": "/Users/someone/code",
    "GITHUB_TOKEN": "secret",
}


def test_windows():
    kept = record.environment(WINDOWS, r"C:\Git\cmd\git.exe", system="nt")
    assert kept["PATH"] == r"C:\Git\cmd;C:\Program Files\Python 3.11"
    assert set(kept) == set(WINDOWS) - {"Path", "OPENAI_API_KEY"} | {"PATH"}
    assert kept["SystemRoot"] == r"C:\Windows"


def test_macos():
    kept = record.environment(MACOS, "/opt/homebrew/bin/git", system="posix")
    assert kept["PATH"].split(":")[-2:] == ["/opt/homebrew/bin", "/usr/bin"]
    assert set(kept) == set(MACOS) - {"GIT_DIR", "VIRTUAL_ENV", "PYTHONPATH", "GITHUB_TOKEN"}


@pytest.mark.parametrize(
    ("system", "git", "path"),
    [
        ("nt", r"D:\tools\git\bin\git.exe", r"D:\tools\git\bin;C:\Windows"),
        ("posix", "/opt/git/bin/git", "/opt/git/bin:/usr/sbin"),
    ],
)
def test_the_folder_of_git_is_on_path_where_the_users_own_has_it_not(system, git, path):
    separator = ";" if system == "nt" else ":"
    given_path = path.split(separator)[1]
    assert record.environment({"PATH": given_path}, git, system)["PATH"] == path
    assert record.environment({}, git, system)["PATH"] == path.split(separator)[0]


@pytest.mark.skipif(os.name == "nt", reason="an executable by its mode")
def test_the_git_that_the_shell_finds_is_the_git_that_the_engine_finds(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        git = tmp_path / name / "git"
        git.write_text("#!/bin/sh\n", encoding="utf-8")
        git.chmod(0o755)
    both = f"{tmp_path / 'first'}:{tmp_path / 'second'}"
    found = record.make(Home(tmp_path / "home"), {"PATH": both})
    assert found.git == str(tmp_path / "first" / "git")
    assert found.env["PATH"] == both
    kept = record.environment({"PATH": both}, str(tmp_path / "second" / "git"))
    assert kept["PATH"].split(":")[0] == str(tmp_path / "second")


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "GIT_SSH_COMMAND"])
def test_a_value_with_a_password_is_left_out(name):
    env = {name: "http://user:word@proxy.example.org:8080", "NO_PROXY": "localhost"}
    kept = record.environment(env, "/usr/bin/git", "posix")
    assert set(kept) == {"NO_PROXY", "PATH"}
    assert name in record.environment({name: "http://proxy.example.org:8080"}, "/usr/bin/git")


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=20)))
def test_what_is_not_on_the_list_is_never_written(env):
    kept = record.environment(env, "/usr/bin/git", "posix")
    assert {name.upper() for name in kept} <= record.KEPT | {"PATH"}


def test_no_git_is_one_line(tmp_path):
    with pytest.raises(StoreError, match="git was not found"):
        record.make(Home(tmp_path), {"PATH": str(tmp_path)})


def test_what_is_recorded(tmp_path):
    found = record.make(Home(tmp_path / "home"), os.environ)
    assert Path(found.python).is_file()
    assert Path(found.git).is_file()
    assert found.home == found.env["THROUGHLINE_HOME"] == str(tmp_path / "home")
    file = tmp_path / "throughline" / "bridge.json"
    record.write(file, found)
    assert record.read(file) == found
    assert [path.name for path in file.parent.iterdir()] == ["bridge.json"]


class TestRead:
    def test_none(self, tmp_path):
        assert record.read(tmp_path / "bridge.json") is None

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"home": 7}', '{"env": {"A": 1}}', "\x00"])
    def test_damaged(self, tmp_path, text):
        file = tmp_path / "bridge.json"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(UnreadableFileError, match="lmstudio install"):
            record.read(file)
        assert file.read_text(encoding="utf-8") == text

    def test_newer(self, tmp_path):
        file = tmp_path / "bridge.json"
        file.write_text('{"format": 2}', encoding="utf-8")
        with pytest.raises(NewerFormatError, match="upgrade"):
            record.read(file)

    def test_fields_of_a_later_version_are_passed_over(self, tmp_path):
        file = tmp_path / "bridge.json"
        file.write_text('{"python": "/p", "more": 1}', encoding="utf-8")
        found = record.read(file)
        assert found is not None
        assert found.python == "/p"

    def test_a_folder_that_cannot_be_made(self, tmp_path):
        (tmp_path / "file").write_text("", encoding="utf-8")
        with pytest.raises(StoreError, match="could not be made"):
            record.write(tmp_path / "file" / "throughline" / "bridge.json", record.Record())
