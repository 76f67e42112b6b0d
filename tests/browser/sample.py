"""A project as a chat makes it: steps, findings that were read and some that were not, a proposal.

It goes through the real engine, a chat and its model's tools; nothing is set by hand.
"""

import json
import time
from pathlib import Path

from chat_host import ChatHost

from throughline_nb.engine.session import Engine
from throughline_nb.store.home import Home

SAMPLE = json.loads((Path(__file__).parent / "sample.json").read_text(encoding="utf-8"))


def sample(home, name="llm-runtimes", ident="1764500000000", *, recall=False, ago=7200.0):
    """Make the project; gives the chat, with which to go on.

    Args:
        home: Folder of the home.
        name: Name of the project.
        ident: Id of the chat.
        recall: Whether recall holds the chat, short as it is.
        ago: How many seconds ago it began.
    """
    begin = time.time() - ago
    ticks = iter(range(10**6))
    engine = Engine(Home(home), lambda: begin + 20 * next(ticks))
    if recall:
        Path(home).mkdir(exist_ok=True)
        (Path(home) / "settings.toml").write_text("recall_tokens = 100\n", encoding="utf-8")
    chat = ChatHost(engine, ident)
    chat.say(f"/tl start {SAMPLE['goal']}")
    chat.say(f"/tl rename {name}")
    for rule in SAMPLE["constraints"]:
        chat.say(f"/tl constraint {rule}")
    chat.say("Make a plan.")
    for text, _, _ in SAMPLE["steps"]:
        chat.tool("ledger_plan", text=text)
    chat.answer()
    for number, (_, status, note) in enumerate(SAMPLE["steps"], 1):
        step = f"S{number}"
        found = [each for each in SAMPLE["findings"] if each["step"] == step]
        if found:
            chat.say(f"Go on with {step}.")
            chat.tool("ledger_plan", step=step, status="doing")
        for each in found:
            if "read" in each:
                chat.tool("fetch", each["read"], url=each["source"])
            chat.tool("ledger_record", kind="finding", text=each["text"], source=each["source"])
        if status != "todo":
            chat.say(f"{step} is {status}.")
            chat.tool("ledger_plan", step=step, status=status, **({"note": note} if note else {}))
    for question in SAMPLE["questions"]:
        chat.say("What is open?")
        chat.tool("ledger_record", kind="question", text=question)
    for text, reason, because in SAMPLE["decisions"]:
        chat.say("Decide.")
        given = {"kind": "decision", "text": text, "reason": reason, "because": because}
        chat.tool("ledger_record", **given)
    chat.say("Propose a rule.")
    chat.tool("ledger_record", kind="constraint", text=SAMPLE["proposal"])
    chat.answer()
    asked, said = SAMPLE["said"]
    chat.say(asked)
    chat.answer(said)
    chat.say("Go on.")
    chat.answer("I go on with S4.")
    chat.say("And now?")
    chat.answer()
    engine.recalls.wait(chat.key)
    return chat
