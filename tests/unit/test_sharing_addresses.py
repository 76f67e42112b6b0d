"""What a remote's address may be, judged before git sees it."""

import os
from pathlib import Path

import pytest

from throughline_nb.errors import RefusedError
from throughline_nb.store.sharing.addresses import address, without_secret

BASE = Path("/base") if os.name != "nt" else Path("C:\\base")


@pytest.mark.parametrize(
    ("text", "kind", "url"),
    [
        ("git@example.org:team/runtimes.git", "ssh", "git@example.org:team/runtimes.git"),
        ("example.org:runtimes", "ssh", "example.org:runtimes"),
        ("user@[::1]:runtimes", "ssh", "user@[::1]:runtimes"),
        ("ssh://git@example.org:2222/~/x", "ssh", "ssh://git@example.org:2222/~/x"),
        ("SSH://example.org/x", "ssh", "ssh://example.org/x"),
        ("https://example.org/team/x.git", "web", "https://example.org/team/x.git"),
        ("https://user@example.org:8443/x", "web", "https://user@example.org:8443/x"),
        ("http://127.0.0.1:8000/x.git", "web", "http://127.0.0.1:8000/x.git"),
        ("http://[::1]:8000/x.git", "web", "http://[::1]:8000/x.git"),
    ],
)
def test_taken(text, kind, url):
    found = address(text, BASE)
    assert (found.kind, found.url) == (kind, url)
    assert found.folder is None


@pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")
@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("/srv/git/x.git", "/srv/git/x.git"),
        ("x", "/base/x"),
        ("./-x", "/base/-x"),
        ("../shared dir/x", "/shared dir/x"),
        ('"/a b/x"', "/a b/x"),
        ("file:///srv/x%20y", "/srv/x y"),
        ("/a/../b", "/b"),
        ("/with:colon", "/with:colon"),
        ("./with:colon", "/base/with:colon"),
    ],
)
def test_folders(text, url):
    found = address(text, BASE)
    assert (found.kind, found.url, found.folder) == ("folder", url, Path(url))


def test_a_users_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("USERPROFILE", "/home/someone")
    assert Path(address("~/x").url) == Path("/home/someone/x")


@pytest.mark.parametrize(
    "text",
    [
        "", "   ", "ext::sh -c 'touch pwned'", "EXT::x", "fd::17", "transport::address", "::x",
        "ext::sh%20-c", "-x", "--upload-pack=touch pwned", "-oProxyCommand=x", "--help",
        "ssh://-oProxyCommand=touch/x", "-oProxyCommand=x@host:y", "user@-oProxyCommand=x:y",
        "host:-x", "host:", "ssh://host", "ssh://host/", "ssh:///x", "ssh://host/-x",
        "git://example.org/x", "ftp://example.org/x", "http://example.org/x", "javascript://x",
        "https://", "https:///x", "https://exa mple.org/x", "https://example.org:port/x",
        "https://-x/y", "https://example.org/x#y", "a\nb", "a\0b", "/x\x1b[31m", "x" * 3000,
        "user name@host:x", "host$(touch pwned):x", "host;x:y", "`x`:y", "u$er@host:x",
    ],
)  # fmt: skip
def test_refused(text):
    with pytest.raises(RefusedError) as refused:
        address(text, BASE)
    said = str(refused.value)
    assert "nothing was changed" in said or "nothing was stored" in said
    assert "\n" not in said
    assert "\x1b" not in said
    assert len(said) < 300


@pytest.mark.parametrize(
    "text",
    [
        "https://user:hunter22@example.org/x",
        "https://:hunter22@example.org/x",
        "ssh://user:hunter22@example.org/x",
        "https://hunter22hunter22hunter22@example.org/x",
        "https://example.org/x?access_token=hunter22",
        "http://user:hunter22@example.org/x",
        "ftp://user:hunter22@example.org/x",
        "ext::https://user:hunter22@example.org/x",
        "https://user:hunter22@example.org:port/x",
    ],
)
def test_a_secret_is_never_stored_and_never_repeated(text):
    with pytest.raises(RefusedError) as refused:
        address(text, BASE)
    assert "hunter22" not in str(refused.value)
    assert "hunter22" not in without_secret(f"fatal: could not read {text}: gone")


def test_what_is_no_secret_stays():
    said = "Cloning from https://user@example.org/x and git@example.org:x"
    assert without_secret(said) == said
