"""Cleaning up after deleted chats, in real folders: what goes, when, and what never does."""

import os
import shutil
import subprocess
import threading

import msgspec
import pytest
from chat_host import ChatHost
from stores import USER, finding, projects

from throughline_nb.chat import ChatKey
from throughline_nb.engine.cleaning import Cleaner
from throughline_nb.engine.session import Engine
from throughline_nb.errors import NotFoundError, StoreError
from throughline_nb.hosts.lmstudio.files import LMStudioChats
from throughline_nb.ledger import Ledger
from throughline_nb.store import cleanup, marks
from throughline_nb.store.chats import Chats, ChatState
from throughline_nb.store.cleanup import clean, plan, reopened
from throughline_nb.store.cleanup_plan import CONFIRMED_SECONDS, DAY
from throughline_nb.store.files import lock
from throughline_nb.store.home import Home
from throughline_nb.store.projects import Projects
from throughline_nb.store.settings import Settings

NOW = 1_790_000_000.0
HOUR = 3600.0


class World:
    """A home, LM Studio's conversations beside it, and a clock."""

    def __init__(self, folder):
        self.home = Home(folder / "home")
        self.conversations = folder / "conversations"
        self.conversations.mkdir()
        self.chats = Chats(self.home)
        self.projects = projects(folder)
        self.exists = LMStudioChats(self.conversations)
        self.now = NOW
        self.converse("other")

    def file(self, ident, below=""):
        return self.conversations / below / f"{ident}.conversation.json"

    def converse(self, ident, below=""):
        file = self.file(ident, below)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}", encoding="utf-8")

    def bind(self, ident, project, host="lmstudio"):
        key = ChatKey(host, ident)
        self.chats.save(key, ChatState(key=str(key), project=project))
        return self.chats.folder(key)

    def chat(self, ident, project):
        self.converse(ident)
        return self.bind(ident, project)

    def project(self, name="runtimes"):
        self.projects.create(name, Ledger(goal="Compare"), "Project started", USER)
        return self.home.projects / name

    def clean(self, **settings):
        """A cleaning that does what the dry run before it names."""
        given = (self.home, self.exists, self.now, Settings(**settings))
        planned = plan(*given)
        done = clean(*given)
        assert done == planned.actions
        return [(action.kind, action.name) for action in done]

    def marked(self):
        return marks.load(self.home)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def orphaned(world, name="runtimes"):
    """A project whose last chat was deleted a moment ago."""
    path = world.project(name)
    world.chat("1764500000000", name)
    world.clean()
    world.file("1764500000000").unlink()
    assert world.clean() == [("chat", "lmstudio/1764500000000"), ("orphan", name)]
    return path


def test_a_deleted_chats_folder_goes_at_once_and_its_project_later(world):
    path = orphaned(world)
    assert not world.home.chats.joinpath("lmstudio").exists()
    assert path.is_dir()
    assert world.marked().orphans == {"runtimes": NOW}
    world.now += 7 * DAY - 1
    assert world.clean() == []
    world.now += 1
    assert world.clean() == [("trash", "runtimes")]
    assert not path.exists()
    assert (world.home.trash / "runtimes" / "ledger.md").is_file()
    assert world.marked().orphans == {}
    world.now += 30 * DAY
    assert world.clean() == []
    world.now += CONFIRMED_SECONDS - 1
    assert world.clean() == []
    world.now += 1
    assert world.clean() == [("delete", "runtimes")]
    assert not world.home.trash.exists()
    assert world.marked().trash == {}


def test_the_days_are_settings(world):
    orphaned(world)
    world.now += DAY
    assert world.clean(orphan_days=2) == []
    assert world.clean(orphan_days=1) == [("trash", "runtimes")]
    world.now += DAY
    assert world.clean(trash_days=1) == []
    world.now += CONFIRMED_SECONDS
    assert world.clean(trash_days=1) == [("delete", "runtimes")]


