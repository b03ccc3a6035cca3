"""Texts with a secret in a known place, and texts without any, made from a seed: what redaction is measured on.

A position is a name, a way to write it and its value down (the syntax), a secret, and a page around it, each drawn anew: secrets, values,
blanks, quotes and sentences differ from seed to seed. `make redaction SEED=…` counts what is missed and what is changed for nothing.
"""

# ruff: noqa: E501, E731, PLC3002
# One way to write something is one line, however long, as in a table.

from __future__ import annotations

import base64
import json
import random
import string
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cmsmcp.governance.redaction import redact

ALNUM = string.ascii_letters + string.digits
SPELLED = (
    "password", "db password", "api key", "access token", "refresh token", "client secret", "secret", "secret key", "private key",
    "auth token", "session token", "consumer key", "app key", "client key", "wifi key", "smtp password", "passphrase", "admin password",
    "recovery code", "mfa code", "seed phrase", "webhook secret", "signing key", "encryption key", "bot token", "deploy key",
)
TOGETHER = ("passwd", "pwd", "pw", "psk", "PGPASSWORD", "bindpw", "passwort", "kennwort", "contraseña", "senha", "wachtwoord", "пароль", "密码", "apikey")


@dataclass(frozen=True)
class Position:
    syntax: str
    text: str
    secret: str


class Draw:
    """Everything that is drawn; one seed, one sequence."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.of = self.random.choice

    def chars(self, alphabet: str, low: int, high: int) -> str:
        return "".join(self.random.choices(alphabet, k=self.random.randint(low, high)))

    def blank(self, most: int = 3) -> str:
        return " " * self.random.randint(0, most)

    def secret(self) -> str:
        """What a machine or a careful person makes, in eight ways; always one that no sentence has."""
        kinds: tuple[Callable[[], str], ...] = (
            lambda: self.chars(ALNUM, 10, 40), lambda: self.chars("0123456789abcdef", 16, 64),
            lambda: base64.b64encode(self.random.randbytes(self.random.randint(9, 30))).decode(),
            lambda: base64.urlsafe_b64encode(self.random.randbytes(self.random.randint(12, 30))).decode().rstrip("="),
            lambda: "-".join(self.chars(string.ascii_uppercase + string.digits, 4, 6) for _ in range(4)),
            lambda: self.chars(string.ascii_letters, 3, 8) + self.of("!@#%^*_-") + self.chars(ALNUM, 4, 9) + self.of(string.digits),
            lambda: self.word().capitalize() + str(self.random.randint(10, 9999)) + self.of("!?*#") + self.chars(ALNUM, 2, 5) + "7",
            lambda: f"{self.chars('0123456789abcdef', 8, 8)}-{self.chars('0123456789abcdef', 4, 4)}-4{self.chars('0123456789abcdef', 11, 11)}",
        )  # fmt: skip
        while True:
            made = self.of(kinds)()
            if sum(map(str.isdigit, made)) >= 2 and sum(map(str.isalpha, made)) >= 3 and made.strip("#@*!?^%-_=+/") == made.rstrip("="):
                return made

    def name(self) -> str:
        """A name in one of the spellings of programs; an edition now and then."""
        if self.random.random() < 0.15:
            return self.of(TOGETHER)
        words = self.of(SPELLED).split()
        if self.random.random() < 0.15:
            words.append(self.of(("old", "prod", "v2", "backup", "test", "2")))
        elif self.random.random() < 0.2:
            words.insert(0, self.of(("my", "the", self.chars(string.ascii_lowercase, 3, 8), "main")))
        style = self.random.randrange(5)
        if style == 0:
            return "_".join(words)
        if style == 1:
            return "-".join(words)
        if style == 2:
            return words[0] + "".join(map(str.capitalize, words[1:]))
        return "_".join(words).upper() if style == 3 else "".join(map(str.capitalize, words))

    def snake(self) -> str:
        return self.name().replace("-", "_")

    def word(self) -> str:
        """Something that can be said: no language's word, but built like one."""
        return "".join(self.of("bdfglmnprstv") + self.of("aeiou") + self.of(("", "", "n", "r", "l")) for _ in range(self.random.randint(2, 4)))

    def sentence(self) -> str:
        said = [self.of((self.word(), self.of(COMMON))) for _ in range(self.random.randint(4, 14))]
        return " ".join(said).capitalize() + self.of((".", ".", "!", ":"))

    def page(self, text: str) -> str:
        """`text` alone, or in a short or a long page."""
        size = self.of((0, 0, 1, 3, 120))
        if not size:
            return text
        before = "\n\n".join(self.sentence() for _ in range(size))
        return f"{before}\n\n{text}\n\n{self.sentence()}\n"


