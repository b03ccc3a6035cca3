"""A question outlives the token of whoever is asked: from the next message on it gives no right (docs/rules.md, Tokens and roles)."""

from __future__ import annotations

from typing import Any

from cmsmcp.core.capability import Blocks, tool
from cmsmcp.core.dialogue import Elicit
from cmsmcp.core.ports import Ask, Caller, Verdict

FORM = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


@tool(scope="read:content", audit="test.confirm", talks=True, blocks=True)
def confirm(arguments, call):
    """Asks before an effect."""
    return Blocks([{"type": "text", "text": call.dialogue.ask({"ok": Elicit("Sure?", FORM)})["ok"]["action"]}])


def test_a_revoked_token_answers_nothing(two_workers, client, monkeypatch) -> None:
    """401, and the question waits on: whoever found the token does not confirm what its owner was asked."""
    site, user = two_workers(confirm), client()
    site.one.caller = site.other.caller = Caller("c", frozenset({"read:content"}), token_id="t", registered=True)
    running = user.begin(site.one, "confirm")
    [request] = site.one.out.wait_for("elicitation/create")
    admit = site.admission.admit
    revoked: set[str] = {"t"}

    def decide(ask: Ask) -> Verdict:
        return Verdict("revoked") if ask.token_id in revoked else admit(ask)

    monkeypatch.setattr(site.admission, "admit", decide)
    accepted: Any = {"action": "accept", "content": {"ok": True}}
    assert user.answer(site.other, request["id"], accepted).status == 401
    revoked.clear()
    assert user.answer(site.other, request["id"], {"action": "decline"}).status == 202
    assert running.reply()["result"]["content"][0]["text"] == "decline"
    assert [ask.cost for ask in site.admission.asks] == [1, 0], "an answer is free"