def test_the_plan_says_what_would_go_and_why(world):
    world.project()
    world.chat("1", "runtimes")
    world.file("1").unlink()
    actions = plan(world.home, world.exists, world.now, Settings()).actions
    assert actions[0].would.startswith("Would remove chat lmstudio/1: its conversation was gone on")
    assert "its last chat was deleted; it moves to the trash on 2026-09-" in actions[1].would
    assert (world.home.chats / "lmstudio" / "1" / "state.json").is_file()
    assert not world.home.index.exists()


def test_a_moved_chat_is_not_deleted(world):
    world.project()
    world.chat("1", "runtimes")
    (world.conversations / "a" / "b").mkdir(parents=True)
    world.file("1").rename(world.file("1", "a/b"))
    assert world.clean() == []
    assert world.chats.folder(ChatKey("lmstudio", "1")).is_dir()


def test_only_the_last_chat_makes_an_orphan(world):
    world.project()
    for ident in "12":
        world.chat(ident, "runtimes")
    world.file("1").unlink()
    assert world.clean() == [("chat", "lmstudio/1")]
    world.bind("notes.ipynb", "runtimes", "notebook")
    world.file("2").unlink()
    assert world.clean() == [("chat", "lmstudio/2")]
    assert world.marked().orphans == {}


@pytest.mark.parametrize("leave", ["off", "open", "nothing"])
def test_a_project_without_chats_is_no_orphan(world, leave):
    world.project()
    world.project("other")
    if leave != "nothing":
        world.chat("1", "runtimes")
        key = ChatKey("lmstudio", "1")
        state = ChatState(key=str(key), project="other" if leave == "open" else "", off=True)
        world.chats.save(key, state)
        world.file("1").unlink()
        assert ("orphan", "runtimes") not in world.clean()
    world.now += 400 * DAY
    world.clean()
    assert (world.home.projects / "runtimes").is_dir()


def test_a_chat_of_another_host_or_without_a_plain_id(world):
    world.project()
    world.bind("1", "runtimes", "notebook")
    world.bind("../../Etc", "runtimes")
    folder = world.home.chats / "lmstudio" / "not.a.chat"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    assert world.clean() == [("chat", "lmstudio/../../Etc")]
    assert folder.is_dir()
    assert (world.home.chats / "notebook" / "1").is_dir()


def test_a_folder_of_recall_alone_goes_too(world):
    folder = world.home.chats / "lmstudio" / "1764500000001"
    folder.mkdir(parents=True)
    (folder / "history.jsonl").write_text("{}\n")
    assert world.clean() == [("chat", "lmstudio/1764500000001")]


@pytest.mark.parametrize("how", ["missing", "empty", "a file", "renamed", "replaced", "linked"])
def test_conversations_that_cannot_be_known_delete_nothing(world, how):
    world.project()
    for ident in "123":
        world.chat(ident, "runtimes")
    world.clean()
    away = world.conversations.with_name("away")
    if how == "linked":  # what lies behind a link is not known
        world.conversations.rename(away)
        world.conversations.mkdir()
        world.converse("another")
        (world.conversations / "a").symlink_to(away, target_is_directory=True)
    else:
        world.conversations.rename(away)
    if how == "empty":
        (world.conversations / "folder of the app").mkdir(parents=True)
    elif how == "a file":
        world.conversations.write_text("")
    elif how == "replaced":  # the app made a new one, with a new chat
        world.conversations.mkdir()
        world.converse("another")
    assert world.clean() == []
    world.now += HOUR
    assert world.clean() == []
    assert len(list((world.home.chats / "lmstudio").iterdir())) == 3
    if how == "replaced":
        back = world.conversations.with_name("newer")
        world.conversations.rename(back)
        away.rename(world.conversations)
        world.file("3").unlink()
        assert world.clean() == [("chat", "lmstudio/3")]


def test_another_folder_is_believed_after_a_day(world):
    world.chat("1", "gone-project")
    world.clean()
    world.conversations.rename(world.conversations.with_name("away"))
    world.conversations.mkdir()
    world.converse("another")
    assert world.clean() == []
    world.now += DAY
    assert world.clean() == [("chat", "lmstudio/1")]


