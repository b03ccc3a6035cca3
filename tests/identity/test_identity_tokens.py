"""Bearer tokens and the keys behind them (P4 to P6, P23, P24; C058; docs/rules.md, Tokens and roles)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.governance.scopes import READ_SCOPES
from cmsmcp.identity.keys import Keyring
from cmsmcp.identity.tokens import DOORS, MAX_SEEN, Grant, TokenRefused, Tokens

SECRET = b"a secret of at least thirty-two bytes"
OTHER = b"another secret of thirty-two bytes or more"
AUDIENCE = "urn:cmsmcp:test"
KEYS = Keyring([SECRET], "tokens")
TOKENS = Tokens(KEYS, AUDIENCE)
GOOD = TOKENS.create(Grant("ci")).token
HINT = TokenRefused.absent("mcp").body["hint"]
PUBLIC = rsa.generate_private_key(65537, 2048).public_key()
PEM = PUBLIC.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
DER = PUBLIC.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def forge(head: dict, claims: dict, key: bytes | None = None) -> str:
    message = encode(json.dumps(head).encode()) + "." + encode(json.dumps(claims).encode())
    return message + "." + (encode(hmac.new(key, message.encode(), hashlib.sha256).digest()) if key is not None else "")


def claims(**changed: object) -> dict:
    now = int(time.time())
    sound = {"iss": "cmsmcp", "aud": AUDIENCE, "sub": "u1", "jti": "u1", "iat": now, "exp": now + 600, "access": "mcp-server",
             "scope": "read:content", "capabilities": ["documents.read"]}
    return {name: value for name, value in {**sound, **changed}.items() if value is not ...}


def signed(**changed: object) -> str:
    """Signed with the server's own key: what only a fault of ours could produce."""
    return forge({"alg": "HS256", "typ": "JWT", "kid": KEYS.signing.id}, claims(**changed), KEYS.signing.secret)


def refusal(token: str, door: str = "mcp") -> tuple[int, dict, str]:
    with pytest.raises(TokenRefused) as refused:
        TOKENS.authenticate(f"Bearer {token}", door)
    return refused.value.status, refused.value.body, refused.value.challenge


FORGED = [
    *(forge({"alg": alg}, claims()) for alg in ("none", "None", "NONE", "nOnE", "", None, 0, ["HS256"])),
    *(forge({"alg": alg, "kid": KEYS.signing.id}, claims(), KEYS.signing.secret) for alg in ("none", "HS384", "RS256", "hs256")),
    *(forge({"alg": "HS256", "kid": kid}, claims(), b"")
      for kid in ("../../empty", "nul", "k1' OR '1'='1", "k1\u0000", 7, None, {"a": 1}, "k" * 100_000)),
    *(forge({"alg": "HS256", "kid": KEYS.signing.id}, claims(), key) for key in (PEM, PEM.strip(), DER, b"", SECRET)),
    *(forge({"alg": "HS256", name: value}, claims(), b"mine") for name, value in (
        ("jku", "https://evil.example/k"), ("x5u", "https://evil.example/c"),
        ("jwk", {"kty": "oct", "k": encode(b"mine")}), ("crit", ["b64"]))),
    *(forge({"alg": "HS256", "kid": KEYS.signing.id, name: value}, claims(), KEYS.signing.secret)
      for name, value in (("crit", ["b64"]), ("jku", "https://evil.example/k"), ("b64", False))),
    "a.b.c", "..", "a.b", GOOD + ".x", GOOD[:-1], GOOD + "=", GOOD + "\n.", GOOD.replace(".", " ."), "e30.e30.", "é.é.é", "x" * 9000,
    *(signed(**{name: ...}) for name in ("iss", "aud", "sub", "jti", "iat", "exp", "access", "scope", "capabilities")),
    *(signed(**{name: value}) for name, value in (
        ("iss", "https://issuer.example"), ("aud", "urn:cmsmcp:other"), ("aud", [AUDIENCE, "x"]), ("exp", 1), ("exp", "soon"),
        ("iat", int(time.time()) + 3600), ("sub", 123), ("scope", ["read:content"]), ("access", ["mcp-server"]), ("exp", None))),
    forge({"alg": "HS256", "kid": KEYS.signing.id}, "text", KEYS.signing.secret),  # type: ignore[arg-type]
    ".".join((encode(b'{"alg":"HS256","kid":"' + KEYS.signing.id.encode() + b'"}'), encode(b"[" * 3000), "AAAA")),
]