COMMON = (
    "the", "a", "of", "and", "to", "in", "is", "for", "with", "on", "your", "this", "that", "you", "site", "page", "theme", "content", "menu",
    "release", "write", "build", "folder", "title", "key", "token", "password", "secret", "session", "code", "author", "keyboard", "monkey",
)


def _quoted(draw: Draw, text: str) -> str:
    quote = draw.of(("'", '"'))
    return f"{quote}{text}{quote}"


def syntaxes(draw: Draw) -> dict[str, Callable[[str], str]]:
    """By name: the text for a secret. Everything else in it is drawn when it is called."""
    d, q = draw, draw.blank
    value = lambda secret: _quoted(d, secret)
    upper = lambda: d.snake().upper()
    return {
        "shell export": lambda s: f"export {upper()}={s}",
        "shell quoted": lambda s: f"{upper()}={value(s)} ./{d.word()}",
        "shell default": lambda s: f"${{{upper()}:-{s}}}",
        "dotenv": lambda s: f"{d.word().upper()}={d.word()}\n{upper()}={s}\nDEBUG=1",
        "option equals": lambda s: f"{d.word()} --{d.name().lower()}={s} --verbose",
        "option blank": lambda s: f"{d.word()} --{d.snake().lower()}{d.of((' ', '  '))}{s} --force",
        "docker run": lambda s: f"docker run -e {upper()}={s} {d.word()}/{d.word()}",
        "dockerfile": lambda s: f"ENV {upper()} {s}",
        "yaml": lambda s: f"{d.word()}:\n  {d.name()}: {s}\n  on: true",
        "yaml quoted": lambda s: f"{d.name()}:{q() or ' '}{value(s)}",
        "yaml next line": lambda s: f"{d.name()}:{q()}\n{' ' * d.of((2, 4))}{s}\nnext: 1",
        "yaml block": lambda s: f"{d.name()}: {d.of(('|', '>', '|-', '>-'))}\n  {s}\n",
        "yaml list": lambda s: f"{d.snake()}:\n  - {s}\n  - {d.word()}\n",
        "yaml pair": lambda s: f"- name: {d.snake()}\n  value: {s}\n",
        "toml": lambda s: f"[{d.word()}]\n{d.snake()}{q()}={q()}{value(s)}\n",
        "ini": lambda s: f"[{d.word()}]\n{d.snake()}{q()}={q()}{s}\n",
        "properties": lambda s: f"{d.word()}.{d.word()}.{d.snake()}={s}",
        "json": lambda s: json.dumps({d.word(): 1, d.name(): s, "x": [d.word()]}, indent=d.of((None, 2)), ensure_ascii=False),
        "json in prose": lambda s: f"{d.sentence()} `{{\"{d.name()}\":{q()}\"{s}\"}}` {d.sentence()}",
        "json escaped": lambda s: f"{d.word()} {json.dumps(json.dumps({d.snake(): s}, ensure_ascii=False), ensure_ascii=False)} {d.word()}",
        "json pair": lambda s: f"send {{\"name\":{q()}\"{d.snake()}\",{q()}\"value\":{q()}\"{s}\"}}",
        "json pair reversed": lambda s: f"send {{\"value\": \"{s}\", \"name\": \"{d.snake()}\"}}",
        "xml element": lambda s: (lambda n: f"<{n}>{s}</{n}>")(d.snake()),
        "xml attribute": lambda s: f"<{d.word()} {d.snake()}={value(s)} />",
        "xml pair": lambda s: f"<add key=\"{d.snake()}\" value=\"{s}\" />",
        "xml property": lambda s: f"<property name=\"{d.snake()}\">{s}</property>",
        "html cells": lambda s: f"<tr><td>{d.snake()}</td>{d.of(('', ' ', chr(10)))}<td>{s}</td></tr>",
        "html input": lambda s: f"<input type=\"hidden\" name=\"{d.snake()}\" value=\"{s}\">",
        "html quotes": lambda s: f"{{&quot;{d.name()}&quot;:{q()}&quot;{s}&quot;}}",
        "table row": lambda s: f"| {d.name()}{q()}| {d.of(('', '`'))}{s}{d.of((' ', ''))}|".replace(f"`{s}", f"`{s}`"),
        "table column": lambda s: f"| user | {d.name()} |\n|---|:--|\n| {d.word()} | {d.word()} |\n| {d.word()} | {s} |\n",
        "csv column": lambda s: f"user,{d.snake()},role\n{d.word()},{s},admin\n",
        "markdown bold": lambda s: f"**{d.snake()}:** {s}",
        "code spans": lambda s: f"`{d.name()}` `{s}`",
        "code span colon": lambda s: f"- `{d.name()}`: `{s}`",
        "fence": lambda s: f"```{d.of(('yaml', 'sh', ''))}\n{d.snake()}: {value(s)}\n```",
        "python": lambda s: f"{d.snake().lower()}{q()}={q()}{d.of(('', 'b', 'r'))}{value(s)}",
        "python typed": lambda s: f"{d.snake().lower()}: str = {value(s)}",
        "python dict": lambda s: f"config[{_quoted(d, d.name())}]{q()}={q()}{value(s)}",
        "python call": lambda s: f"connect(host={value(d.word())}, {d.snake().lower()}={value(s)})",
        "python getenv": lambda s: f"os.environ.get({_quoted(d, d.snake())}, {value(s)})",
        "js": lambda s: f"const {d.snake()} = {value(s)};",
        "js object": lambda s: f"{{ {d.snake()}:{q()}{value(s)}, on: true }}",
        "js default": lambda s: f"process.env.{upper()} {d.of(('||', '??'))} {value(s)}",
        "go": lambda s: f"{d.snake()}{q()}:={q()}\"{s}\"",
        "go setenv": lambda s: f"os.Setenv(\"{upper()}\", \"{s}\")",
        "php define": lambda s: f"define({_quoted(d, upper())},{q()}{value(s)});",
        "php array": lambda s: f"{_quoted(d, d.snake())}{q()}=>{q()}{value(s)},",
        "php variable": lambda s: f"$config['{d.snake()}']{q()}={q()}{value(s)};",
        "ruby": lambda s: f"{d.of((':', ''))}{d.snake()}{q()}=>{q()}{value(s)}",
        "ruby symbol": lambda s: f"{d.snake()}: {value(s)}",
        "java": lambda s: f"private static final String {upper()} = \"{s}\";",
        "c": lambda s: f"const char *{d.snake()}{d.of(('', '[]'))} = \"{s}\";",
        "rust": lambda s: f"let {d.snake()}: &str = \"{s}\";",
        "setter": lambda s: f"client.set{''.join(map(str.capitalize, d.of(SPELLED[:10]).split()))}({value(s)})",
        "powershell": lambda s: f"$env:{upper()} = {value(s)}",
        "query": lambda s: f"https://{d.word()}.example/{d.word()}?{d.word()}=1&{d.snake().lower()}={_url(s)}&x=2",
        "userinfo": lambda s: f"{d.of(('postgres', 'amqp', 'redis', 'https', 'mongodb+srv'))}://{d.word()}:{_url(s)}@{d.word()}.example/{d.word()}",
        "userinfo raw at": lambda s: f"amqp://{d.word()}:{d.chars(ALNUM, 2, 4)}@{_url(s)}@{d.word()}",
        "userinfo token": lambda s: f"https://{d.chars(ALNUM, 14, 20)}7x{_url(s)}@{d.word()}.example/{d.word()}.git",
        "header": lambda s: f"{d.of(('X-Api-Key', 'X-Auth-Token', 'x-access-token', 'Private-Token'))}: {s}",
        "header curl": lambda s: f"curl -H {_quoted(d, f'X-Api-Key: {s}')} https://{d.word()}.example",
        "authorization": lambda s: f"Authorization: {d.of(('Bearer', 'Basic', 'Token'))} {s}",
        "authorization words": lambda s: f"{d.sentence()} Send Authorization: Bearer {s} to {d.word()}.",
        "curl user": lambda s: f"curl -u {d.word()}:{s} https://{d.word()}.example",
        "connection string": lambda s: f"Server={d.word()};Database={d.word()};User Id=sa;{d.of(('Password', 'Pwd'))}={s};Encrypt=yes",
        "libpq": lambda s: " ".join(draw.random.sample([f"host={d.word()}", f"user={d.word()}", f"password={s}", f"dbname={d.word()}"], 4)),
        "netrc": lambda s: f"machine {d.word()}.example{d.of((' ', chr(10) + '  '))}login {d.word()}{d.of((' ', chr(10) + '  '))}password {s}",
        "sql": lambda s: f"CREATE USER {d.word()} {d.of(('IDENTIFIED BY', 'WITH PASSWORD', 'PASSWORD'))} '{s}';",
        "sentence": lambda s: f"{d.sentence()} The {d.of(('password', 'passphrase', 'admin password'))} is {d.of(('', '`'))}{s}".replace(f"`{s}", f"`{s}`"),
        "spoken": lambda s: f"{d.of(('API key', 'Access token', 'Client secret', 'Secret access key'))}: {s}",
        "nested": lambda s: json.dumps({"a": json.dumps({d.name(): s}, ensure_ascii=False)}, ensure_ascii=False),
        "system property": lambda s: f"java -D{d.snake().lower()}={s} -jar {d.word()}.jar",
        "from literal": lambda s: f"kubectl create secret generic {d.word()} --from-literal={d.snake().lower()}={s}",
        "cut": lambda s: f"{d.snake()} = \"{s}",
    }  # fmt: skip


