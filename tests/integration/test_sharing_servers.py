"""ssh with a real sshd, http and https with git's own backend: nothing asks, nothing hangs."""

import os
import socket
import stat
import sys
import time

import pytest
from servers import PASSWORD, bare, http_backend, self_signed, served, sshd
from stores import MODEL, USER, everything, finding, git, project, projects, texts

from throughline_nb.errors import RefusedError, StoreError
from throughline_nb.store.problems import project_problems
from throughline_nb.store.sharing import cloning, starting, syncing, transport
from throughline_nb.store.sharing.addresses import address

pytestmark = pytest.mark.skipif(os.name == "nt", reason="servers of POSIX")


@pytest.fixture(scope="module")
def ssh(tmp_path_factory):
    with sshd(tmp_path_factory.mktemp("ssh") / "d") as server:
        yield server


@pytest.fixture(autouse=True)
def own_settings(tmp_path, monkeypatch):
    """A user of our own: no key, no helper, no agent of whoever runs the tests."""
    home = tmp_path / "user"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_ASKPASS", "SSH_ASKPASS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return home


def round_trip(tmp_path, place):
    """Share, clone, change on both sides, sync."""
    first = project(tmp_path / "a")
    first.change(finding("a claim"), MODEL)
    starting.share(first, place, USER)
    second = cloning.clone(projects(tmp_path / "b"), place, "", USER).project
    first.change(finding("of the first"), MODEL)
    second.change(finding("of the second"), MODEL)
    for machine in (first, second, first):
        syncing.sync(machine, USER)
    assert (
        texts(first.read()) == texts(second.read()) == ["a claim", "of the first", "of the second"]
    )
    return first


def test_ssh(tmp_path, ssh, monkeypatch):
    monkeypatch.setenv("GIT_SSH_COMMAND", ssh.command())
    first = round_trip(tmp_path, address(ssh.url(bare(tmp_path / "far.git"))))
    assert project_problems(first) == []


def test_ssh_as_the_users_own_git_has_it(tmp_path, ssh, own_settings):
    command = ssh.command().replace('"', '\\"')
    (own_settings / "gitconfig").write_text(f'[core]\n\tsshCommand = "{command}"\n')
    round_trip(tmp_path, address(ssh.url(bare(tmp_path / "far.git"))))


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"key": "stranger"}, "did not let you in"),
        ({"hosts": "empty"}, "host key is not known"),
    ],
)
def test_ssh_that_would_ask_is_told_in_one_line(tmp_path, ssh, monkeypatch, how, said):
    monkeypatch.setenv("GIT_SSH_COMMAND", ssh.command(**how))
    made = project(tmp_path / "a")
    begun = time.monotonic()
    with pytest.raises(StoreError, match=said) as refused:
        starting.share(made, address(ssh.url(bare(tmp_path / "far.git"))), USER)
    assert time.monotonic() - begun < 20
    assert "\n" not in str(refused.value)
    assert made.remotes() == []


def test_ssh_without_a_repository(tmp_path, ssh, monkeypatch):
    monkeypatch.setenv("GIT_SSH_COMMAND", ssh.command())
    with pytest.raises(StoreError, match="no git repository"):
        starting.share(project(tmp_path / "a"), address(ssh.url(tmp_path / "no.git")), USER)


def test_http_without_a_password(tmp_path):
    served(tmp_path)
    with http_backend(tmp_path) as server:
        first = round_trip(tmp_path, address(f"{server.url}/runtimes.git"))
        assert project_problems(first) == []
    begun = time.monotonic()
    with pytest.raises(StoreError, match="connection failed") as refused:
        syncing.sync(first, USER)
    assert time.monotonic() - begun < 20
    assert "\n" not in str(refused.value)
    assert any("connection failed" in each.what for each in project_problems(first))


def test_a_remote_that_may_only_be_read(tmp_path):
    place = bare(tmp_path / "runtimes.git")
    git(place, "config", "http.receivepack", "false")
    first = project(tmp_path / "a")
    starting.share(first, address(str(place)), USER)
    with http_backend(tmp_path) as server:
        there = address(f"{server.url}/runtimes.git")
        second = cloning.clone(projects(tmp_path / "b"), there, "", USER).project
        first.change(finding("of the first"), MODEL)
        syncing.sync(first, USER)
        assert syncing.sync(second, USER).line.endswith("came: F1 added.")
        second.change(finding("of the second"), MODEL)
        with pytest.raises(StoreError, match="did not let you in"):
            syncing.sync(second, USER)
        first.change(finding("more"), MODEL)
        syncing.sync(first, USER)
        with pytest.raises(StoreError, match=r"is merged here \(F2 added\), but nothing was sent"):
            syncing.sync(second, USER)
    assert texts(second.read()) == ["of the first", "more", "of the second"]