def test_a_subfolder_that_cannot_be_read(world, monkeypatch):
    world.project()
    world.bind("1", "runtimes")
    (world.conversations / "a").mkdir()
    real = os.scandir

    def refused(path):
        if str(path).endswith("a"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", refused)
    assert world.exists(ChatKey("lmstudio", "1")) is None
    assert world.clean() == []


def test_a_conversation_that_is_a_link_exists(world):
    (world.conversations / "1.conversation.json").symlink_to("nowhere")
    assert world.exists(ChatKey("lmstudio", "1")) is True
    assert world.exists(ChatKey("lmstudio", "2")) is False
    assert world.exists(ChatKey("notebook", "2")) is None


def test_a_chat_moved_while_the_folder_is_listed(world, monkeypatch):
    world.project()
    world.chat("1", "runtimes")
    (world.conversations / "a").mkdir()
    real = os.scandir
    calls = []

    def moving(path):
        calls.append(path)
        if len(calls) == 2:  # into what was listed already
            world.file("1", "a").rename(world.file("1"))
        return real(path)

    world.file("1").rename(world.file("1", "a"))
    monkeypatch.setattr(os, "scandir", moving)
    assert world.exists(ChatKey("lmstudio", "1")) is True


def test_open_brings_an_orphan_back_at_any_point(world):
    path = orphaned(world)
    assert reopened(world.projects, "Runtimes") == "runtimes"
    assert world.marked().orphans == {}
    world.now += 100 * DAY
    assert world.clean() == []
    assert path.is_dir()


@pytest.mark.parametrize("index", ["kept", "lost"])
def test_open_brings_a_project_back_from_the_trash(world, index):
    path = orphaned(world)
    world.projects.open("runtimes").change(finding("a claim"), USER)
    world.now += 8 * DAY
    assert world.clean() == [("trash", "runtimes")]
    if index == "lost":
        world.home.index.unlink()
    with pytest.raises(NotFoundError):
        world.projects.find("runtimes")
    engine = Engine(world.home, lambda: world.now)
    said = engine.command("open runtimes", key=ChatKey("lmstudio", "2"), turn=1)
    assert said.text.startswith("Project runtimes is open here")
    assert path.is_dir()
    assert world.marked().trash == {}
    assert world.projects.open("runtimes").read().ledger.findings[0].text == "a claim"
    world.converse("2")
    world.now += 100 * DAY
    assert world.clean() == []


def test_two_of_one_name_in_the_trash(world):
    for _ in range(2):
        orphaned(world)
        world.now += 8 * DAY
        assert world.clean() == [("trash", "runtimes")]
    assert sorted(path.name for path in world.home.trash.iterdir()) == ["runtimes", "runtimes-2"]
    assert reopened(world.projects, "runtimes") == "runtimes"
    assert [path.name for path in world.home.trash.iterdir()] == [
        "runtimes"
    ]  # the later one came back
    world.now += 40 * DAY
    world.clean()
    world.now += CONFIRMED_SECONDS
    assert world.clean() == [("delete", "runtimes")]
    assert (world.home.projects / "runtimes").is_dir()


def test_a_new_project_inherits_no_mark(world):
    orphaned(world)
    world.projects.delete("runtimes")
    world.project()
    world.now += 8 * DAY
    assert world.clean() == []


def test_a_forward_jump_deletes_nothing_for_good(world):
    orphaned(world)
    world.now += 8 * DAY
    world.clean()
    right = world.now
    for jump in (45 * DAY, 400 * DAY, 4000 * DAY):
        world.now = right + jump
        assert world.clean() == []
        world.now += DAY / 2
        assert world.clean() == []
        world.now = right
        assert world.clean() == []
    world.now += 30 * DAY - 1
    assert world.clean() == []
    world.now += CONFIRMED_SECONDS
    assert world.clean() == []
    assert (world.home.trash / "runtimes").is_dir()
    world.now += CONFIRMED_SECONDS
    assert world.clean() == [("delete", "runtimes")]


def test_what_was_trashed_in_a_jump_waits_its_days_from_then_on(world):
    orphaned(world)
    right = world.now
    world.now += 45 * DAY
    assert world.clean() == [("trash", "runtimes")]
    world.now = right
    assert world.clean() == []
    for _ in range(30):
        world.now += DAY
        assert world.clean() == []


@pytest.mark.parametrize("back", [400 * DAY, 20 * DAY, 2 * HOUR])
@pytest.mark.parametrize("looks", [1, 50])
@pytest.mark.parametrize("trashed", [False, True])
def test_a_clock_that_went_back_and_was_set_right_ages_nothing(world, back, looks, trashed):
    orphaned(world)
    if trashed:
        world.now += 8 * DAY
        assert world.clean() == [("trash", "runtimes")]
    right = world.now
    for look in range(looks):
        world.now = right - back + 60 * look
        assert world.clean() == []
    for later in (60, DAY - 60, DAY):
        world.now = right + looks * 60 + later
        assert world.clean() == []


@pytest.mark.parametrize("ahead", [61 * DAY, 400 * DAY])
def test_a_clock_that_stays_ahead_counts_from_there(world, ahead):
    orphaned(world)
    world.now += ahead
    for _ in range(6):
        assert world.clean() == []
        world.now += DAY
    assert world.clean() == []
    world.now += DAY
    assert world.clean() == [("trash", "runtimes")]
    for _ in range(31):
        assert world.clean() == []
        world.now += DAY
    assert world.clean() == [("delete", "runtimes")]


def test_a_clock_changed_to_and_fro_by_half_a_day_makes_no_days_pass(world):
    orphaned(world)
    for _ in range(40):
        world.now += DAY / 2
        assert world.clean() == []
        world.now -= DAY / 2 - 60
        assert world.clean() == []


def test_a_clock_that_was_never_set_cleans_nothing(world):
    orphaned(world)
    before = world.marked()
    world.now = 86_400.0
    assert world.clean() == []
    assert world.marked() == before


@pytest.mark.parametrize(
    "text", ["", "not JSON", "[]", '{"orphans": {"runtimes": "soon"}}', '{"trash": 3}', "\x00"]
)
def test_a_damaged_index_is_kept_beside(world, text):
    orphaned(world)
    world.home.index.write_text(text)
    world.chat("2", "runtimes")
    world.file("2").unlink()
    assert world.clean() == [("chat", "lmstudio/2"), ("orphan", "runtimes")]
    assert world.home.index.with_name("index.damaged.json").read_text() == text


def test_dates_that_cannot_be_are_now(world):
    path = orphaned(world)
    world.home.index.write_text('{"orphans": {"runtimes": -1e300, "nobody": 0}}')
    assert world.clean() == []
    assert world.marked().orphans == {"runtimes": NOW}
    assert path.is_dir()


def test_links_are_left_alone(world, tmp_path):
    outside = tmp_path / "outside"
    path = orphaned(world)
    path.rename(outside)
    path.symlink_to(outside, target_is_directory=True)
    away = tmp_path / "away"
    away.mkdir()
    (away / "mine.txt").write_text("mine")
    (world.home.chats / "lmstudio").mkdir(parents=True)
    (world.home.chats / "lmstudio" / "9").symlink_to(away, target_is_directory=True)
    world.now += 8 * DAY
    assert world.clean() == []
    assert (outside / "ledger.md").is_file()
    assert (away / "mine.txt").is_file()
    assert path.is_symlink()


@pytest.mark.parametrize("part", ["chats", "chats/lmstudio", "projects", "trash"])
def test_a_part_of_the_home_that_is_a_link(world, tmp_path, part):
    path = orphaned(world)
    world.now += 8 * DAY
    if part == "trash":
        world.clean()
        world.now += 31 * DAY
        world.clean()
        world.now += HOUR
    elif part != "projects":
        world.chat("2", "runtimes")
        world.file("2").unlink()
    outside = tmp_path / "outside"
    moved = world.home.path / part
    moved.rename(outside)
    moved.symlink_to(outside, target_is_directory=True)
    count = sum(1 for _ in outside.rglob("*"))
    assert ("chat", "lmstudio/2") not in world.clean()
    assert sum(1 for _ in outside.rglob("*")) == count
    assert moved.is_symlink()
    assert path.is_dir() or part in ("trash", "chats", "chats/lmstudio")


def test_a_trash_that_is_a_link_takes_nothing(world, tmp_path):
    path = orphaned(world)
    outside = tmp_path / "outside"
    outside.mkdir()
    world.home.trash.symlink_to(outside, target_is_directory=True)
    world.now += 8 * DAY
    given = (world.home, world.exists, world.now, Settings())
    assert clean(*given) == ()
    assert path.is_dir()
    assert list(outside.iterdir()) == []


def test_a_link_in_a_project_that_goes_for_good(world, tmp_path):
    path = orphaned(world)
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o750)
    (outside / "mine.txt").write_text("mine")
    (path / "linked").symlink_to(outside, target_is_directory=True)
    (path / "one").symlink_to(outside / "mine.txt")
    for days in (8, 31):
        world.now += days * DAY
        world.clean()
    world.now += CONFIRMED_SECONDS
    assert world.clean() == [("delete", "runtimes")]
    assert (outside / "mine.txt").read_text() == "mine"
    assert outside.stat().st_mode & 0o777 == 0o750


