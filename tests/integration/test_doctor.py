"""``/tl doctor``: each problem and its cure in one line, and nothing where all is well."""

import os
import subprocess
import time

import pytest

from throughline_nb.engine.doctor import report
from throughline_nb.engine.session import Engine
from throughline_nb.store.home import Home


@pytest.fixture
def engine(tmp_path, monkeypatch):
    user = tmp_path / "user"
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("USERPROFILE", str(user))
    for name in ("GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME", "GIT_DIR"):
        monkeypatch.delenv(name, raising=False)
    config(user, "user.name=A User", "user.email=user@example.org")
    made = Engine(Home(tmp_path / "home"))
    made.command("start Compare runtimes")
    return made


def config(user, *settings):
    lines = []
    for setting in settings:
        key, _, value = setting.partition("=")
        section, _, name = key.partition(".")
        lines.append(f"[{section}]\n\t{name} = {value}\n")
    with (user / ".gitconfig").open("a", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)


def project(engine):
    return engine.projects.open("compare-runtimes")


def git(engine, *arguments):
    subprocess.run(["git", *arguments], cwd=project(engine).path, check=True, capture_output=True)


def problems(engine):
    return report(engine, None, None)[0]


def test_all_is_well(engine):
    found, facts = report(engine, None, None)
    assert found == []
    assert any("git 2." in fact for fact in facts)
    assert any("digest_tokens = 600 (default)" in fact for fact in facts)
    assert engine.command("doctor").text == "No problems found."


def stale_lock(engine):
    lock = project(engine).path / ".git" / "index.lock"
    lock.touch()
    then = time.time() - 60
    os.utime(lock, (then, then))


def live_lock(engine):
    (project(engine).path / ".git" / "index.lock").touch()


def truncated_object(engine):
    objects = [p for p in (project(engine).path / ".git" / "objects").glob("??/*") if p.is_file()]
    largest = max(objects, key=lambda path: path.stat().st_size)
    largest.chmod(0o644)
    largest.write_bytes(largest.read_bytes()[:20])


def inside_another(engine):
    subprocess.run(["git", "init", "-q", str(engine.home.path)], check=True)


def bad_settings(engine):
    engine.home.settings_file.write_text("digest_tokens = 1\n", encoding="utf-8")


def no_attributes(engine):
    (project(engine).path / ".gitattributes").unlink()


def kept_edit(engine):
    (project(engine).path / "ledger.edit-not-applied-x.md").write_text("x", encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda e: git(e, "checkout", "-q", "--detach"), "detached HEAD"),
        (lambda e: git(e, "checkout", "-qb", "mine"), "branch “mine”"),
        (stale_lock, "index.lock is left over"),
        (live_lock, "index.lock is held"),
        (truncated_object, "git fsck"),
        (inside_another, "another git repository"),
        (bad_settings, "digest_tokens = 1 is not used"),
        (no_attributes, ".gitattributes is gone"),
        (kept_edit, "could not be read"),
    ],
)
def test_each_problem_is_one_line_with_its_cure(engine, spoil, expected):
    spoil(engine)
    found = problems(engine)
    assert len([line for line in found if expected in line]) == 1
    assert all("\n" not in line and line.endswith(".") for line in found)


def test_no_identity(engine, tmp_path):
    (tmp_path / "user" / ".gitconfig").unlink()
    assert ["user.name" in line for line in problems(engine)] == [True]


def test_no_git(engine, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert problems(engine) == ["git was not found on PATH: install git 2.36 or newer."]


@pytest.mark.parametrize(
    "setting",
    ["commit.gpgsign=true", "core.autocrlf=true", "core.hooksPath=/nowhere", "core.excludesFile=x"],
)
def test_what_is_kept_out_is_told_and_no_problem(engine, tmp_path, setting):
    config(tmp_path / "user", setting)
    found, facts = report(engine, None, None)
    assert found == []
    key = setting.partition("=")[0].lower()
    assert len([fact for fact in facts if key in fact]) == 1


def test_an_inherited_git_dir_is_told(engine, monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert (
        "GIT_DIR is set in the environment; throughLine ignores it."
        in report(engine, None, None)[1]
    )


def test_a_newer_home_is_read_only(engine):
    (engine.home.path / "format").write_text("99\n", encoding="utf-8")
    assert "newer format" in problems(engine)[0]
