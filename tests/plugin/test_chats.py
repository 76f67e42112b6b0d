"""The plugin with the real SDK and the real engine: what a person does in LM Studio."""

from .standin import Chat, Host


def test_a_first_message_that_needs_a_name_gets_the_projects(host: Host) -> None:
    chat = Chat(host, "1764500000000")
    reply = chat.say("/tl start Compare seven inference runtimes")
    assert reply.kind == "complete"
    assert "was carried out" in reply.text
    assert "compare-seven-inference-runtimes" in reply.status
    assert host.do("chat", working=chat.working)["names"] == ["compare-seven-inference-runtimes"]
