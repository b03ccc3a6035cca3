"""External issuers: which tokens pass, what they may do, and how their keys are kept (docs/tokens.md; C058)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.identity.bearers import Bearers
from cmsmcp.identity.issuers import Expected, ExternalIssuer
from cmsmcp.identity.jwks import MAX_BYTES, read_keys
from cmsmcp.identity.keys import Keyring
from cmsmcp.identity.keysource import KeySource, Pace
from cmsmcp.identity.tokens import Grant, TokenRefused, Tokens
from cmsmcp.protocol.errors import Unavailable

AUDIENCE = "https://cms.example/mcp"
OWN = Tokens(Keyring([b"k" * 40], "tokens"), "https://cms.example")
QUICK = Pace(refresh=60, least=0.3, look=0.02, fetch=1.0)
INVALID = (401, TokenRefused.invalid("mcp").body, 'Bearer error="invalid_token"')


@pytest.fixture
def source(idp: Any, tmp_path: Path) -> Iterator[KeySource]:
    made = KeySource(idp.jwks_url, tmp_path / "issuer-1.json", QUICK)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def bearers(idp: Any, source: KeySource, until: Callable[..., None]) -> Bearers:
    until(source.is_known)
    return Bearers(lambda: OWN, [ExternalIssuer(Expected(idp.name, AUDIENCE), source)])


def refusal(bearers: Bearers, token: str, door: str = "mcp") -> tuple[int, dict, str]:
    with pytest.raises(TokenRefused) as refused:
        bearers.authenticate(f"Bearer {token}", door)
    return refused.value.status, refused.value.body, refused.value.challenge


@pytest.mark.parametrize("key", ["rsa", "ec", "okp"])
def test_a_token_of_a_trusted_issuer_passes_beside_our_own(bearers: Bearers, idp: Any, key: str) -> None:
    caller = bearers.authenticate(f"Bearer {idp.token(key, scope='openid read:content read:docs write:content admin')}", "mcp")
    assert caller.scopes == {"read:content", "read:docs"}, "unknown and reserved scopes are left out"
    assert caller.capabilities == {"documents.read", "dashboard.read"}
    assert (caller.client, caller.subject, caller.token_id) == (f"{idp.name}#ana", "ana", "external:j1")
    assert bearers.authenticate(f"Bearer {OWN.create(Grant('own')).token}", "mcp").registered


@pytest.mark.parametrize(("changed", "scopes", "capabilities"), [
    ({"aud": ["x", AUDIENCE]}, {"read:content"}, {"documents.read"}),
    ({"scope": ..., "scp": ["read:docs", 7]}, {"read:docs"}, {"dashboard.read"}),
    ({"scope": ...}, set(), set()),
    ({"scope": 7}, set(), set()),
    ({"roles": ["author", "king"]}, {"read:content"}, None),
    ({"roles": ["king"]}, {"read:content"}, set()),
    ({"capabilities": ["documents.read.own"]}, {"read:content"}, {"documents.read.own"}),
    ({"jti": ...}, {"read:content"}, {"documents.read"}),
    ({"nbf": int(time.time()) - 5}, {"read:content"}, {"documents.read"}),
])
def test_claims_become_rights(bearers: Bearers, idp: Any, changed: dict, scopes: set, capabilities: set | None) -> None:
    caller = bearers.authenticate(f"Bearer {idp.token(**changed)}", "mcp")
    assert caller.scopes == scopes
    assert "documents.read.own" in caller.capabilities if capabilities is None else caller.capabilities == capabilities


@pytest.mark.parametrize(("access", "doors"), [
    (..., {"mcp"}), ("mcp-server", {"mcp"}), ("read-only", {"api"}), ("full-access", {"api"}), ("operator", set()), ("x", set()),
    (7, set()),
])
def test_access_opens_one_door_and_never_the_operators(bearers: Bearers, idp: Any, access: Any, doors: set[str]) -> None:
    """P5, P6."""
    token = idp.token(access=access)
    for door in ("mcp", "api", "ops"):
        if door in doors:
            assert bearers.authenticate(f"Bearer {token}", door).subject == "ana"
        else:
            status, body, _ = refusal(bearers, token, door)
            assert (status, body["error"]) == (403, "This token cannot access this endpoint")


def forged(idp: Any) -> list[str]:
    def encode(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    def signed_with(secret: bytes, **head: Any) -> str:
        claims = base64.urlsafe_b64decode(good.split(".")[1] + "==")
        message = encode(json.dumps(head).encode()) + "." + encode(claims)
        return message + "." + encode(hmac.new(secret, message.encode(), hashlib.sha256).digest())

    now, good = int(time.time()), idp.token()
    modulus = json.dumps(idp.keys[0]).encode()
    return [
        *(idp.token(**{name: ...}) for name in ("aud", "sub", "iat", "exp")),
        *(idp.token(**{name: value}) for name, value in (
            ("aud", "https://other.example"), ("aud", []), ("aud", {"x": 1}), ("exp", now - 60), ("exp", "soon"), ("exp", 10**400),
            ("iat", now + 600), ("iat", "now"), ("nbf", now + 600), ("nbf", "later"), ("sub", 7), ("sub", ""), ("sub", "a\nb"),
            ("sub", "x" * 300), ("iss", idp.name.rstrip("/")))),
        idp.token(header={"kid": "ec"}), idp.token(header={"kid": ...}), idp.token(header={"kid": "unknown"}),
        idp.token("next", {"kid": "rsa"}), idp.token(algorithm="RS512"), idp.token(header={"typ": "id+jwt"}),
        idp.token(header={"crit": ["b64"], "b64": True}), idp.token(header={"crit": ["x"]}),
        *(signed_with(secret, alg="HS256", kid="rsa") for secret in (b"", modulus, b"k" * 40)),
        signed_with(b"", alg="none", kid="rsa"), good[:-4] + "AAAA", good + ".x", good[:-1],
    ]


def test_whatever_is_wrong_with_it_gets_one_and_the_same_answer(bearers: Bearers, idp: Any) -> None:
    """C058: and a good token still passes afterwards."""
    for number, token in enumerate(forged(idp)):
        assert refusal(bearers, token) == INVALID, number
    assert bearers.authenticate(f"Bearer {idp.token()}", "mcp")


def test_nothing_in_the_header_is_followed(bearers: Bearers, idp: Any, until: Any) -> None:
    """C058: `jku`, `x5u` and `jwk` of a forger are not read, those of an honest issuer do no harm."""
    before = idp.fetches
    for name, value in (("jku", idp.name + "evil"), ("x5u", idp.name + "evil"), ("jwk", idp.keys[0])):
        assert refusal(bearers, idp.token("next", {"kid": "rsa", name: value})) == INVALID
        assert bearers.authenticate(f"Bearer {idp.token(header={name: value})}", "mcp")
    assert idp.fetches == before


def test_without_a_key_of_our_own_the_issuers_still_serve(idp: Any, source: KeySource, until: Any) -> None:
    until(source.is_known)
    bearers = Bearers(lambda: None, [ExternalIssuer(Expected(idp.name, AUDIENCE), source)])
    assert bearers.authenticate(f"Bearer {idp.token()}", "mcp")
    with pytest.raises(Unavailable, match="CMSMCP_SECRET_KEY"):
        bearers.authenticate(f"Bearer {OWN.create(Grant('own')).token}", "mcp")


SEGMENT = st.binary(max_size=60).map(lambda data: base64.urlsafe_b64encode(data).decode().rstrip("="))


@given(st.text(max_size=60) | SEGMENT.map("x.{}.x".format))
def test_any_text_is_refused_and_never_an_error(text: str) -> None:
    source = KeySource("http://127.0.0.1:1/", Path("/nonexistent/x.json"), QUICK)
    bearers = Bearers(lambda: OWN, [ExternalIssuer(Expected("https://x", "y"), source)])
    with pytest.raises(TokenRefused) as refused:
        bearers.authenticate(f"Bearer {text}", "mcp")
    assert refused.value.status == 401


def test_odd_keys_are_skipped_and_never_the_others_with_them(idp: Any, jwk: Any) -> None:
    """PrefectHQ/fastmcp#4515."""
    odd: list[Any] = [
        None, 7, {}, {"kty": "oct", "kid": "oct", "k": "AAAA"}, {"kty": "NEW", "kid": "n"},
        {"kty": "RSA", "kid": "broken", "n": "!", "e": "AQAB"},
        jwk("rsa", kid=...), jwk("rsa", kid=7), jwk("rsa", kid="enc", use="enc"), jwk("rsa", kid="hs", alg="HS256"),
        jwk("rsa", kid="none", alg="none"), jwk("ec", kid="wrong", alg="RS256"), jwk("rsa", kid="ops", key_ops=["encrypt"]),
        jwk("rsa", kid="private", d="AQAB"), jwk("ec", kid="k1", crv="secp256k1", alg=...), jwk("rsa", kid="small", n="AQAB"),
        {"kty": ["RSA"], "kid": "list"}, jwk("rsa", kid="x" * 300),
    ]
    sound = [jwk("rsa"), jwk("next", kid="rsa"), jwk("ec", alg=...), jwk("rsa", kid="any", alg=...)]
    found = read_keys(json.dumps({"keys": [*odd, *sound]}).encode())
    assert {name: key.algorithms for name, key in found.items()} == {
        "rsa": ("RS256",), "ec": ("ES256",), "any": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    }
    assert found["rsa"].key.public_numbers() == read_keys(json.dumps({"keys": [jwk("rsa")]}).encode())["rsa"].key.public_numbers()


