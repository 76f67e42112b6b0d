"""Where things are, atomic files, locks, and names that are safe in a path."""

import os
import threading
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from throughline_nb.errors import NewerFormatError, StoreError
from throughline_nb.store.files import exchange
from throughline_nb.store.home import (
    Home,
    is_slug,
    lmstudio_home,
    lock,
    safe_name,
    slug,
    write_atomic,
)


def located(tmp_path, **env):
    return Home.locate({"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), **env}).path


class TestLocate:
    def test_the_variable_wins(self, tmp_path):
        assert located(tmp_path, THROUGHLINE_HOME=str(tmp_path / "own")) == tmp_path / "own"

    def test_a_tilde_in_the_variable(self, tmp_path):
        assert located(tmp_path, THROUGHLINE_HOME="~/own") == tmp_path / "own"

    def test_an_empty_variable_counts_for_nothing(self, tmp_path):
        assert located(tmp_path, THROUGHLINE_HOME=" ") == tmp_path / ".lmstudio" / "throughline"

    def test_the_default(self, tmp_path):
        assert located(tmp_path) == tmp_path / ".lmstudio" / "throughline"

    def test_the_pointer_file(self, tmp_path):
        (tmp_path / ".lmstudio-home-pointer").write_text(f"{tmp_path / 'elsewhere'}\n")
        assert located(tmp_path) == tmp_path / "elsewhere" / "throughline"

    def test_the_old_cache_folder(self, tmp_path):
        (tmp_path / ".cache" / "lm-studio").mkdir(parents=True)
        assert located(tmp_path) == tmp_path / ".cache" / "lm-studio" / "throughline"
        assert not (tmp_path / ".lmstudio-home-pointer").exists()

    def test_what_the_installer_recorded(self, tmp_path):
        folder = tmp_path / ".lmstudio" / "throughline"
        folder.mkdir(parents=True)
        far = (tmp_path / "far").as_posix()
        (folder / "bridge.json").write_text(f'{{"home": "{far}", "python": "x"}}')
        assert located(tmp_path) == tmp_path / "far"

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"home": 7}', '{"home": " "}', "\x00"])
    def test_a_damaged_record_counts_for_nothing(self, tmp_path, text):
        folder = tmp_path / ".lmstudio" / "throughline"
        folder.mkdir(parents=True)
        (folder / "bridge.json").write_text(text)
        assert located(tmp_path) == folder

    def test_nothing_is_made_by_looking(self, tmp_path):
        located(tmp_path)
        lmstudio_home({"HOME": str(tmp_path)})
        assert list(tmp_path.iterdir()) == []


class TestFormat:
    def test_a_new_home_gets_a_number(self, tmp_path):
        home = Home(tmp_path / "h")
        home.ensure_writable()
        home.ensure_writable()
        assert home.format == 1
        assert [path.name for path in home.path.iterdir()] == ["format"]

    def test_a_newer_home_is_not_written(self, tmp_path):
        (tmp_path / "format").write_text("2\n")
        with pytest.raises(NewerFormatError, match="upgrade"):
            Home(tmp_path).ensure_writable()

    def test_a_home_that_cannot_be_made(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(StoreError, match="THROUGHLINE_HOME"):
            Home(tmp_path / "file" / "h").ensure_writable()


class TestWriteAtomic:
    @pytest.mark.parametrize("durable", [True, False])
    def test_it_replaces_and_leaves_nothing(self, tmp_path, durable):
        path = tmp_path / "a.json"
        write_atomic(path, b"one", durable=durable)
        write_atomic(path, b"two" * 100_000, durable=durable)
        assert path.read_bytes() == b"two" * 100_000
        assert list(tmp_path.iterdir()) == [path]

    def test_a_failure_leaves_the_old_file_and_nothing_else(self, tmp_path, monkeypatch):
        path = tmp_path / "a.json"
        write_atomic(path, b"one")

        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="no space left"):
            write_atomic(path, b"two")
        assert path.read_bytes() == b"one"
        assert list(tmp_path.iterdir()) == [path]

    def test_a_missing_folder_is_one_line(self, tmp_path):
        with pytest.raises(StoreError, match="no such file"):
            write_atomic(tmp_path / "none" / "a", b"x")

    @pytest.mark.skipif(os.name == "nt", reason="modes and links of POSIX")
    def test_mode_and_link_stay(self, tmp_path):
        real, link = tmp_path / "real", tmp_path / "link"
        write_atomic(real, b"one")
        real.chmod(0o600)
        link.symlink_to(real)
        write_atomic(link, b"two")
        assert link.is_symlink()
        assert real.read_bytes() == b"two"
        assert real.stat().st_mode & 0o777 == 0o600

    def test_readers_never_see_a_part(self, tmp_path):
        path = tmp_path / "a"
        sizes = {b"a" * 10, b"b" * 200_000}
        write_atomic(path, b"a" * 10)
        seen, done = set(), threading.Event()

        def look():
            while not done.is_set():
                seen.add(path.read_bytes())

        reader = threading.Thread(target=look)
        reader.start()
        for _ in range(50):
            for data in sizes:
                write_atomic(path, data, durable=False)
        done.set()
        reader.join()
        assert seen <= sizes


def test_exchange_swaps_or_does_nothing(tmp_path):
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_bytes(b"one")
    two.write_bytes(b"two")
    swapped = exchange(one, two)
    assert (one.read_bytes(), two.read_bytes()) == (
        (b"two", b"one") if swapped else (b"one", b"two")
    )
    assert exchange(one, tmp_path / "none") is False


class TestLock:
    def test_a_second_holder_waits_and_then_gives_up(self, tmp_path):
        path = tmp_path / "locks" / "demo.lock"
        held, let_go = threading.Event(), threading.Event()

        def hold():
            with lock(path):
                held.set()
                let_go.wait(10)

        other = threading.Thread(target=hold)
        other.start()
        held.wait(10)
        try:
            with (
                pytest.raises(StoreError, match=r"“demo” is in use.*try again"),
                lock(path, timeout=0.1),
            ):
                pass
        finally:
            let_go.set()
            other.join()
        with lock(path, timeout=0.1):
            pass

    def test_it_is_let_go_after_an_error(self, tmp_path):
        path = tmp_path / "demo.lock"
        with pytest.raises(RuntimeError), lock(path):
            raise RuntimeError
        with lock(path, timeout=0.1):
            pass

    def test_a_folder_that_cannot_be_made(self, tmp_path):
        (tmp_path / "file").write_text("")
        with (
            pytest.raises(StoreError, match="could not be locked"),
            lock(tmp_path / "file" / "x.lock"),
        ):
            pass


class TestSlug:
    @pytest.mark.parametrize(
        ("title", "expected"),
        [
            ("LLM runtimes", "llm-runtimes"),
            ("  What's   next?! ", "whats-next"),
            ("a/b", "a-b"),
            ("..\\..\\etc", "etc"),
            (".git", "git"),
            ("Über-Straße Łódź Øre", "uber-strasse-lodz-ore"),
            ("2026-12-01", "2026-12-01"),
            ("東京 LLM", "llm"),
            ("CON", "con-project"),
            ("lpt1", "lpt1-project"),
            ("x" * 300, "x" * 48),
        ],
    )
    def test_titles(self, title, expected):
        assert slug(title) == expected

    def test_composed_and_decomposed_are_one(self):
        assert slug("Café") == slug(unicodedata.normalize("NFD", "Café")) == "cafe"
        assert slug("ばば") == slug(unicodedata.normalize("NFD", "ばば"))

    def test_titles_without_latin_letters_never_share(self):
        titles = [
            "🚀",
            "🎯",
            "推論の比較",
            "実行環境",
            "🚀 1",
            "🎯 1",
            "Привет",
            "..",
            "...",
            "!",
            "",
        ]
        assert len({slug(title) for title in titles}) == len(titles)
        assert slug("🚀") == slug("🚀")

    def test_taken(self):
        assert slug("demo", {"demo"}) == "demo-2"
        assert slug("demo", ["demo", "demo-2"]) == "demo-3"

    def test_a_long_title_is_cut_at_a_word(self):
        name = slug("measure every inference runtime that anybody has ever heard of anywhere")
        assert len(name) <= 48
        assert name == "measure-every-inference-runtime-that-anybody-has"

    @given(st.text(max_size=300))
    def test_every_title_gives_a_folder(self, title):
        name = slug(title)
        assert is_slug(name)
        assert name.isascii()
        assert name == name.lower()
        assert len(name) <= 60
        assert Path("home", name).parent == Path("home")
        assert slug(title, {name}) != name


class TestSafeName:
    def test_plain_ids_stay(self):
        for ident in ("1764500000000", "0b2c7a4e-7f5e-4d3c-9a68-1f0e5d2c3b4a"):
            assert safe_name(ident) == ident

    def test_no_id_leaves_its_folder(self):
        for ident in (
            "..",
            ".",
            "",
            "../../etc/passwd",
            "a/b",
            "a\\b",
            "C:\\x",
            "con",
            "NUL.txt",
            "x\x00y",
            "x" * 500,
            " lead",
            "trail.",
            "a:b",
        ):
            name = safe_name(ident)
            assert Path("chats", "h", name).parent == Path("chats", "h")
            assert len(name) < 100
            assert not name.startswith(".")
            assert not set(name) & set('/\\:*?"<>|\x00 ')

    def test_no_two_share(self):
        idents = [
            "a/b",
            "a\\b",
            "a-b",
            "a b",
            "A-B",
            "a_b",
            "a.b",
            "a/b/",
            "..",
            "",
            "chat",
            "Chat",
        ]
        names = {safe_name(ident).lower() for ident in idents}
        assert len(names) == len(idents)

    @given(st.text(max_size=100), st.text(max_size=100))
    def test_injective_where_case_is_ignored(self, one, two):
        assert (safe_name(one).lower() == safe_name(two).lower()) == (one == two)