@pytest.mark.parametrize("token", FORGED, ids=range(len(FORGED)))
def test_a_forged_token_gets_one_and_the_same_answer(token: str) -> None:
    """C058: all 401 with one body; a good token still works afterwards."""
    assert refusal(token) == (401, {"error": "Invalid API token", "hint": HINT}, 'Bearer error="invalid_token"')
    assert TOKENS.verify(GOOD, "mcp").registered


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic dTpw", "Token abc", GOOD])
def test_no_bearer_token_is_said_so(header: str | None) -> None:
    """P23: the seed's line, and beside it what to send."""
    with pytest.raises(TokenRefused) as refused:
        TOKENS.authenticate(header, "mcp")
    assert (refused.value.status, refused.value.body) == (401, {"error": "API token required", "hint": HINT})


@pytest.mark.parametrize(("door", "access"), [("mcp", "mcp-server"), ("api", "read-only or full-access"), ("ops", "operator")])
def test_a_refusal_names_the_header_and_the_access_type_of_its_door(door: str, access: str) -> None:
    """docs/errors.md: whoever has no token, a wrong one or one of another door learns what to send."""
    other = TOKENS.create(Grant("x", "mcp-server" if door != "mcp" else "operator")).token
    for header in (None, "Bearer wrong", f"Bearer {other}"):
        with pytest.raises(TokenRefused) as refused:
            TOKENS.authenticate(header, door)
        hint = refused.value.body["hint"]
        assert "Authorization: Bearer" in hint and f"access type {access}." in hint
        made = re.search(r"tokens create --access (\S+)", hint)
        assert made and made[1] in DOORS[door]


@pytest.mark.parametrize(("access", "doors"), [
    ("mcp-server", {"mcp"}), ("read-only", {"api"}), ("full-access", {"api"}), ("operator", {"ops"}),
])
def test_a_token_opens_its_own_door_only(access: str, doors: set[str]) -> None:
    """P5, P6: another door answers 403 with the seed's body."""
    token = TOKENS.create(Grant("x", access)).token
    for door in ("mcp", "api", "ops"):
        if door in doors:
            assert TOKENS.authenticate(f"Bearer {token}", door).token_id
        else:
            status, body, _ = refusal(token, door)
            assert (status, body["error"]) == (403, "This token cannot access this endpoint")


def test_a_token_that_was_good_is_refused_when_its_time_or_its_key_is_over() -> None:
    """What is remembered of it is the signature, not the answer."""
    now, stored = [1_000_000.0], [[SECRET]]
    ring = Keyring(stored[0], "tokens", lambda: stored[0])
    tokens = Tokens(ring, AUDIENCE, lambda: now[0])
    short, long = (tokens.create(Grant("x", ttl=ttl)).token for ttl in (60, 6_000))
    for _ in range(3):
        assert tokens.verify(short, "mcp").registered
        with pytest.raises(TokenRefused) as other:
            tokens.verify(short, "api")
        assert other.value.status == 403
    now[0] += 80
    with pytest.raises(TokenRefused):
        tokens.verify(short, "mcp")
    assert tokens.verify(long, "mcp").registered
    stored[0] = [OTHER]
    ring._looked -= 10  # a second has passed
    with pytest.raises(TokenRefused):
        tokens.verify(long, "mcp")


def test_what_is_remembered_of_tokens_is_bounded() -> None:
    tokens = Tokens(Keyring([SECRET], "tokens"), AUDIENCE)
    for _ in range(MAX_SEEN + 10):
        tokens.verify(tokens.create(Grant("x")).token, "mcp")
    assert len(tokens._seen) <= MAX_SEEN


def test_a_token_carries_who_and_what() -> None:
    issued = TOKENS.create(Grant("desk", scopes=("read:content", "read:unpublished"), roles=("author",), subject="ana", ttl=60))
    caller = TOKENS.verify(issued.token, "mcp")
    assert (caller.client, caller.token_id, caller.subject) == (f"token:{issued.jti}", issued.jti, "ana")
    assert caller.scopes == {"read:content", "read:unpublished"}
    assert "documents.read.own" in caller.capabilities
    assert issued.expires == issued.created + 60