def test_a_home_reached_by_a_link_is_cleaned(world, tmp_path):
    orphaned(world)
    way = tmp_path / "way"
    way.symlink_to(world.home.path, target_is_directory=True)
    world.home = Home(way)
    world.now += 8 * DAY
    assert world.clean() == [("trash", "runtimes")]


def test_two_cleanings_at_once_the_second_skips(world):
    world.project()
    world.chat("1", "runtimes")
    world.file("1").unlink()
    given = (world.home, world.exists, world.now, Settings())
    done = []
    with lock(world.home.locks / ".clean.lock"):
        other = threading.Thread(target=lambda: done.append(clean(*given)))
        other.start()
        other.join()
    assert done == [()]
    assert clean(*given) != ()


def test_many_cleanings_at_once_do_each_thing_once(world):
    for number in range(6):
        world.project(f"p{number}")
        world.chat(str(number), f"p{number}")
        world.file(str(number)).unlink()
    given = (world.home, world.exists, world.now, Settings())
    done = []
    threads = [threading.Thread(target=lambda: done.extend(clean(*given))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = [(action.kind, action.name) for action in done]
    assert sorted(names) == sorted(set(names))
    assert len(names) == 12


def test_an_interrupted_removal_is_finished(world, monkeypatch):
    world.project()
    world.chat("1", "runtimes")
    world.file("1").unlink()
    monkeypatch.setattr(cleanup, "remove_tree", lambda _path: None)  # killed here
    clean(world.home, world.exists, world.now, Settings())
    monkeypatch.undo()
    assert len(list(world.home.trash.iterdir())) == 1
    assert list(Chats(world.home).states()) == []
    world.clean()
    assert not world.home.trash.exists()


def test_what_fails_is_due_again(world, monkeypatch):
    path = orphaned(world)
    world.now += 8 * DAY

    def refused(*_):
        raise StoreError("in use; nothing was changed.")

    monkeypatch.setattr("throughline_nb.store.projects.Projects.trash", refused)
    given = (world.home, world.exists, world.now, Settings())
    assert clean(*given) == ()
    assert path.is_dir()
    monkeypatch.undo()
    assert clean(*given)[0].kind == "trash"


def test_nothing_is_made_where_there_is_nothing(tmp_path):
    home = Home(tmp_path / "none")
    assert clean(home, LMStudioChats(tmp_path), NOW, Settings()) == ()
    assert not home.path.exists()


def test_a_newer_home_is_left_alone(world):
    world.project()
    world.bind("1", "runtimes")
    (world.home.path / "format").write_text("2\n")
    assert clean(world.home, world.exists, world.now, Settings()) == ()


def test_a_state_that_cannot_be_read_may_bind_any_project(world, monkeypatch):
    world.project()
    world.chat("1", "runtimes")
    (world.bind("2", "runtimes") / "state.json").unlink()
    (world.home.chats / "lmstudio" / "2" / "state.json").mkdir()  # reading it fails
    world.converse("2")
    world.file("1").unlink()
    assert world.clean() == []


# The engine


def engine_of(world):
    return Engine(world.home, lambda: world.now, chat_exists=world.exists)


def test_the_engine_cleans_at_its_start_and_once_a_minute(world, monkeypatch):
    world.project()
    world.chat("1", "runtimes")
    world.file("1").unlink()
    engine = engine_of(world)
    host = ChatHost(engine, "2")
    world.converse("2")
    host.say("Hello")
    engine.cleaner.wait(10)
    assert world.marked().orphans == {"runtimes": NOW}
    world.chat("3", "runtimes")
    world.file("3").unlink()
    host.answer()
    host.say("Again")
    engine.cleaner.wait(10)
    assert (world.home.chats / "lmstudio" / "3").is_dir()
    monkeypatch.setattr("throughline_nb.engine.cleaning.EVERY_SECONDS", 0.0)
    host.answer()
    host.say("And again")
    engine.cleaner.wait(10)
    assert not (world.home.chats / "lmstudio" / "3").exists()


def test_a_cleaning_that_hangs_or_fails_holds_no_turn_up(world, caplog):
    going = threading.Event()

    def hangs(_key):
        assert going.wait(30)
        raise RuntimeError("the host is gone")

    world.project()
    world.bind("1", "runtimes")
    engine = Engine(world.home, lambda: world.now, chat_exists=hangs)
    outcome = ChatHost(engine, "1").say("/tl status")
    assert "carried out" in outcome.text
    going.set()
    engine.cleaner.wait(10)
    assert "the host is gone" in caplog.text


def test_a_chat_deleted_while_its_turn_runs(world):
    world.project()
    world.chat("1", "runtimes")
    engine = engine_of(world)
    host = ChatHost(engine, "1")
    host.say("/tl constraint Only primary sources")
    engine.cleaner.wait(10)
    cleaner = Cleaner(engine, world.exists)
    chat = engine.chat(ChatKey("lmstudio", "1"))
    world.file("1").unlink()
    with chat.lock:  # a turn is under way
        cleaner.tick()
        cleaner.wait(10)
        assert (world.home.chats / "lmstudio" / "1").is_dir()
    host.answer()
    assert "C2 added" in host.say("/tl constraint No rumours").text
    done = clean(world.home, world.exists, world.now, Settings())
    assert [action.kind for action in done] == ["chat", "orphan"]
    texts = [entry.text for entry in world.projects.open("runtimes").read().ledger.constraints]
    assert texts == ["Only primary sources", "No rumours"]


def test_a_folder_that_goes_in_the_middle_of_a_turn_of_another_process(world, monkeypatch):
    world.project()
    world.chat("1", "runtimes")
    engine = engine_of(world)
    host = ChatHost(engine, "1")
    host.say("Hello")
    host.answer()
    engine.cleaner.wait(10)
    world.file("1").unlink()
    real = Chats._made

    def made(self, key):
        folder = real(self, key)
        clean(world.home, world.exists, world.now, Settings())  # at the worst moment
        monkeypatch.setattr(Chats, "_made", real)
        return folder

    monkeypatch.setattr(Chats, "_made", made)
    outcome = host.say("More")
    assert outcome.text.startswith("More")
    assert "error" not in outcome.status
    assert clean(world.home, world.exists, world.now, Settings())
    assert world.projects.open("runtimes").read().ledger.goal == "Compare"


def test_the_index_is_readable(world):
    orphaned(world)
    found = msgspec.json.decode(world.home.index.read_bytes())
    assert found["orphans"] == {"runtimes": NOW}
    assert list((world.home.projects / "runtimes").glob("*orphan*")) == []


@pytest.mark.parametrize("vanished", [False, True])
@pytest.mark.parametrize("below", ["work", "work/deep"])
def test_a_folder_whose_chats_are_not_there_now_says_nothing_of_them_for_a_day(
    world, below, vanished
):
    world.project()
    world.converse("2", below)
    world.bind("2", "runtimes")
    world.clean()
    world.file("2", below).unlink()  # not mounted, or not synced
    if vanished:
        world.file("2", below).parent.rmdir()
    world.now += HOUR
    assert world.clean() == []
    world.converse("2", below)
    world.now += HOUR
    assert world.clean() == []
    world.file("2", below).unlink()
    for hours in (0, 12, 11):
        world.now += hours * HOUR
        assert world.clean() == []
    world.now += HOUR
    assert world.clean() == [("chat", "lmstudio/2"), ("orphan", "runtimes")]


def test_a_chat_deleted_in_a_folder_that_holds_others_goes_at_once(world):
    world.project()
    world.converse("3", "work")
    world.converse("2", "work")
    world.bind("2", "runtimes")
    world.clean()
    world.file("2", "work").unlink()
    assert world.clean() == [("chat", "lmstudio/2"), ("orphan", "runtimes")]


def _renamed(world, path):
    world.projects.rename("runtimes", "kept")
    world.projects.create("mine", Ledger(goal="x"), "Project started", USER)
    world.projects.rename("mine", "runtimes")


def _cloned_by_hand(world, path):
    shutil.move(path, path.with_name("kept"))
    subprocess.run(["git", "clone", "-q", path.with_name("kept"), path], check=True)


def _moved_by_hand(world, path):
    world.project("mine")
    path.rename(path.with_name("kept"))
    path.with_name("mine").rename(path)


def _put_together(world, path):
    world.projects.rename("runtimes", "kept")
    with world.projects.building() as made:
        shutil.copytree(path.with_name("kept"), made.path, dirs_exist_ok=True)
        world.projects.settle(made, "runtimes")


@pytest.mark.parametrize("names", [_renamed, _cloned_by_hand, _moved_by_hand, _put_together])
def test_who_gets_an_orphans_name_does_not_get_its_mark(world, names):
    names(world, orphaned(world))
    world.now += 8 * DAY
    assert world.clean() == []
    assert world.marked().orphans == {}


def test_a_renamed_project_is_no_orphan_under_its_new_name(world):
    orphaned(world)
    world.projects.rename("runtimes", "kept")
    world.now += 8 * DAY
    assert world.clean() == []


def test_a_project_opened_while_it_is_moved_to_the_trash_stays(world, monkeypatch):
    orphaned(world)
    world.now += 8 * DAY
    real, done = Projects.free_place, []

    def late(self, name):
        if not done:
            done.append(name)
            reopened(Projects(world.home), "runtimes")
            world.chat("77", "runtimes")
        return real(self, name)

    monkeypatch.setattr(Projects, "free_place", late)
    assert clean(world.home, world.exists, world.now, Settings()) == ()
    assert (world.home.projects / "runtimes").is_dir()
    assert world.marked().trash == {}


@pytest.mark.parametrize(
    "name", ["../projects/live", "../projects", "..", ".", "", "a/../../projects", "/tmp", ".git"]
)
def test_a_name_in_the_index_that_is_no_folders_is_no_mark(world, name):
    world.project("live")
    world.home.trash.mkdir(exist_ok=True)
    index = {
        "trash": {name: {"slug": "live", "since": 1.0, "due": 1.0}},
        "orphans": {name: 1.0},
    }
    world.home.index.write_bytes(msgspec.json.encode(index))
    assert world.clean() == []
    assert (world.home.projects / "live" / "ledger.md").is_file()
    assert world.marked().trash == {}
    assert world.marked().orphans == {}


@pytest.mark.parametrize("clock", [{"last": 1e300, "seen": 1e300}, {"last": -1e300, "seen": 5e9}])
def test_a_time_that_was_never_observed_is_none(world, clock):
    orphaned(world)
    held = msgspec.json.decode(world.home.index.read_bytes())
    world.home.index.write_bytes(msgspec.json.encode({**held, "clock": clock}))
    assert world.clean() == []
    world.now += 7 * DAY
    assert world.clean() == [("trash", "runtimes")]


def test_the_engine_believes_no_folder_that_is_empty_just_now(world, monkeypatch):
    monkeypatch.setattr("throughline_nb.engine.cleaning.EVERY_SECONDS", 0.0)
    world.project()
    world.converse("1", "work")
    folder = world.bind("1", "runtimes")
    engine = engine_of(world)
    for hours, there in ((0, True), (1, True), (24, False)):
        world.now += hours * HOUR
        engine.cleaner.tick()
        engine.cleaner.wait(10)
        assert folder.is_dir() == there
        world.file("1", "work").unlink(missing_ok=True)
