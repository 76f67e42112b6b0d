"""Write the bundled conversations as LM Studio would have stored them.

Run it after changing a file in ``tests/data/conversations/source``; a test checks that what is
committed is what this makes. The three ways in which a tool's result is stored, both names of a
call's arguments, and call ids that repeat in every answer are all among what is written.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[1] / "data" / "conversations"
PLUGINS = {
    "web_search": "example-org/simple-search",
    "read_webpage": "example-org/simple-search",
    "visit_website": "example-org/visit-website",
    "fetch": "mcp/fetch",
    "save_memory": "example-org/simple-memory",
}


def made() -> dict[Path, str]:
    """Each conversation file and the text that belongs into it."""
    texts = {}
    for source in sorted((FOLDER / "source").glob("*.yaml")):
        script = yaml.safe_load(source.read_text(encoding="utf-8"))
        chat = json.dumps(conversation(script), indent=2, ensure_ascii=False)
        texts[FOLDER / script["file"]] = chat + "\n"
    return texts


def conversation(script: dict[str, Any]) -> dict[str, Any]:
    """One chat in LM Studio's format."""
    messages: list[dict[str, Any]] = []
    for turn in script["turns"]:
        versions = [user(text, {}) for text in turn.get("edited", ())] + [user(turn["user"], turn)]
        messages.append({"versions": versions, "currentlySelected": len(versions) - 1})
        answers = turn.get("versions") or [turn["answer"]]
        versions = [answer(steps, script) for steps in answers]
        messages.append({"versions": versions, "currentlySelected": len(versions) - 1})
    return {
        "name": script["name"],
        "pinned": False,
        "createdAt": script["created"],
        "preset": "",
        "tokenCount": 0,
        "userLastMessagedAt": script["created"] + 3_600_000,
        "systemPrompt": "",
        "messages": messages,
        "usePerChatPredictionConfig": True,
        "perChatPredictionConfig": {"fields": []},
        "clientInput": "",
        "clientInputFiles": [],
        "userFilesSizeBytes": 0,
        "lastUsedModel": {
            "identifier": script["model"],
            "indexedModelIdentifier": script["model"],
            "instanceLoadTimeConfig": {"fields": []},
            "instanceOperationTimeConfig": {"fields": []},
        },
        "notes": [],
        "plugins": sorted({*PLUGINS.values(), "throughline-nb/throughline"}),
        "pluginConfigs": {},
        "disabledPluginTools": [],
        "looseFiles": [],
    }


def user(typed: str, turn: dict[str, Any]) -> dict[str, Any]:
    """A version of a user's message: what was typed, and what plugins stored."""
    files = [
        {"type": "file", "fileIdentifier": name, "fileType": "text/plain", "sizeBytes": 180}
        for name in turn.get("files", ())
    ]
    stored = {"type": "text", "text": turn.get("stored", typed)}
    return {
        "type": "singleStep",
        "role": "user",
        "content": [{"type": "text", "text": typed}, *files],
        "preprocessed": {"role": "user", "content": [stored, *files]},
    }


def answer(steps: list[dict[str, Any]], script: dict[str, Any]) -> dict[str, Any]:
    """A version of an answer."""
    written = [step for number, said in enumerate(steps) for step in _steps(number, said, script)]
    written.append({"type": "debugInfoBlock", "debugInfo": "Conversation naming technique: none"})
    return {
        "type": "multiStep",
        "role": "assistant",
        "senderInfo": {"senderName": script["model"]},
        "steps": written,
    }


def _steps(number: int, said: dict[str, Any], script: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "say" in said:
        yield _block(number, [_text(said["say"].rstrip("\n"))])
    elif "think" in said:
        thought = _block(number, [_text(said["think"])])
        style = {"type": "thinking", "ended": True, "title": "Thought for a moment"}
        yield thought | {"style": style, "prefix": "<think>", "suffix": "</think>"}
    elif "unknown" in said:
        yield {"type": said["unknown"], "stepIdentifier": f"step-{number}", "approved": True}
    else:
        yield from _call(number, said, script["pages"])


def _call(number: int, said: dict[str, Any], pages: dict[str, str]) -> Iterator[dict[str, Any]]:
    name, args, call = said["call"], said["args"], str(number)
    result = said.get("result") or pages.get(args.get("url", ""), "Recorded.")
    request = {
        "type": "toolCallRequest",
        "callId": call,
        "toolCallRequestId": f"call_{number}",
        "name": name,
        "arguments" if name.startswith("ledger_") else "parameters": args,
        "pluginIdentifier": PLUGINS.get(name, "throughline-nb/throughline"),
    }
    if name in ("read_webpage", "visit_website"):
        content = json.dumps([{"type": "text", "text": result}], ensure_ascii=False)
    elif name == "web_search":
        content = json.dumps(result, ensure_ascii=False)
    else:
        content = result
    status = {"type": said.get("status", "toolCallSucceeded"), "timeMs": 140}
    yield _block(number, [request])
    yield {
        "type": "toolStatus",
        "stepIdentifier": f"status-{number}",
        "callId": call,
        "statusState": {"status": status, "customStatus": "", "customWarnings": []},
    }
    answered = {"type": "toolCallResult", "callId": call, "name": name, "content": content}
    yield _block(number, [answered]) | {"roleOverride": "tool"}


def _text(text: str) -> dict[str, Any]:
    return {
        "type": "text",
        "text": text,
        "fromDraftModel": False,
        "tokensCount": max(1, len(text) // 4),
        "isStructural": False,
    }


def _block(number: int, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": "contentBlock",
        "stepIdentifier": f"step-{number}",
        "content": content,
        "defaultShouldIncludeInContext": True,
        "shouldIncludeInContext": True,
        "style": {"type": "default"},
    }


if __name__ == "__main__":
    for path, text in made().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