@pytest.mark.parametrize("document", [b"", b"<html>", b"[]", b"{}", b'{"keys": 1}', b"[" * 100_000, b" " * (MAX_BYTES + 1), b"\xff"])
def test_what_is_no_jwks_is_refused(document: bytes) -> None:
    with pytest.raises(ValueError):
        read_keys(document)


def test_a_new_key_is_found_soon_and_strangers_cause_no_flood(bearers: Bearers, idp: Any, jwk: Any, until: Any) -> None:
    """At most one fetch in `least` seconds, whatever key ids come in; the request itself never waits."""
    before, began = idp.fetches, time.monotonic()
    for number in range(300):
        assert refusal(bearers, idp.token(header={"kid": f"stranger-{number}"})) == INVALID
    assert bearers.authenticate(f"Bearer {idp.token()}", "mcp")
    idp.keys = [jwk("rsa"), jwk("next")]
    slowest = 0.0

    def is_accepted() -> bool:
        nonlocal slowest
        at = time.monotonic()
        try:
            return bool(bearers.authenticate(f"Bearer {idp.token('next')}", "mcp"))
        except TokenRefused:
            return False
        finally:
            slowest = max(slowest, time.monotonic() - at)

    until(is_accepted)
    assert idp.fetches - before <= (time.monotonic() - began) / QUICK.least + 1
    assert slowest < QUICK.fetch, "no request waits for a fetch"
    assert refusal(bearers, idp.token("ec")) == INVALID, "a key that was withdrawn is gone"


