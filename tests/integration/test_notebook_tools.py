"""The model's tools handed to model clients: lmstudio's own, and an OpenAI-style one."""

import contextlib
import json
import urllib.request

import jsonschema
import pytest
from kernels import close, shell_in
from model_server import model_server

import throughline_nb as tl
from throughline_nb.engine.operations import TOOLS

LEDGER_TOOLS = ["ledger_view", "ledger_plan", "ledger_record", "ledger_resolve"]


@pytest.fixture
def p(monkeypatch, tmp_path):
    shell = shell_in(monkeypatch, tmp_path)
    yield tl.start("Compare servers")
    close(shell)


def test_the_tools_are_functions_with_what_the_registry_says(p):
    tools = p.tools()
    assert [tool.__name__ for tool in tools] == LEDGER_TOOLS
    answer = tools[2]("finding", "It listens on port 11434.", source="user")
    assert answer.splitlines()[0] == "F1 added: It listens on port 11434."
    assert answer.splitlines()[-1].startswith("next: ")
    for tool in tools:
        operation = TOOLS.get(tool.__name__)
        assert tool.__doc__.startswith(operation.help)
        assert all(f"{param.name}: {param.help}" in tool.__doc__ for param in operation.params)


def test_they_act_as_the_model(p):
    p.tools().call("ledger_plan", '{"text": "Read the documentation"}')
    latest = p.history(1)[0]
    assert (latest.actor, latest.via) == ("model", "Tool: ledger_plan")
    told = p.tools().call("ledger_record", {"kind": "goal", "text": "More"})
    assert "ask the user to accept or reject P1" in told


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        (
            "ledger_records",
            "{}",
            "Not done: there is no tool 'ledger_records'; there are ledger_view",
        ),
        ("ledger_plan", '{"text": ', "Not done: the arguments of ledger_plan are no JSON"),
        ("ledger_plan", "[1]", "Not done: ledger_plan takes arguments by name; '[1]' was given."),
        ("ledger_plan", '{"stauts": 1}', "Not done: ledger_plan has no argument 'stauts'; did you"),
        ("ledger_record", '{"kind": 5}', "Not done: ledger_record: kind was '5'; allowed: finding"),
        ("ledger_view", "", 'Project "compare-servers"'),
        ("ledger_view", None, 'Project "compare-servers"'),
    ],
)
def test_what_a_model_gets_wrong_is_told_in_one_line(p, name, arguments, told):
    answer = p.tools().call(name, arguments)
    assert answer.startswith(told)
    assert "Traceback" not in answer


def test_a_function_that_is_called_wrongly_answers_too(p):
    record = p.tools()[2]
    assert record(1, 2, 3, 4, 5, 6, 7, 8).startswith("Not done: ledger_record takes kind, text")
    assert record("finding", kind="finding").startswith(
        "Not done: ledger_record: kind is given twice"
    )
    assert record(nope=1).startswith("Not done: ledger_record has no argument 'nope'")


def test_the_schemas_accept_what_the_tools_take(p):
    schemas = {
        each["function"]["name"]: each["function"]["parameters"] for each in p.tools().schemas
    }
    json.dumps(p.tools().schemas)
    for name in LEDGER_TOOLS:
        jsonschema.Draft202012Validator.check_schema(schemas[name])
    jsonschema.validate(
        {"kind": "decision", "text": "x", "because": ["F1"]}, schemas["ledger_record"]
    )
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"kind": "story"}, schemas["ledger_record"])


# --- lmstudio ------------------------------------------------------------------------------------


@pytest.fixture
def lmstudio():
    return pytest.importorskip("lmstudio")


def test_lmstudios_own_definition_takes_the_tools(p, lmstudio):
    for tool in p.tools():
        defined = lmstudio.ToolFunctionDef.from_callable(tool)
        struct, sent = defined._to_llm_tool_def()
        assert defined.name == tool.__name__
        assert set(sent.to_dict()["function"]["parameters"]["properties"]) == {
            param.name for param in TOOLS.get(tool.__name__).params
        }
        assert struct is not None