def test_without_scopes_a_token_holds_every_read_scope_of_the_seed_and_names_nobody() -> None:
    """docs/rules.md, Tokens and roles: an mcp-server token without --scope."""
    caller = TOKENS.verify(GOOD, "mcp")
    assert caller.scopes == READ_SCOPES
    assert caller.subject is None
    assert TOKENS.verify(TOKENS.create(Grant("ops", "operator")).token, "ops").scopes == {"read:ops", "audit:read", "tokens:revoke"}


def test_a_token_expires_and_clocks_may_differ_by_seconds() -> None:
    """docs/rules.md, Tokens and roles: ten seconds between clocks."""
    now = [1_790_000_000.0]
    tokens = Tokens(KEYS, AUDIENCE, clock=lambda: now[0])
    token = tokens.create(Grant("short", ttl=60)).token
    for at, works in ((-9, True), (-31, False), (59, True), (69, True), (91, False)):
        now[0] = 1_790_000_000.0 + at
        if works:
            assert tokens.verify(token, "mcp")
        else:
            with pytest.raises(TokenRefused):
                tokens.verify(token, "mcp")


def test_keys_rotate_without_a_refusal() -> None:
    """docs/rules.md, Tokens and roles: several keys, the first signs."""
    rotated = Tokens(Keyring([OTHER, SECRET], "tokens"), AUDIENCE)
    assert rotated.verify(GOOD, "mcp").registered
    fresh = rotated.create(Grant("new")).token
    assert Tokens(Keyring([OTHER], "tokens"), AUDIENCE).verify(fresh, "mcp").registered
    assert refusal(fresh)[0] == 401


def test_a_key_serves_one_purpose_and_one_site() -> None:
    assert Keyring([SECRET], "sessions").signing.secret != KEYS.signing.secret
    for other in (Tokens(Keyring([SECRET], "sessions"), AUDIENCE), Tokens(KEYS, "urn:cmsmcp:other")):
        with pytest.raises(TokenRefused):
            other.verify(GOOD, "mcp")
    assert "secret" not in repr(KEYS.signing) and KEYS.signing.secret.hex() not in repr(KEYS.signing)


@pytest.mark.parametrize("secrets", [[], [b"short"], [SECRET, b"short"], [SECRET] * 9], ids=len)
def test_a_weak_key_is_refused_without_being_shown(secrets: list[bytes]) -> None:
    with pytest.raises(ValueError, match="CMSMCP_SECRET_KEY") as refused:
        Keyring(secrets, "tokens")
    assert "short" not in str(refused.value) and "thirty" not in str(refused.value)


@pytest.mark.parametrize(("grant", "words"), [
    (Grant("x", "admin"), "no access type 'admin'"), (Grant(""), "name of a token"), (Grant("a\nb"), "name of a token"),
    (Grant("x" * 101), "name of a token"), (Grant("x", subject=" "), "subject of a token"), (Grant("x", ttl=0), "ten years"),
    (Grant("x", ttl=10**12), "ten years"), (Grant("x", scopes=("read:all",)), "read:all"), (Grant("x", roles=("author",)), "--subject"),
])
def test_a_grant_that_makes_no_sense_makes_no_token(grant: Grant, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        TOKENS.create(grant)


@given(st.integers(0, len(GOOD) - 1), st.sampled_from("ABab01-_.=é \n"))
def test_no_single_changed_character_passes(position: int, char: str) -> None:
    """C058: no mutation is accepted."""
    mutated = GOOD[:position] + char + GOOD[position + 1 :]
    if mutated != GOOD:
        with pytest.raises(TokenRefused):
            TOKENS.verify(mutated, "mcp")


@given(st.text(max_size=200) | st.binary(max_size=100).map(lambda data: f"{encode(data)}.{encode(data[::-1])}.{encode(data)}"))
def test_any_text_is_refused_and_never_an_error(text: str) -> None:
    assert refusal(text)[0] == 401