def shapes(draw: Draw) -> dict[str, Callable[[], tuple[str, str]]]:
    """Secrets that need no name: by name of the kind, a text and what must not be left of it."""
    d, hexa = draw, "0123456789abcdef"
    body = lambda low, high=0: d.chars(ALNUM, low, high or low)
    key = lambda: base64.b64encode(d.random.randbytes(180)).decode()
    kind = lambda: d.of(("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "))
    return {
        "github": lambda: _bare(f"gh{d.of('pousr')}_{body(36)}"),
        "github fine": lambda: _bare(f"github_pat_{body(22)}_{body(30)}"),
        "gitlab": lambda: _bare(f"glpat-{body(20)}"),
        "slack": lambda: _bare(f"xox{d.of('bpars')}-{d.chars('0123456789', 10, 12)}-{body(24)}"),
        "stripe": lambda: _bare(f"{d.of(('sk', 'rk'))}_{d.of(('live', 'test'))}_{body(24)}"),
        "openai": lambda: _bare(f"sk-proj-{body(40)}1"),
        "aws": lambda: _bare(f"AKIA{d.chars(string.ascii_uppercase + '234567', 16, 16)}"),
        "google": lambda: _bare(f"AIza{body(35)}"),
        "vault": lambda: _bare(f"hv{d.of('sbr')}.{body(24, 90)}"),
        "linear": lambda: _bare(f"lin_api_{body(40)}"),
        "doppler": lambda: _bare(f"dp.{d.of(('pt', 'st'))}.{body(40)}"),
        "mailgun": lambda: _bare(f"key-{d.chars(hexa, 32, 32)}"),
        "npm": lambda: _bare(f"npm_{body(36)}"),
        "sendgrid": lambda: _bare(f"SG.{body(22)}.{body(43)}"),
        "jwt": lambda: _bare(f"eyJ{body(20)}.eyJ{body(30)}.{body(40)}"),
        "plank": lambda: _bare(f"plank_{d.chars(hexa, 64, 64)}"),
        "bcrypt": lambda: _bare(f"$2{d.of('aby')}$1{d.of('0123')}${body(53)}"),
        "htpasswd": lambda: _after(f"{d.word()}:", f"$apr1${body(8)}${body(22)}"),
        "htpasswd sha": lambda: _after(f"{d.word()}:", f"{{SHA}}{body(27)}="),
        "shadow": lambda: _after(f"{d.word()}:", f"$6${body(8)}${body(86)}"),
        "argon2": lambda: _bare(f"$argon2id$v=19$m=65536,t=3,p=4${body(22)}${body(43)}"),
        "docker auth": lambda: _docker(f"{d.word()}.io", base64.b64encode(f"{d.word()}:{body(12)}".encode()).decode()),
        "pem": lambda: _pem(key(), kind(), chr(10), ends=True),
        "pem one line": lambda: _pem(key(), kind(), d.of((" ", chr(92) + "n", "")), ends=True),
        "pem cut": lambda: _pem(key()[: d.random.randint(40, 120)], kind(), d.of((" ", chr(10), chr(92) + "n", "")), ends=False),
        "pem beheaded": lambda: _pem(key()[:192], kind(), chr(10), begins=False),
        "slack hook": lambda: _after(f"https://hooks.slack.com/services/T{body(8)}/B{body(8)}/", body(24)),
    }


