"""Random lives of chats and projects: what is cleaned up is what the rules say, and no more."""

import tempfile
from pathlib import Path

from hypothesis import settings as profile
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from throughline_nb.chat import ChatKey
from throughline_nb.hosts.lmstudio.files import LMStudioChats
from throughline_nb.store import marks
from throughline_nb.store.chats import Chats, ChatState
from throughline_nb.store.cleanup import clean, plan, reopened
from throughline_nb.store.cleanup_plan import DAY
from throughline_nb.store.home import Home
from throughline_nb.store.projects import Projects
from throughline_nb.store.settings import Settings

CHATS = st.sampled_from(["1", "2", "3"])
PROJECTS = st.sampled_from(["alpha", "beta"])
FOLDERS = st.sampled_from(["", "a", "a/b"])


class Lives(RuleBasedStateMachine):
    """A project is a folder with ``.git`` here: cleaning never looks into one."""

    def __init__(self):
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        root = Path(self._folder.name)
        self.home = Home(root / "home")
        self.home.ensure_writable()
        self.outside = root / "conversations"
        self.outside.mkdir()
        (self.outside / "kept.conversation.json").write_text("{}")
        self.exists = LMStudioChats(self.outside)
        self.chats, self.projects = Chats(self.home), Projects(self.home)
        self.now = self.latest = 1_790_000_000.0
        self.bound = {}
        self.within = {}
        self.ever_orphan = set()
        self.trashed_real = {}
        self.real = 0.0  # time that really passed, whatever the clock showed

    def file(self, ident):
        found = list(self.outside.rglob(f"{ident}.conversation.json"))
        return found[0] if found else None

    @rule(ident=CHATS, below=FOLDERS)
    def create(self, ident, below):
        if self.file(ident) is None:
            (self.outside / below).mkdir(parents=True, exist_ok=True)
            (self.outside / below / f"{ident}.conversation.json").write_text("{}")

    @rule(ident=CHATS, below=FOLDERS)
    def move(self, ident, below):
        file = self.file(ident)
        if file is not None:
            (self.outside / below).mkdir(parents=True, exist_ok=True)
            file.rename(self.outside / below / file.name)

    @rule(ident=CHATS)
    def delete(self, ident):
        file = self.file(ident)
        if file is not None:
            file.unlink()

    @rule(ident=CHATS, name=PROJECTS)
    def open(self, ident, name):
        slug = reopened(self.projects, name)
        if not self.projects.exists(slug):
            (self.home.projects / slug / ".git").mkdir(parents=True)
            (self.home.projects / slug / "ledger.md").write_text("")
        key = ChatKey("lmstudio", ident)
        self.chats.save(key, ChatState(key=str(key), project=slug))
        self.bound[ident] = slug
        self.ever_orphan.discard(slug)

    @rule(ident=CHATS)
    def off(self, ident):
        key = ChatKey("lmstudio", ident)
        self.chats.save(key, ChatState(key=str(key), off=True))
        self.bound[ident] = ""

    @rule(hours=st.sampled_from([0.5, 2, 24, 24 * 8, 24 * 31]))
    def pass_on(self, hours):
        self.now += hours * 3600
        self.real += hours * 3600

    @rule(days=st.sampled_from([-400, -40, -10, 10, 40, 400]), hours=st.sampled_from([0, 1, 20]))
    def jump_and_back(self, days, hours):
        right = self.now
        self.now += days * DAY
        self.cleaned()
        self.now += hours * 3600
        self.real += hours * 3600
        self.cleaned()
        self.now = right + hours * 3600

    @rule()
    def cleaned(self):
        gone = {i for i in self.bound if self.file(i) is None}
        given = (self.home, self.exists, self.now, Settings())
        planned = plan(*given)
        assert clean(*given) == planned.actions
        chats = {action.name.split("/")[1] for action in planned.actions if action.kind == "chat"}
        assert chats <= gone
        for ident in gone - chats:  # the folder that it was in may be one that is not there now
            assert not list((self.outside / self.within[ident]).glob("*.conversation.json"))
        self.within = {
            ident: "" if file is None else file.parent.relative_to(self.outside)
            for ident in self.bound
            if (file := self.file(ident)) is not None or ident not in gone - chats
        } | {ident: self.within[ident] for ident in gone - chats}
        gone = chats
        left = {slug for i, slug in self.bound.items() if i not in gone}
        lost = {self.bound[i] for i in gone} - {""}
        for ident in gone:
            del self.bound[ident]
            assert not self.chats.folder(ChatKey("lmstudio", ident)).exists()
        self.ever_orphan |= lost - left
        for action in planned.actions:
            if action.kind == "trash":
                assert action.name in self.ever_orphan
                self.trashed_real[self.newest(action.name)] = self.real
            if action.kind == "delete":
                assert self.real - self.trashed_real.pop(action.name) >= 30 * DAY
        assert set(marks.load(self.home).orphans) <= self.ever_orphan

    def newest(self, slug):
        names = [n for n, each in marks.load(self.home).trash.items() if each.slug == slug]
        return max(names, key=lambda n: (n not in self.trashed_real, len(n), n))

    @invariant()
    def what_is_bound_is_there(self):
        for ident, slug in self.bound.items():
            folder = self.chats.folder(ChatKey("lmstudio", ident))
            assert folder.is_dir()
            assert not slug or (self.home.projects / slug / "ledger.md").is_file()

    @invariant()
    def what_never_lost_a_chat_is_there(self):
        for slug in marks.load(self.home).orphans:
            assert self.projects.exists(slug)
        assert (self.outside / "kept.conversation.json").is_file()

    def teardown(self):
        self._folder.cleanup()


TestLives = Lives.TestCase
TestLives.settings = profile(max_examples=40, stateful_step_count=30, deadline=None)
