"""A small host for tests: it keeps a chat as LM Studio does, and hands it to the real engine."""

from throughline_nb.chat import ChatKey, History, Message


class ChatHost:
    """One chat. ``say`` sends a user's message, ``answer`` is the model's part of that turn."""

    def __init__(self, engine, ident="1764500000000", host="lmstudio"):
        self.engine = engine
        self.key = ChatKey(host, ident)
        self.turns: list[list[Message]] = []
        self.changed = 1

    def history(self):
        turns = self.turns

        def messages(first):
            return [message for turn in turns[first - 1 :] for message in turn]

        return History(len(turns), min(self.changed, len(turns) + 1), messages)

    def say(self, text, *, files=(), settings=None):
        """Send a message; returns what became of it."""
        outcome = self.engine.turn(self.key, text, self.history(), settings=settings)
        self.changed = len(self.turns) + 1
        turn = len(self.turns) + 1
        self.turns.append([Message(turn=turn, role="user", text=outcome.text, files=files)])
        return outcome

    def answer(self, text="Fine."):
        self.turns[-1].append(Message(turn=len(self.turns), role="assistant", text=text))

    def tool(self, name, result="", *, failed=False, **args):
        """The model calls a tool: one of ours is executed, of another ``result`` is its answer."""
        turn = len(self.turns)
        if name in {operation.name for operation in self.engine.tools(self.key)}:
            result = self.engine.call(self.key, name, args)
        call = f"call-{len(self.turns[-1])}"
        common = {"turn": turn, "tool": name, "call_id": call}
        self.turns[-1].append(Message(role="assistant", args=args, **common))
        self.turns[-1].append(Message(role="tool", text=result, failed=failed, **common))
        return result

    def turn_with(self, text, calls=0):
        """A whole turn whose model makes so many calls of a foreign tool."""
        outcome = self.say(text)
        for n in range(calls):
            self.tool("web_search", "ten results", query=f"{text} {n}")
        self.answer()
        return outcome

    def regenerate(self, turn, text="Another answer."):
        """Replace the answer of a turn and drop what came after it, as LM Studio does."""
        self.turns = self.turns[:turn]
        self.turns[-1] = [self.turns[-1][0], Message(turn=turn, role="assistant", text=text)]
        self.changed = min(self.changed, turn)