def helper(home, password):
    """A credential helper, as a password manager is one."""
    script = home / "helper.py"
    script.write_text(
        f"#!{sys.executable}\nimport sys\n"
        f"if sys.argv[1] == 'get':\n    print('username=someone\\npassword={password}')\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    (home / "gitconfig").write_text(f"[credential]\n\thelper = {script}\n")


def test_http_with_a_credential_helper(tmp_path, own_settings):
    helper(own_settings, PASSWORD)
    served(tmp_path)
    with http_backend(tmp_path, password=PASSWORD) as server:
        first = round_trip(tmp_path, address(f"{server.url}/runtimes.git"))
    assert PASSWORD.encode() not in everything(first.path)
    assert not [
        path
        for path in (tmp_path / "a").rglob("*")
        if path.is_file() and PASSWORD.encode() in path.read_bytes()
    ]


@pytest.mark.parametrize("secret", ["", "wrong"])
def test_http_that_would_ask_is_told_in_one_line(tmp_path, own_settings, secret):
    if secret:
        helper(own_settings, secret)
    served(tmp_path)
    made = project(tmp_path / "a")
    begun = time.monotonic()
    with (
        http_backend(tmp_path, password=PASSWORD) as server,
        pytest.raises(StoreError, match="did not let you in") as refused,
    ):
        starting.share(made, address(f"{server.url}/runtimes.git"), USER)
    assert time.monotonic() - begun < 20
    assert "\n" not in str(refused.value)


def test_an_askpass_window_of_the_desktop_is_not_opened(tmp_path, own_settings, monkeypatch):
    asked = tmp_path / "asked"
    script = own_settings / "askpass"
    script.write_text(f"#!/bin/sh\ntouch {asked}\necho x\n")
    script.chmod(0o755)
    monkeypatch.setenv("SSH_ASKPASS", str(script))
    monkeypatch.setenv("DISPLAY", ":0")
    (own_settings / "gitconfig").write_text(f"[core]\n\taskPass = {script}\n")
    served(tmp_path)
    with (
        http_backend(tmp_path, password=PASSWORD) as server,
        pytest.raises(StoreError, match="did not let you in"),
    ):
        starting.share(project(tmp_path / "a"), address(f"{server.url}/runtimes.git"), USER)
    assert not asked.exists()


def test_https_with_a_certificate_of_ones_own(tmp_path, own_settings):
    cert, key = self_signed(own_settings)
    (own_settings / "gitconfig").write_text(f"[http]\n\tsslCAInfo = {cert}\n")
    served(tmp_path)
    with http_backend(tmp_path, certificate=(cert, key)) as server:
        round_trip(tmp_path, address(f"{server.url}/runtimes.git"))
        (own_settings / "gitconfig").write_text("")
        with pytest.raises(StoreError):
            starting.share(
                project(tmp_path / "c"), address(f"{server.url}/runtimes.git"), USER, join=True
            )


@pytest.mark.parametrize("target", ["file:///etc", "ext::sh -c x", "ftp://127.0.0.1/x"])
def test_a_redirect_leads_to_no_other_protocol(tmp_path, target):
    made = project(tmp_path / "a")
    with http_backend(tmp_path, redirect=target) as server, pytest.raises(StoreError):
        starting.share(made, address(f"{server.url}/runtimes.git"), USER)


def test_a_server_that_never_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(transport, "IDLE_SECONDS", 1.0)
    made = project(tmp_path / "a")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        place = address(f"http://127.0.0.1:{silent.getsockname()[1]}/x.git")
        begun = time.monotonic()
        with pytest.raises(StoreError, match="nothing came from it for 1 seconds"):
            starting.share(made, place, USER)
    assert time.monotonic() - begun < 15
    made.change(finding("it goes on"), MODEL)


def test_what_the_users_git_rewrites_an_address_to_is_judged_by_git_too(tmp_path, own_settings):
    pwned = tmp_path / "pwned"
    (own_settings / "gitconfig").write_text(
        f'[url "ext::touch {pwned} "]\n\tinsteadOf = https://example.org/\n'
        "[protocol]\n\tallow = always\n"
    )
    with pytest.raises(StoreError):
        starting.share(project(tmp_path / "a"), address("https://example.org/x"), USER)
    assert not pwned.exists()


def test_an_address_that_was_put_into_the_configuration_by_hand(tmp_path):
    made = project(tmp_path / "a")
    pwned = tmp_path / "pwned"
    config = made.path / ".git" / "config"
    text = config.read_text()
    config.write_text(f'{text}[remote "origin"]\n\turl = "ext::touch {pwned}"\n')
    with pytest.raises(RefusedError, match="helper program"):
        syncing.sync(made, USER)
    assert any("helper program" in each.what for each in project_problems(made))
    config.write_text(f'{text}[remote "origin"]\n\turl = https://u:{PASSWORD}@example.org/x\n')
    with pytest.raises(RefusedError) as refused:
        syncing.sync(made, USER)
    told = [f"{each.what} {each.cure}" for each in project_problems(made)]
    assert any("password" in each for each in told)
    assert PASSWORD not in f"{refused.value} {told}"
    assert not pwned.exists()
