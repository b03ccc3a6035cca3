"""What redaction takes out and what it leaves (F40, C054; docs/rules.md, Redaction)."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.governance.redaction import MARK, redact
from cmsmcp.governance.redaction.names import words

C054 = {
    "accessToken": "S3CR3T-01",
    "refresh_token": "S3CR3T-02",
    "X-Api-Key": "S3CR3T-03",
    "PASSWORD": "S3CR3T-04",
    "dbPasswd": "S3CR3T-05",
    "clientSecret": "S3CR3T-06",
    "privateKey": "-----BEGIN PRIVATE KEY-----\nS3CR3T-07\n-----END PRIVATE KEY-----",
    "session": {"cookieValue": {"sessionId": "S3CR3T-08"}},
    "env": [{"name": "API_KEY", "value": "S3CR3T-09"}, [{"password_hash": "S3CR3T-10"}]],
    "headers": ["Authorization: Bearer S3CR3T-11"],
    "raw": '{"api_key":"S3CR3T-12"}',
    "password": ["S3CR3T-13", {"a": "S3CR3T-14"}],
    "secret": 123456789,
    "ａｐｉ＿ｋｅｙ": "S3CR3T-15",
    "arguments": {"apiKey": "S3CR3T-16", "nested": [[{"refreshToken": "S3CR3T-17"}]]},
    "query": "Bearer S3CR3T-18-0123456789abcdef",
}


def test_every_listed_secret_is_masked_and_every_name_kept() -> None:
    """C054: eighteen values, and a number."""
    clean = redact(C054)
    assert "S3CR3T" not in json.dumps(clean, ensure_ascii=False)
    assert clean["secret"] is None
    assert list(clean) == list(C054)
    assert clean["session"] == {"cookieValue": {"sessionId": MARK}}
    assert clean["env"] == [{"name": "API_KEY", "value": MARK}, [{"password_hash": MARK}]]
    assert clean["password"] == [MARK, {"a": MARK}]
    assert clean["headers"] == [f"Authorization: Bearer {MARK}"]
    assert json.loads(clean["raw"]) == {"api_key": MARK}


@pytest.mark.parametrize("kept", [
    {"maxTokens": 4096, "max_tokens": 5, "tokenizer": "bpe", "token_type": "Bearer", "tokens": {"color": "#fff"}, "nextPageToken": "abc"},
    {"password_hashes": True, "admin_tokens": False, "totp_secrets": True, "session_store": True, "deploy_keys": True},
    {"secrets": {"access": {"admin_tokens": True, "session_store": False, "password_hashes": True}}},
    {"api_key_env": "OPENAI_API_KEY", "password_policy": "12 characters", "secret_name": "db", "passwordLength": 12},
    {"author": "Pat Secretan", "keywords": ["key", "token"], "primaryKey": "id", "key": "hero", "public_key": "abc", "passenger": "x"},
    {"properties": {"password": {"type": "string"}, "token": {"type": "string", "description": "Your token"}}},
    {"components": {"securitySchemes": {"apiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key"}},
                    "schemas": {"Secret": {"type": "object"}}}},
    {"$defs": {"accessToken": {"type": "string", "format": "token"}}},
    {"parameters": [{"name": "api_key", "in": "header", "schema": {"type": "string"}}]},
    {"accessTokens": 3, "empty": {"password": ""}, "none": {"password": None}},
    {"title": "Password: tips", "sub": "Secret: Santa?",
     "body": "Send a bearer token, or basic authentication, to https://user:password@example.com"},
    {"body": "curl -H 'Authorization: Bearer <token>' https://x.example\nAuthorization: Bearer $TOKEN\nDSN=postgres://app:${DB_PASSWORD}@db/x"},
    {"body": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "code": "sk-learn and ask-me, eyJust, AKIA, ghp_xxxx"},
    {"body": '```json\n{"api_key": "YOUR_API_KEY", "password": "..."}\n```'},
], ids=str)
def test_what_is_no_secret_stays(kept: dict) -> None:
    """docs/rules.md, Redaction: by tokenised names, never by substring; schemas and placeholders stay; a boolean is a setting."""
    assert redact(kept) == kept


@pytest.mark.parametrize("text", [
    "postgres://app:hunter2Zq@db.internal:5432/site",
    "see redis://:hunter2Zq@cache/0 for more",
    "https://deploy:hunter2Zq@git.example.com/repo.git",
    "Server=tcp:db;Database=x;User Id=sa;Password=hunter2Zq;Encrypt=yes",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=hunter2Zq==;EndpointSuffix=core",
    "host=db user=app password=hunter2Zq dbname=x",
    "API_KEY=hunter2Zq",
    "export DB_PASSWORD=hunter2Zq",
    "X-Api-Key: hunter2Zq",
    "Authorization: Basic aHVudGVyhunter2Zq",
    "authorization: hunter2Zq",
    "set the header to bearer hunter2Zq0123456789",
    'In the file:\n```json\n{"client_secret": "hunter2Zq", "name": "x"}\n```\n',
    '[{"deep": "{\\"session_token\\": \\"hunter2Zq\\"}"}]',
    "-----BEGIN RSA PRIVATE KEY-----\nhunter2Zq\n-----END RSA PRIVATE KEY-----",
    "text -----BEGIN OPENSSH PRIVATE KEY-----\nhunter2Zq0123456789012345678901234567890123456789",

    "ghp_hunter2Zq0123456789abcdefghij0123456789",
    "github_pat_hunter2Zq0123456789abcdefghij",
    "glpat-hunter2Zq0123456789ab",
    "xoxb-hunter2Zq-0123456789",
    "sk_live_hunter2Zq0123456789",
    "rk_test_hunter2Zq0123456789",
    "sk-ant-hunter2Zq0123456789ab",
    "AIzahunter2Zq0123456789abcdefghij0123456",
    "npm_hunter2Zq0123456789abcdefghij0123456",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyWnEifQ.hunter2Zq",
    "plank_" + "0123456789abcdef" * 4,
    "$argon2id$v=19$m=65536,t=3,p=4$hunter2Zq$hunter2Zqhunter2Zq",
    "argon2id$65536$3$4$hunter2Zq$hunter2Zqhunter2Zq",
    "$2b$12$hunter2Zq0123456789./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef",
    "pbkdf2-sha256$600000$hunter2Zq$hunter2Zqhunter2Zq",
], ids=lambda text: text[:30])
def test_a_secret_is_known_by_its_looks(text: str) -> None:
    """docs/rules.md, Redaction: value patterns in every string, bodies and nested JSON too."""
    clean = redact({"body": text, "in a page": f"Some words.\n\n{text}\n\nMore words.", "list": [[text]]})
    assert "hunter2Zq" not in json.dumps([clean["body"], clean["list"]])
    assert MARK in clean["body"]
    assert text not in clean["in a page"] or text.startswith(("API_KEY", "export", "X-Api", "[")), "whole-string forms only"


@pytest.mark.parametrize(("name", "expected"), [
    ("accessToken", ("access", "token")), ("ACCESS_TOKEN", ("access", "token")), ("access-token", ("access", "token")),
    ("APIKey", ("api", "key")), ("apikey", ("api", "key")), ("x.api.key2", ("x", "api", "key")), ("Ａccess＿Ｔoken", ("access", "token")),
    ("clientsecret", ("client", "secret")), ("maxTokens", ("max", "tokens")), ("", ()),
])
def test_names_are_read_in_words(name: str, expected: tuple[str, ...]) -> None:
    assert words(name) == expected


SECRET = "hunter2Zq"


@pytest.mark.parametrize("value", [
    {"DB_PASS": SECRET}, {"smtp_pass": SECRET}, {"auth": {"user": "a", "pass": SECRET}}, {"tokens": [SECRET, SECRET]},
    {"secret_key_base": SECRET}, {"api_key_prod": SECRET}, {"token_prod": SECRET}, {"password_old": SECRET}, {"auth_token_v2": SECRET},
    {"apiKeyV2": SECRET}, {"password_base64": SECRET}, {"encryption_key_base64": SECRET}, {"stripeKey": SECRET},
    {"otp": SECRET}, {"pin": SECRET}, {"bearer": SECRET}, {"jwt": SECRET}, {"cookie": f"theme=dark; session={SECRET}"},
    {"name": "api_key", "in": "query", "example": SECRET}, {"name": "api_key", "schema": {"type": "string", "default": SECRET}},
    {"name": "X-Api-Key", "in": "header", "examples": {"one": {"value": SECRET}}},
    {"properties": {"password": {"type": "string", "example": SECRET}}},
    '{"auth": {"pass": "hunter2Zq"}}',
], ids=str)
def test_a_name_announces_a_secret_in_every_edition_of_it(value: object) -> None:
    """docs/rules.md, Redaction: editions (`_old`, `V2`), words that announce only what looks the part, and samples in declarations."""
    clean = redact(value)
    assert SECRET not in json.dumps(clean)
    assert MARK in json.dumps(clean)
    assert redact(clean) == clean


@pytest.mark.parametrize("text", [
    "https://x.example/a?api_key=hunter2Zq&b=1", "see https://x.example/?a=1&access_token=hunter2Zq for it", "/cb?token=hunter2Zq",
    "?password=hunter2Zq", "https://h/c?sv=1&sig=hunter2Zqabcdefgh", "https://h/#access_token=hunter2Zq&state=1",
    "<a href='https://x/?a=1&amp;token=hunter2Zq'>", "postgresql://h/db?user=u&password=hunter2Zq",
    "https://hooks.slack.com/services/T00000000/B00000000/hunter2Zqabcdefgh", "hooks.slack.com/services/T00000000/B0000000/hunter2Zqabcd",
    "https://discord.com/api/webhooks/123456789012345678/hunter2Zq012345678901234567890123", "xapp-1-A0123-456-hunter2Zq",
    "whsec_hunter2Zq0123456789", "GOCSPX-hunter2Zq0123456789abc", "123456789:AAhunter2Zq0123456789abcdefghijklmno",
    "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.hunter2ZqZnCjm1XVW7vRze4b7Cq4se7",
    "run x --password=hunter2Zq now", "run x --api-key hunter2Zq now", "mysql --password='hunter2Zq'",
    "curl -u admin:hunter2Zq https://x", "curl -s --user 'admin:hunter2Zq' https://x", "curl -H 'X-Api-Key: hunter2Zq' x",
    "First do\n\nexport DB_PASSWORD=hunter2Zq\n\nthen", "Text\nX-Api-Key: hunter2Zq\nmore", "docker run -e DB_PASSWORD=hunter2Zq x",
    "Send\n```\nAuthorization: Basic aHVuhunter2Zq\n```", "a\nCookie: session=hunter2Zq; theme=dark\nb", "a\n  password: 'hunter2Zq',\nb",
    'a\napi_key = "hunter2Zq"\nb', "env FOO=1 API_KEY_PROD=hunter2Zq ./run", "```yaml\ndb:\n  pass: hunter2Zq\n```",
    "x {'password': 'hunter2Zq'}", 'text `{"pass": "hunter2Zq"}` text', "DB_PASSWORD=correct", "MONGO_PASSWORD = hunter2Zq",
], ids=lambda text: text[:40])
def test_a_secret_within_a_text_is_known_by_what_stands_before_it(text: str) -> None:
    """docs/rules.md, Redaction: queries, options, environments and headers, wherever in a text; arguments in the audit go the same way."""
    for whole in (text, f"Some words.\n\n{text}\n\nMore words."):
        clean = redact({"body": whole})
        assert MARK in clean["body"]
        assert SECRET not in clean["body"]
        assert redact(clean) == clean


def test_a_basic_header_needs_no_digit_and_keys_of_fixed_shape_no_name() -> None:
    assert "Zpbm" not in redact("Send\nAuthorization: Basic Zpbmnopqrstu==\nso")
    for shaped in ("SK" + "0123456789abcdef" * 2, "shpat_" + "0123456789abcdef" * 2):
        assert redact(f"with {shaped} in it") == f"with {MARK} in it"


@pytest.mark.parametrize("kept", [
    {"passed": "x", "passes": "two", "bypass": "x", "first_pass": "quick", "boardingPass": "LH", "test": {"pass": 3, "fail": 1}},
    {"tokens": [1, 2], "design_tokens": ["a"], "stop_tokens": ["</s>"], "space-separated-tokens": "2.0.2", "s3_key": "media/a.png"},
    {"otp": True, "pin": 13, "map": {"pin": "blue"}, "cookie": "chocolate", "jwt": {"alg": "HS256"}, "bearer": {"format": "JWT"}},
    {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}, "jwt": {"type": "http"}}},
    {"name": "api_key", "in": "query", "example": "<your key>", "schema": {"type": "string", "minLength": 3}},
    {"properties": {"password": {"type": "string", "format": "password", "example": "string", "default": ""}}},
    *({"body": f"Some\n{line}\nmore"} for line in (
        "const token = getToken(user2)", "password = os.environ['PASS2']", "password: string;", "token: process.env.TOKEN2",
        "https://x/?token=<token>&a=1 or ?token={token} or ?api_key=YOUR_API_KEY", "?page_token=abc123&sort=key=1",
        "--password is required, and --token-type Bearer2", "The password: it must have 12 characters", "DB_PASSWORD=YOUR_DB_PASSWORD",
        "export DB_PASSWORD=$(cat /run/secret2)", "export DB_PASSWORD=$PW2", "DB_PASSWORD=<password>", "TOKEN=change-me",
        "X-Api-Key: <key>",
        "docker run -u 1000:1000 x", "curl -u user:password https://x", "primary_key: abc123456", "password_hash: argon2id",
        'return "totp?secret=" + escape(secret2) + "&x="', "A token: see https://x/1", "Cookie: session=<id>", "SKU 12345, SK-12",
        "cookie: a small file of 4096 bytes", "Module.export.something_that_is_long_enough_to_match", "pass: 2 of 3",
    )),
], ids=str)
def test_what_only_resembles_a_secret_stays(kept: dict) -> None:
    """Code, placeholders and counts: seen in the pages of real projects."""
    assert redact(kept) == kept


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10) | st.text(max_size=20)
    | st.sampled_from(["Bearer abcdefgh0123456789", "a://u:p9@h", '{"token":"q1w2e3"}', "API_KEY=zz9", "AKIAABCDEFGH12345678",
                       "?token=a1b2&x=1"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["a", "password", "apiKey", "name", "value", "properties", "tokens", "pass", "default", "x"]), inner, max_size=4,
    ),
    max_leaves=12,
)


@given(json_values)
def test_redacting_twice_changes_nothing(value: object) -> None:
    once = redact(value)
    assert redact(once) == once


@given(json_values)
def test_structure_and_names_stay(value: object) -> None:
    def skeleton(node: object) -> object:
        if isinstance(node, dict):
            return {key: skeleton(child) for key, child in node.items()}
        return [skeleton(child) for child in node] if isinstance(node, list) else None

    assert skeleton(redact(value)) == skeleton(value)


secret_names = st.sampled_from(["password", "accessToken", "API-KEY", "client_secret", "Session Id", "refreshToken", "passwordHash"])
paths = st.lists(st.sampled_from(["list", "map", "json"]), max_size=4)


@given(secret_names, paths)
def test_a_canary_under_a_secret_name_never_survives_wherever_it_stands(name: str, path: list[str]) -> None:
    """C054: deep or list-nested, and JSON inside strings (three levels of it)."""
    value: object = {name: {"deep": ["CANARY-0001"]}}
    for step in path[:3]:
        value = [value] if step == "list" else {"safe": value} if step == "map" else json.dumps(value)
    assert "CANARY" not in json.dumps(redact(value))


def test_a_deep_value_ends_in_the_mark_not_in_an_error() -> None:
    value: object = "x"
    for _ in range(5000):
        value = [value]
    assert MARK in str(redact(value))


@pytest.mark.parametrize("text", [
    "replays the request with `Authorization: Bearer ...`, or Authorization: Bearer tokens, or Authorization: Basic authentication",
    "Opening browser for authorization: http://localhost:9000/authorize?x=1",
    "Authorization: the process of deciding who may do what",
    '{"access_token": "mcp_...", "token_type": "Bearer", "password": "string"}'.join(["Reply:\n", "\n"]),
    "task-0123456789012345678901, disk_test_0123456789012345, half_0123456789012345678901234567890123",
])
def test_prose_about_secrets_is_no_secret(text: str) -> None:
    """Seen in the pages of real projects."""
    assert redact({"body": text}) == {"body": text}


def test_a_menu_or_a_package_named_like_a_secret_stays() -> None:
    value = {"peerDependencies": {"@azure/keyvault-secrets": "^4.9.0"}}
    assert redact(value) == value


def test_a_large_page_is_swept_in_linear_time() -> None:
    """No text makes an expression backtrack: each of these took far longer than a second with a careless one."""
    pieces = ("eyJ-", "sk-", "://a:", "host=", "-----BEGIN PRIVATE KEY-----", '"a":"', "SG.-", ";password", "Bearer a", "\\", "{",
              "api_key=a9", "token: ", "--a9 ", "?sig=", "-u a", "Cookie: a=9", "M9.", "AKEY='")
    for piece in pieces:
        text = piece * (200_000 // len(piece))
        began = time.process_time()
        redact({"body": text})
        assert time.process_time() - began < 1.0, piece


@pytest.mark.parametrize("text", [
    'var password := "hunter2Zq"', "<password>hunter2Zq</password>", "| password | hunter2Zq |", "`password` `hunter2Zq`",
    "password:\n  hunter2Zq", "password: |\n  hunter2Zq\n", "define('password','hunter2Zq')", "run x --apiKey hunter2Zq",
    '{\\"password\\":\\"hunter2Zq\\"}', "password=>'hunter2Zq'", '{"name":"password","value":"hunter2Zq"}',
    '{"value":"hunter2Zq","name":"password"}', "https://hunter2Zq012345678@host/x.git", "amqp://app:a@hunter2Zq@queue",
    "amqp://app:hunter2Zq@b@queue", "hvs.CAESIhunter2Zq0123456789abcdef", "lin_api_hunter2Zq0123456789abcdef",
    "dp.pt.hunter2Zq0123456789abcdefghijklmnop0123456", "machine h login bob password hunter2Zq", '"auth": "aHVudGVyhunter2Zq="',
    "bob:$apr1$abcdefgh$hunter2Zq0123456789ab/", "-----BEGIN RSA PRIVATE KEY-----MIIEowhunter2Zqabcdefghijklmn",
    'So {"password": "hunter2Zq", "x": 1} is sent.', "password=hunter2Zq-x host=db user=a", "host=db password=hunter2Zq-x user=a",
    "<add key='password' value='hunter2Zq'/>", "<td>password</td><td>hunter2Zq</td>", 'os.Setenv("PASSWORD", "hunter2Zq")',
    "${PASSWORD:-hunter2Zq}", "**Password:** hunter2Zq", "&quot;password&quot;:&quot;hunter2Zq&quot;", "API key: hunter2Zq",
    "passwords:\n  - hunter2Zq\n", "tokens: ['hunter2Zq', 'x']", "the password is hunter2Zq", "identified by 'hunter2Zq'",
], ids=lambda text: text[:40])
@pytest.mark.parametrize("around", ["{}", "Some words.\n\n{}\n\nMore words.", "A sentence of many.\n" * 300 + "{}\nAnd more."],
                         ids=["alone", "in a page", "in a long page"])
def test_no_way_of_writing_it_down_hides_a_secret(text: str, around: str) -> None:
    """docs/rules.md, Redaction: whatever joins a name to its value, and however long the text around it is."""
    clean = redact({"body": around.replace("{}", text)})["body"]
    assert SECRET not in clean
    assert redact(clean) == clean


@pytest.mark.parametrize("name", [
    "auth", "basicAuth", "consumerKey", "appKey", "clientKey", "PGPASSWORD", "pw", "bindpw", "psk", "wifiKey", "passwort", "recoveryCode",
    "mfaCode", "seedPhrase", "iban", "cvv", "contraseña", "mot_de_passe", "пароль", "密码", "パスワード", "hasło", "MYSQL_PWD",
])
def test_names_of_secrets_are_known_in_other_words_and_languages(name: str) -> None:
    for value in ({name: SECRET}, f"{name}={SECRET}", f"x\n{name}: {SECRET}\ny"):
        assert SECRET not in str(redact({"body": value}))


@pytest.mark.parametrize("kept", [
    "accesskey=s1", "authorization: required2", "credentials: [MD, PhD]", "password: Tips", "NOPASSWD: ALL",
    {"accesskey": "s1", "authorization": "required2", "credentials": ["MD", "PhD"]},
    '<button accesskey="s">', "'password' => 'required|min:8|confirmed'", '"password": "Enter your password"', "password: string;",
    "access key: Alt+Shift+1", "it has basic internationalization now", "the login form password field",
    "import {\n  getAuth,\n  inMemoryPersistence,\n} from 'x'",
], ids=str)
def test_what_is_written_like_a_secret_and_is_none_stays(kept: object) -> None:
    for value in (kept, [kept], {"body": f"Some\n{kept}\nmore"}) if isinstance(kept, str) else (kept,):
        assert redact(value) == value