def _bare(secret: str) -> tuple[str, str]:
    return secret, secret


def _after(before: str, secret: str) -> tuple[str, str]:
    return before + secret, secret


def _docker(host: str, auth: str) -> tuple[str, str]:
    return json.dumps({"auths": {host: {"auth": auth}}}), auth


def _pem(key: str, kind: str, joint: str, *, begins: bool = True, ends: bool = True) -> tuple[str, str]:
    """A key in lines of 64, whose borders stand there or were cut off, and one line of it."""
    lines = [key[at : at + 64] for at in range(0, len(key), 64)]
    first, last = [f"-----BEGIN {kind}PRIVATE KEY-----"] * begins, [f"-----END {kind}PRIVATE KEY-----"] * ends
    return joint.join([*first, *lines, *last]), lines[0]


def _url(secret: str) -> str:
    return "".join(char for char in secret if char.isalnum() or char in "-_")


def positions(seed: int, count: int = 1500) -> Iterator[Position]:
    """Every syntax and shape in turn, until there are `count`."""
    draw = Draw(seed)
    written, shaped = syntaxes(draw), shapes(draw)
    made = 0
    while made < count:
        for name, write in written.items():
            secret = draw.secret()
            text = write(secret)
            yield Position(name, draw.page(text), _url(secret) if "://" in text and _url(secret) in text and secret not in text else secret)
        for name, shape in shaped.items():
            text, secret = shape()
            yield Position(name, draw.page(f"{draw.of(('', 'x ', 'Use '))}{text}"), secret)
        made += len(written) + len(shaped)