class Session:
    """What a model of LM Studio would send, in the place of the connection."""

    def __init__(self, rounds):
        self.rounds = iter(rounds)

    @contextlib.contextmanager
    def _create_channel(self, _endpoint):
        calls = next(self.rounds)
        yield Channel(
            [*({"type": "toolCallGenerationEnd", "toolCallRequest": c} for c in calls), DONE]
        )


class Channel:
    def __init__(self, messages):
        self.messages = messages

    def rx_stream(self):
        yield from self.messages


DONE = {
    "type": "success",
    "stats": {"stopReason": "eosFound"},
    "modelInfo": {
        "type": "llm",
        "identifier": "scripted",
        "modelKey": "scripted",
        "instanceReference": "1",
        "path": "scripted",
        "format": "gguf",
        "displayName": "scripted",
        "sizeBytes": 1,
        "vision": False,
        "trainedForToolUse": True,
        "maxContextLength": 4096,
        "contextLength": 4096,
    },
    "loadModelConfig": {"fields": []},
    "predictionConfig": {"fields": []},
}


def asked(ident, name, **arguments):
    return {"type": "function", "id": ident, "name": name, "arguments": arguments}


def test_lmstudios_act_executes_the_tools(p, lmstudio):
    rounds = [
        [asked("1", "ledger_plan", text="Read the documentation", status="doing")],
        [
            asked("2", "ledger_record", kind="finding", text="It listens on port 11434.",
                  source="https://example.org/docs"),
            asked("3", "ledger_record", kind="constraint", text="Only open licences"),
            asked("4", "ledger_record", kind="story"),
            asked("5", "ledger_nothing"),
        ],
        [],
    ]  # fmt: skip
    model = lmstudio.LLM("scripted", Session(rounds))
    said = []
    result = model.act("Compare the servers.", p.tools(), on_message=said.append)
    assert result.rounds == 3
    assert p.ledger["S1"].status == "doing"
    assert (p.ledger["F1"].text, p.ledger["F1"].by) == ("It listens on port 11434.", "model")
    assert p.ledger["P1"].text == "constraint: Only open licences"
    answers = "\n".join(str(message) for message in said)
    assert "S1 added: Read the documentation" in answers
    assert "ledger_nothing" in answers


# --- an OpenAI-style client ----------------------------------------------------------------------


def talk(url, tools, question, rounds=8):
    """A client as a notebook writes it: until the model asks for no more tools."""
    messages = [{"role": "user", "content": question}]
    for _ in range(rounds):
        body = {"model": "any", "messages": messages, "tools": tools.schemas}
        request = urllib.request.Request(
            f"{url}/chat/completions",
            json.dumps(body).encode("utf-8"),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as reply:
            message = json.load(reply)["choices"][0]["message"]
        messages.append(message)
        for call in message.get("tool_calls") or ():
            answer = tools.call(call["function"]["name"], call["function"]["arguments"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": answer})
        if not message.get("tool_calls"):
            break
    return messages


def test_an_openai_style_client_runs_with_the_schemas(p):
    script = [
        [("ledger_view", {}), ("ledger_plan", {"text": "Read", "status": "doing"})],
        [("ledger_record", {"kind": "finding", "text": "Port 11434.", "source": "turn 1"})],
        [("ledger_record", '{"kind": "finding", "text": ')],
        [("ledger_record", {"kind": "question", "text": "Which licence?"})],
        [("ledger_resolve", {"question": "Q1", "answer": "MIT", "as_finding": True})],
        "Done.",
    ]
    with model_server(script) as server:
        messages = talk(server.url, p.tools(), "Compare the servers.")
    assert messages[-1]["content"] == "Done."
    assert [entry.text for entry in p.ledger.findings] == ["Port 11434.", "MIT"]
    assert p.ledger["Q1"].answer == "MIT"
    answers = [message["content"] for message in messages if message["role"] == "tool"]
    assert answers[0].startswith('Project "compare-servers"')
    assert answers[3].startswith("Not done: the arguments of ledger_record are no JSON")
    assert {record.actor for record in p.history()} == {"user", "model"}