@pytest.mark.parametrize("answer", [(500, b""), (200, b"<html>"), (200, b'{"keys": []}'), (302, b""), (200, b"x" * (MAX_BYTES + 1))])
def test_a_failing_issuer_costs_no_good_token_also_after_a_restart(
    bearers: Bearers, idp: Any, tmp_path: Path, until: Any, answer: tuple[int, bytes],
) -> None:
    """docs/tokens.md: an issuer that is down costs no valid token. What was fetched last is in the file."""
    before, idp.answer = idp.fetches, lambda: answer
    refusal(bearers, idp.token(header={"kid": "stranger"}))
    until(lambda: idp.fetches > before)
    assert bearers.authenticate(f"Bearer {idp.token()}", "mcp")
    again = KeySource(idp.jwks_url, tmp_path / "issuer-1.json", QUICK)
    assert again.is_known() and again.find("rsa") is not None
    again.stop()
    assert idp.fetches >= before + 1


def test_before_the_first_fetch_nobody_can_tell_and_that_is_said(idp: Any, tmp_path: Path, until: Any) -> None:
    """503 and not 401: a client that is told "invalid" throws a good token away."""
    idp.answer = lambda: (503, b"")
    source = KeySource(idp.jwks_url, tmp_path / "issuer.json", QUICK)
    bearers = Bearers(lambda: OWN, [ExternalIssuer(Expected(idp.name, AUDIENCE), source)])
    with pytest.raises(Unavailable, match="not known yet"):
        bearers.authenticate(f"Bearer {idp.token()}", "mcp")
    idp.answer = lambda: (200, json.dumps({"keys": idp.keys}).encode())
    until(source.is_known)
    assert bearers.authenticate(f"Bearer {idp.token()}", "mcp")
    assert (tmp_path / "issuer.json").exists()
    source.stop()


def test_keys_grow_too_old_in_the_end(idp: Any, tmp_path: Path, until: Any) -> None:
    source = KeySource(idp.jwks_url, tmp_path / "issuer.json", Pace(least=60, look=0.02, stale=100))
    source.start()
    until(source.is_known)
    source.stop()
    os.utime(tmp_path / "issuer.json", (1, time.time() - 101))
    assert not KeySource(idp.jwks_url, tmp_path / "issuer.json", Pace(stale=100)).is_known()


def test_several_workers_of_a_host_fetch_once(idp: Any, tmp_path: Path, until: Any) -> None:
    workers = [KeySource(idp.jwks_url, tmp_path / "issuer.json", Pace(least=60, look=0.02)) for _ in range(4)]
    for worker in workers:
        worker.start()
    until(lambda: all(worker.is_known() for worker in workers))
    for worker in workers:
        worker.stop()
    assert idp.fetches == 1