def harmless_syntaxes(draw: Draw) -> dict[str, Callable[[], str]]:
    """What is written like a secret, or about one, and is none."""
    d, q = draw, draw.blank
    camel = lambda: d.word() + d.word().capitalize()
    version = lambda: ".".join(str(d.random.randint(0, 30)) for _ in range(3))
    noun = lambda: d.of(("password", "token", "secret", "API key", "access token", "passphrase", "session", "private key"))
    caps = lambda: f"{d.of(('YOUR', 'MY', 'THE'))}_{d.word().upper()}_{d.of(('KEY', 'TOKEN', 'SECRET'))}"
    stand_in = lambda: d.of(("<token>", "${TOKEN}", "$TOKEN", "{{ token }}", "your-api-key", "xxxxxxxx", "...", "********", "<your key>", "change-me", "%TOKEN%",
                             caps(), f"your-{d.word()}", f"<{d.word()}>", f"${{{d.word().upper()}}}", f"${d.word().upper()}", "REDACTED", "example-token", "my-secret-key"))  # fmt: skip
    return {
        "prose": d.sentence, "prose about": lambda: f"{d.sentence()} Your {noun()} {d.of(('is', 'must be', 'can be'))} {d.of(('required', 'optional', 'checked', 'rotated', 'at least 12 characters'))}.",
        "heading": lambda: f"{'#' * d.random.randint(1, 4)} {noun().capitalize()}: {d.word()}", "title": lambda: f"{noun().capitalize()}: {d.word().capitalize()}",
        "sentence colon": lambda: f"The {noun()}: {d.sentence().lower()}", "question": lambda: f"Forgot your {noun()}?",
        "placeholder yaml": lambda: f"{d.name()}: {stand_in()}", "placeholder json": lambda: json.dumps({d.name(): d.of(("<token>", "${TOKEN}", "$TOKEN", "{{ token }}", "...", "********", caps(), f"<{d.word()}>", f"your-{d.word()}"))}),
        "placeholder in prose": lambda: f"Send `{{\"{d.name()}\": \"{stand_in()}\"}}` to us", "placeholder export": lambda: f"export {d.snake().upper()}={stand_in()}",
        "placeholder header": lambda: f"curl -H {_quoted(d, f'Authorization: Bearer {stand_in()}')} https://{d.word()}.example",
        "placeholder url": lambda: f"https://{d.of(('user:password', 'user:pass', 'username:password', ':${TOKEN}', 'app:<password>'))}@{d.word()}.example/{d.word()}",
        "placeholder option": lambda: f"{d.word()} --{d.name().lower()} {stand_in()}",
        "code call": lambda: f"{d.snake().lower()}{q()}={q()}{camel()}({d.word()}{d.random.randint(1, 99)})", "code member": lambda: f"const {d.snake()} = {camel()}.{camel()};",
        "code env": lambda: f"{d.snake().lower()} = {d.of(('os.environ[', 'getenv(', 'env('))}'{d.word().upper()}_{d.random.randint(1, 9)}'{d.of((']', ')'))}",
        "code type": lambda: f"{d.snake()}{d.of(('', '?'))}: {d.of(('string', 'String', 'str', 'string | null', 'SecretStr', 'number', 'boolean'))};",
        "code argument": lambda: f"{camel()}({d.snake().lower()}={camel()}, {d.word()}={d.word()})", "code signature": lambda: f"def {d.word()}(self, {d.snake().lower()}: str, {d.word()}: int = {d.random.randint(0, 99)}):",
        "code list": lambda: f"['name', 'password', '{d.word()}', 'remember_token']", "code rules": lambda: f"'password' => 'required|{d.of(('min', 'max'))}:{d.random.randint(4, 99)}|confirmed'",
        "counts": lambda: f"{d.of(('maxTokens', 'max_tokens', 'totalTokens', 'token_count', 'passwordLength', 'tokens'))}: {d.random.randint(1, 99999)}",
        "counts json": lambda: json.dumps({d.of(("maxTokens", "max_tokens", "inputTokens", "passwordMinLength", "token_limit")): d.random.randint(1, 99999)}),
        "tokenizer": lambda: f"{d.of(('tokenizer', 'tokenize', 'keyboard', 'monkey', 'keynote', 'secretary', 'passenger', 'compass', 'authority', 'turkey'))}: {d.word()}{d.random.randint(1, 999)}x{d.random.randint(1, 99)}",
        "settings": lambda: json.dumps({d.of(("password_hashes", "admin_tokens", "session_store", "deploy_keys", "totp_secrets", "password_reset")): d.of((True, False))}),
        "policy": lambda: f"{d.of(('password_policy', 'passwordPolicy', 'token_type', 'secret_name', 'api_key_env', 'key_id', 'publicKey', 'primary_key'))}: {d.word()}-{d.random.randint(1, 99)}{d.word()}{d.random.randint(1, 99)}",
        "schema": lambda: json.dumps({"properties": {d.name(): {"type": "string", "minLength": d.random.randint(1, 64), "description": d.sentence()}}}),
        "design tokens": lambda: json.dumps({"tokens": {"color": {d.word(): f"#{d.chars('0123456789abcdef', 6, 6)}"}}}), "sort key": lambda: f"sort_key: {d.word()}_{d.random.randint(1, 99)}{d.word()}{d.random.randint(1, 9)}",
        "page token": lambda: f"https://{d.word()}.example/?page_token={d.secret()[:12]}&limit={d.random.randint(1, 99)}".replace("/?", "/list?"),
        "accesskey": lambda: f"<a href=\"/{d.word()}\" accesskey={d.of(('', chr(34)))}{d.of(string.ascii_lowercase)}>".replace('="', '="').replace('>', '>') if d.random.random() < 0.5 else f"accesskey={d.of(string.ascii_lowercase)}{d.random.randint(1, 9)}",
        "credentials": lambda: f"credentials: [{', '.join(d.of(('MD', 'PhD', 'MSc', 'RN', 'BA', 'LLB')) for _ in range(3))}]", "authorization word": lambda: f"authorization: {d.word()}{d.random.randint(1, 9)}",
        "caption": lambda: f"password: {d.word().capitalize()[:11]}", "label": lambda: f"\"password\": \"Enter your {d.word()} {noun()}\",",
        "form": lambda: f"<input type=\"password\" name=\"password\" id=\"{d.word()}{d.random.randint(1, 99)}\" placeholder=\"Password\">", "html label": lambda: f"<label for=\"password\">{d.word().capitalize()} {d.word()}</label>",
        "table words": lambda: f"| {d.name()} | string | {d.of(('yes', 'no', 'required'))} | {d.sentence()} |", "table head": lambda: f"| {noun()} | {d.word()} |\n|---|---|\n| {d.word()} | {d.word()} |\n",
        "package": lambda: json.dumps({"dependencies": {f"@{d.word()}/{d.word()}-{d.of(('secrets', 'token', 'password'))}": f"^{version()}"}}), "version": lambda: f"{d.of(('jsonwebtoken', 'keyring', 'passport'))}: {version()}",
        "path": lambda: f"{d.of(('secret_file', 'password_file', 'privateKeyPath'))}: /run/secrets/{d.word()}{d.random.randint(1, 99)}", "link": lambda: f"[{noun()}](https://{d.word()}.example/{d.word()}-{d.of(('token', 'password'))}/{d.random.randint(1, 99999)})",
        "hash of a file": lambda: f"sha256: {d.chars('0123456789abcdef', 64, 64)}", "commit": lambda: f"commit {d.chars('0123456789abcdef', 40, 40)}", "uuid": lambda: f"id: {d.chars('0123456789abcdef', 8, 8)}-{d.chars('0123456789abcdef', 4, 4)}-4abc-9def-{d.chars('0123456789abcdef', 12, 12)}",
        "image": lambda: f"![{d.sentence()}](/{d.word()}/{d.word()}-{d.random.randint(1, 2000)}x{d.random.randint(1, 2000)}.png)", "certificate": lambda: f"-----BEGIN CERTIFICATE-----\n{d.chars(ALNUM, 64, 64)}\n-----END CERTIFICATE-----",
        "algorithm": lambda: f"{d.of(('token_endpoint_auth', 'password_hash', 'jwt_alg', 'signing'))}: {d.of(('argon2id', 'bcrypt', 'HS256', 'RS256', 'sha256', 'pbkdf2', 'ed25519'))}",
        "authorization prose": lambda: f"Send an Authorization: {d.of(('Bearer', 'Basic'))} header{d.of(('', ', then wait', ' with every request'))}.", "docker user": lambda: f"docker run -u {d.random.randint(1, 2000)}:{d.random.randint(1, 2000)} {d.word()}",
        "sudoers": lambda: f"{d.word()} ALL=(ALL) NOPASSWD: /usr/bin/{d.word()}{d.random.randint(1, 9)}", "reference": lambda: f"{d.snake()}: !secret {d.word()}_{d.word()}{d.random.randint(1, 9)}x", "get": lambda: f"const {camel()} = cookies.get(\"{d.word()}_{d.word()}\")",
        "shortcut": lambda: f"Access key: {d.of(('Alt', 'Ctrl', 'Cmd'))}+Shift+{d.random.randint(1, 9)}", "empty": lambda: f"{d.snake()}={d.of(('', chr(34) * 2))}", "css": lambda: f".token {{ color: #{d.chars('0123456789abcdef', 6, 6)}; padding: {d.random.randint(1, 90)}px }}",
        "pin": lambda: f"pin: {d.random.randint(1, 99)}", "pass": lambda: f"pass: {d.random.randint(1, 9)} of {d.random.randint(10, 99)}", "cookie": lambda: f"cookie: a {d.word()} of {d.random.randint(100, 9999)} bytes",
    }  # fmt: skip


