"""Where LM Studio's folder is, by its pointer, on each system; and the plugins in it."""

import json
import os

import pytest

from throughline_nb.hosts.lmstudio import plugin
from throughline_nb.hosts.lmstudio.checks import Check
from throughline_nb.hosts.lmstudio.places import Places

OWN = "own"


@pytest.mark.parametrize(
    ("system", "variable", "other"),
    [("nt", "USERPROFILE", "HOME"), ("posix", "HOME", "USERPROFILE")],
)
class TestFolder:
    def test_by_the_pointer(self, tmp_path, system, variable, other):
        pointer = tmp_path / ".lmstudio-home-pointer"
        pointer.write_text(f"{tmp_path / 'on another disk'}\r\n", encoding="utf-8")
        places = Places.locate({variable: str(tmp_path), other: "/nowhere"}, system)
        assert places.record == tmp_path / "on another disk" / "throughline" / "bridge.json"

    def test_by_default(self, tmp_path, system, variable, other):
        places = Places.locate({variable: str(tmp_path), other: "/nowhere"}, system)
        assert places.plugins == tmp_path / ".lmstudio" / "extensions" / "plugins"
        assert places.conversations == tmp_path / ".lmstudio" / "conversations"

    def test_the_old_folder(self, tmp_path, system, variable, other):
        (tmp_path / ".cache" / "lm-studio").mkdir(parents=True)
        places = Places.locate({variable: str(tmp_path), other: "/nowhere"}, system)
        assert places.ours == tmp_path / ".cache" / "lm-studio" / "throughline"


@pytest.mark.parametrize(("system", "name"), [("nt", "lms.exe"), ("posix", "lms")])
def test_lms_from_its_own_folder(tmp_path, system, name):
    places = Places(tmp_path)
    assert places.lms({"PATH": ""}, system) is None
    (tmp_path / "bin").mkdir()
    own = tmp_path / "bin" / name
    own.write_text("#!/bin/sh\n", encoding="utf-8")
    own.chmod(0o755)
    assert places.lms({"PATH": ""}, system) == own


@pytest.mark.skipif(os.name == "nt", reason="an executable by its mode")
def test_lms_from_path_comes_first(tmp_path):
    for folder in ("bin", "path"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "lms").write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / folder / "lms").chmod(0o755)
    found = Places(tmp_path).lms({"PATH": str(tmp_path / "path")})
    assert found == tmp_path / "path" / "lms"


@pytest.fixture
def put(tmp_path):
    def make(owner, name, version="1.0.0", manifest=None):
        folder = tmp_path / "extensions" / "plugins" / owner / name
        folder.mkdir(parents=True)
        said = {"type": "plugin", "runner": "node", "owner": owner, "name": name}
        (folder / "manifest.json").write_text(
            json.dumps(said) if manifest is None else manifest, encoding="utf-8"
        )
        if version:
            (folder / "package.json").write_text(
                json.dumps({"name": name, "version": version}), encoding="utf-8"
            )
        return folder

    return make


class TestPlugins:
    def test_ours_and_others_of_the_name(self, tmp_path, put):
        own = plugin.Plugin(put(OWN, "throughline"), OWN, "throughline")
        put("someone", "throughline", version="")
        put("someone", "through-line-plugin")
        put("someone", "visit-website")
        put("someone", "line")
        put("damaged", "throughline", manifest="{")
        places = Places(tmp_path)
        assert str(plugin.installed(places, own)) == "own/throughline"
        assert [str(each) for each in plugin.others(places, own)] == [
            "someone/through-line-plugin",
            "someone/throughline",
        ]

    def test_no_folder_of_plugins(self, tmp_path):
        own = plugin.Plugin(tmp_path, OWN, "throughline")
        assert plugin.installed(Places(tmp_path), own) is None
        assert list(plugin.others(Places(tmp_path), own)) == []

    def test_removing_leaves_the_neighbours(self, tmp_path, put):
        own = plugin.Plugin(put(OWN, "throughline"), OWN, "throughline")
        other = put(OWN, "another")
        assert plugin.remove(Places(tmp_path), own) == own.folder
        assert other.is_dir()
        assert plugin.remove(Places(tmp_path), own) is None

    @pytest.mark.skipif(os.name == "nt", reason="links need a right there")
    def test_a_linked_plugin_is_unlinked_and_what_it_leads_to_stays(self, tmp_path, put):
        real = put("elsewhere", "throughline")
        link = tmp_path / "extensions" / "plugins" / OWN / "throughline"
        link.parent.mkdir()
        link.symlink_to(real)
        own = plugin.Plugin(link, OWN, "throughline")
        assert plugin.remove(Places(tmp_path), own) == link
        assert (real / "manifest.json").is_file()
        assert not link.parent.exists()


def test_lm_studio_gets_what_it_needs_and_nothing_else(tmp_path):
    folder = tmp_path / "checkout"
    for name in ("src", "node_modules/sdk", "test", ".lmstudio"):
        (folder / name).mkdir(parents=True)
        (folder / name / "a.ts").write_text(name, encoding="utf-8")
    (folder / "src" / "a.test.ts").write_text("", encoding="utf-8")
    (folder / "manifest.json").write_text("{}", encoding="utf-8")
    (folder / "notes.txt").write_text("", encoding="utf-8")
    package = {"version": "1.0.0", "dependencies": {"sdk": "1.5.0"}}
    (folder / "package.json").write_text(
        json.dumps({**package, "devDependencies": {"typescript": "5"}}), encoding="utf-8"
    )
    (tmp_path / "copy").mkdir()
    plugin.copy(plugin.Plugin(folder, OWN, "throughline"), tmp_path / "copy")
    files = [path for path in (tmp_path / "copy").rglob("*") if path.is_file()]
    assert sorted(path.relative_to(tmp_path).as_posix() for path in files) == [
        "copy/manifest.json",
        "copy/package.json",
        "copy/src/a.ts",
    ]
    assert json.loads((tmp_path / "copy" / "package.json").read_bytes()) == package


def test_a_check_is_one_line_with_its_cure():
    assert Check("git", "/usr/bin/git").line == "ok   git: /usr/bin/git."
    assert Check("git", "none", "install it").line == "fix  git: none: install it."
