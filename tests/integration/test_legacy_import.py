"""A project of the earlier LM Studio plugin is imported once, whole, or not at all."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from throughline_nb.errors import StoreError, UnreadableFileError
from throughline_nb.store import legacy
from throughline_nb.store.home import Home
from throughline_nb.store.legacy import import_legacy, import_waiting, waiting
from throughline_nb.store.projects import Projects

DATA = Path(__file__).parents[1] / "data" / "legacy"
NOW = 1796083200.0  # 2026-12-01


@pytest.fixture
def home(tmp_path) -> Home:
    home = Home(tmp_path / "home")
    home.projects.mkdir(parents=True)
    for name in ("camel", "snake"):
        shutil.copytree(DATA / name, home.projects / name)
        for path in (home.projects / name).rglob("*"):
            os.utime(path, (1775000000, 1775000000))
    return home


def state(folder: Path) -> dict[str, str]:
    """Every file below a folder, by its content."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }


def test_versions_become_commits_in_order_and_with_their_times(home):
    project = import_legacy(home, "camel", NOW)
    assert project is not None
    records = list(reversed(project.history(50)))
    assert [record.subject for record in records] == [
        "Imported version 1 of 3: First finding recorded",
        "Imported version 2 of 3: S1 done; S2, F2, F3 added",
        "Imported version 3 of 3: C2, D1, Q2 added; S2 doing; F1, Notes changed; Q1 answered",
    ]
    assert [record.time for record in records] == [1772442000, 1772445600, 1772528400]
    assert {record.actor for record in records} == {"engine"}
    assert [record.version.split("-")[0] for record in records] == ["1", "2", "3"]
    ledger = project.read().ledger
    assert [finding.id for finding in ledger.findings] == ["F1", "F2", "F3"]
    assert ledger.findings[0].source == "https://example.org/a"
    assert ledger.next[2] == 7  # the plugin had used F1 to F6
    fsck = subprocess.run(
        ["git", "-C", project.path, "fsck", "--strict"], capture_output=True, text=True, check=True
    )
    assert "error" not in fsck.stderr


def test_what_it_imported_can_be_worked_with(home):
    from throughline_nb.ledger import edits
    from throughline_nb.store.projects import Stamp

    project = import_legacy(home, "camel", NOW)
    by = edits.By("model", "turn 1 of lmstudio/1", "2026-12-01T00:00:00Z")

    def edit(ledger):
        made = edits.record(ledger, "finding", "Library D is 8 kB", by)
        return made.ledger, made.sentence

    stamp = Stamp(actor="model", now=NOW)
    assert project.absorb(stamp) is None
    assert project.change(edit, stamp).ledger.findings[-1].id == "F7"
    assert Projects(home).names() == ["camel"]


def test_the_original_is_kept_and_a_second_run_does_nothing(home):
    before = state(home.projects / "camel")
    assert waiting(home) == ("camel", "snake")
    first = import_legacy(home, "camel", NOW).read()
    assert state(home.path / "before-import" / "camel") == before
    assert waiting(home) == ("snake",)
    everything = state(home.path)
    assert import_legacy(home, "camel", NOW) is None
    assert import_legacy(home, "nothing", NOW) is None
    assert import_legacy(home, "../camel", NOW) is None
    assert state(home.path) == everything
    assert Projects(home).open("camel").read() == first
    assert sorted(path.name for path in (home.path / "before-import").iterdir()) == ["camel"]


def test_all_that_wait_are_imported_and_each_says_so(home):
    lines = import_waiting(home, NOW)
    assert len(lines) == 2
    assert all("\n" not in line and "imported" in line for line in lines)
    assert Projects(home).names() == ["camel", "snake"]
    assert import_waiting(home, NOW) == ()
    moons = Projects(home).open("snake")
    assert moons.read().ledger.goal == "Name the moons"
    assert moons.history(9)[-1].time == 1775030400  # 2026-04-01T08:00:00Z, from the file's name


@pytest.mark.parametrize(
    "damaged", [b"", b'{"goal": "half', b"[]", b'{"name": "x"}', b"\xff\xfe", b'{"goal": "\xff"}']
)
def test_a_damaged_ledger_is_one_line_and_nothing_is_touched(home, damaged):
    (home.projects / "camel" / "ledger.json").write_bytes(damaged)
    before = state(home.projects)
    with pytest.raises(UnreadableFileError, match="nothing was touched") as caught:
        import_legacy(home, "camel", NOW)
    assert "\n" not in str(caught.value)
    assert state(home.projects) == before
    assert not (home.path / "before-import").exists()
    assert [line for line in import_waiting(home, NOW) if "nothing was touched" in line] == [
        str(caught.value)
    ]
    assert Projects(home).names() == ["snake"]


def test_an_import_that_was_cut_off_is_ended_by_the_next(home, monkeypatch):
    """At each of the renames the process ends; nothing is lost, and the next run completes it."""
    before = state(home.projects / "camel")
    real = Path.rename
    for at in range(3):
        done = []

        def rename(self, target, at=at, done=done):
            if len(done) == at:
                raise KeyboardInterrupt
            done.append(target)
            return real(self, target)

        monkeypatch.setattr(legacy.Path, "rename", rename)
        with pytest.raises(KeyboardInterrupt):
            import_legacy(home, "camel", NOW)
        monkeypatch.undo()
        assert waiting(home) == ("camel", "snake")
        kept = (home.projects / "camel", home.path / "before-import" / "camel")
        assert [state(folder) for folder in kept if folder.exists()] == [before]
    assert import_legacy(home, "camel", NOW).read().ledger.goal == "Find a logging library"
    assert state(home.path / "before-import" / "camel") == before
    left = [path.name for path in (home.path / "before-import").iterdir()]
    assert left == ["camel"]


def test_a_folder_that_cannot_be_written_is_one_line(home, monkeypatch):
    def refuse(self, target):
        raise PermissionError(13, "Permission denied", str(self))

    before = state(home.projects / "camel")
    monkeypatch.setattr(legacy.Path, "rename", refuse)
    with pytest.raises(StoreError, match="permission") as caught:
        import_legacy(home, "camel", NOW)
    assert "\n" not in str(caught.value)
    monkeypatch.undo()
    assert state(home.projects / "camel") == before
    assert import_legacy(home, "camel", NOW) is not None


def test_a_hand_edit_that_the_plugin_had_not_seen_is_kept_and_told(home):
    text = home.projects / "camel" / "ledger.md"
    text.write_text("# Mine\n\nwith an edit\n", encoding="utf-8")
    os.utime(text, (1775009999, 1775009999))
    ledger = import_legacy(home, "camel", NOW).read().ledger
    assert "edited by hand" in ledger.prose[0].text
    assert "second paragraph" in ledger.prose[0].text
    kept = home.path / "before-import" / "camel" / "ledger.md"
    assert kept.read_text(encoding="utf-8") == "# Mine\n\nwith an edit\n"


def test_an_original_of_the_same_name_is_not_overwritten(home):
    import_legacy(home, "camel", NOW)
    Projects(home).delete("camel")
    shutil.copytree(DATA / "camel", home.projects / "camel")
    import_legacy(home, "camel", NOW)
    kept = sorted(path.name for path in (home.path / "before-import").iterdir())
    assert kept == ["camel", "camel-2"]


def test_no_version_is_dated_after_now_or_before_the_one_before(home):
    project = import_legacy(home, "camel", 1772443000.0)
    times = [record.time for record in reversed(project.history(9))]
    assert times == [1772442000, 1772443000, 1772443000]