def harmless(seed: int, count: int = 3000) -> Iterator[Position]:
    """Every way in turn, until there are `count`."""
    draw = Draw(seed)
    ways = harmless_syntaxes(draw)
    made = 0
    while made < count:
        for name, write in ways.items():
            yield Position(name, draw.page(write()), "")
        made += len(ways)


def leaks(secret: str, clean: str) -> bool:
    """Whether eight characters of it in a row are still there, or all of a shorter one."""
    size = min(8, len(secret))
    return any(secret[at : at + size] in clean for at in range(len(secret) - size + 1))


def missed(seed: int, count: int = 1500) -> list[Position]:
    return [one for one in positions(seed, count) if leaks(one.secret, redact({"body": one.text})["body"])]


def changed(seed: int, count: int = 3000) -> list[Position]:
    return [one for one in harmless(seed, count) if redact({"body": one.text})["body"] != one.text]


def main(argv: list[str]) -> int:
    seed = int(argv[1]) if len(argv) > 1 and argv[1] else random.SystemRandom().randrange(10**9)
    misses, changes = missed(seed), changed(seed)
    for found, what in ((misses, "missed"), (changes, "changed")):
        for one in found:
            print(f"{what}: {one.syntax}: {one.text[-300:]!r} {one.secret!r}")
    print(f"seed {seed}: {len(misses)} missed of {sum(1 for _ in positions(seed))} secrets, "
          f"{len(changes)} changed of {sum(1 for _ in harmless(seed))} harmless texts")
    return 1 if misses or changes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
