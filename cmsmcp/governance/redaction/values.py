"""What stands in the place of a secret: one that a machine or a person made up, or a placeholder, a label, a piece of code, a setting.

Knows values alone, no names beyond the words of which placeholders are made. docs/rules.md lists how the doubtful ones are decided.
"""

from __future__ import annotations

import re

from cmsmcp.governance.redaction.names import is_secret, words

# What stands in a manual where a secret would stand.
_PLACEHOLDER = re.compile(
    r"[<{\[$%(*](?![\w!@#$%^&*-]*\d[\w!@#$%^&*-]*[a-z][\w!@#$%^&*-]*$).*|.*(?:\.\.\.|…)|.*[{<][a-z_. -]*[}>]|[x*•_.-]+|"
    r".*change[-_ ]?(?:me|this)|"
    r"(?:your|replace|insert|enter|put)[-_ ].*|(?-i:(?:your|replace|insert|enter|put)[A-Z][a-z]).*|"
    r"(?-i:_*[A-Z]+(?:_(?:[A-Z]+|\d{1,2}))+_*)|[\W_]*",
    re.IGNORECASE | re.DOTALL,
)
# Words that a placeholder is made of, beside the names of secrets.
_STAND_INS = frozenset(
    {
        "your", "my", "the", "some", "a", "an", "here", "example", "sample", "dummy", "fake", "placeholder", "value", "string", "text",
        "todo", "foo", "bar", "baz", "redacted", "hidden", "masked", "null", "none", "nil", "undefined", "true", "false", "yes", "no",
        "on", "off", "required", "optional", "empty", "insert", "put", "changeme", "replace", "replaceme", "me", "this", "with", "user",
        "username", "db", "admin", "api", "access", "auth", "client", "bearer", "basic", "secret", "password", "passwd", "pass", "pwd",
        "pw", "token", "key", "credential", "apikey", "str", "bytes", "int", "integer", "number", "boolean", "bool", "any", "object",
        "array", "type", "header", "cookie", "query", "env", "function", "new", "await", "async", "return", "self", "default", "id",
        "session", "csrf", "jwt", "name", "and", "or", "very", "super",
    }
)
_SPELLINGS = frozenset(
    {"api", "key", "token", "secret", "password", "apikey", "clave", "cle", "chave", "session", "placeholder", "example"}
)
"""`hash_key`, `ma-clé-api`: a value in several words of which one is one of these says what belongs there."""
_WORDED = re.compile(r"[^\W\d_]+(?:[-_ .:]{1,2}[^\W\d_]+)*\d?")
# Versions, files, places in code, names of algorithms, times.
_SETTING = re.compile(
    r"https?://.*|\.{0,2}/.*|[~^>=<]{0,2}v?\d+(?:\.[\dx*]+)+[\w.-]{0,12}|[a-z]{1,6}\d?|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[a-z]+(?:-[a-z]+)*-?\d{1,2}(?:\.\d+)?|"
    r"(?i:argon2(?:id|i|d)?|[a-z]{0,6}-?sha-?\d+(?:[-_/]\d+)?|md5|bcrypt\d*|pbkdf2(?:[-_]\w+)?|base-?\d\d(?:url)?|x?ed\d{3,5}|"
    r"(?:aes|rsa|ecdsa|utf|iso|chacha|secp)[-_]?\d+\w{0,4}(?:[-_]\w{1,8}){0,2}|[hrep]s-?\d{3}|p-?\d{3}|oauth-?2(?:\.0)?|e?u?-?[a-z]{1,8}-[a-z]+-\d)|"
    r"\d{4}-\d\d-\d\d(?:T.*)?|\d{1,2}:\d\d(?::\d\d)?|\d+(?:\.\d+)?(?:[kKMGT]?i?[bB]|px|r?em|m?s|min|h|d|%)|\d+(?:st|nd|rd|th)|[\d.,:]+",
    re.DOTALL,
)
_BASE64 = re.compile(r"(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])[A-Za-z0-9+/_-]{16,}={0,2}")
_WORD_AND_NUMBER = re.compile(r"[a-z]{3,30}\d{1,4}|\d{6,30}|[A-Z][a-z]{1,30}\d{1,8}\W?")
_ALGORITHM = re.compile(
    r"(?i)argon2(?:id|i|d)?|[a-z]{0,6}-?sha-?\d+|md[45]|b?scrypt\d*|pbkdf2|base-?\d\d|x?ed\d{3,5}|oauth-?2|(?:aes|rsa|utf)-?\d+|[hrep]s\d{3}"
)
_COMBINATION = re.compile(r"(?i)(?:(?:ctrl|control|alt|option|shift|cmd|command|meta|super|win|fn)\+)+\S{1,10}")
_VARIABLE = re.compile(
    r"<[^<>]*>|\$\{?[A-Z][A-Z0-9_]*(?:\}|(?<!\{))|\$\{\w[\w.-]*\}|\{\{[^{}]*\}\}|%[A-Z_]+%|\.\.\.|…|[xX*•]{3,}|_?(?:YOUR|MY|THE|SOME)(?:_[A-Z]+)+_?|"
    r"your[-_][a-z_-]+|change[-_]?me|REDACTED"
)
_REFERENCE = re.compile(
    r"[a-z][a-z0-9+.-]*://.*|\.{0,2}/[\w./-]+|~/.*|(?:file|env|vault|ref|arn:aws):.*|[~^>=<]{0,2}v?\d+(?:\.[\dx*]+)+[\w.-]{0,12}|"
    r"[a-z_]+(?::[\w,]+)?(?:\|[a-z_]+(?::[\w,]+)?)+|[a-z_]+:\d+(?:,\d+)?"
)
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{6}|[bcdfghjklmnpqrstvwxz]{5}[bcdfghjklmnpqrstvwxyz]*[jqxz]|[jqxz]{2}", re.IGNORECASE)
_PROSE = frozenset(
    {
        "your", "the", "a", "an", "is", "are", "must", "to", "of", "or", "and", "please", "enter", "for", "with", "in", "not", "be",
        "at", "no", "this", "that", "you", "it", "new", "old", "from", "by", "as", "on", "if", "was", "has", "have", "can", "should",
        "will",
    }
)
_LABEL = re.compile(r"[A-Z][a-z]{2,11}")


def is_placeholder(value: str) -> bool:
    """Whether this stands where a secret would stand in a manual."""
    value = value[:120].strip()
    if _PLACEHOLDER.fullmatch(value) is not None:
        return True
    if _WORDED.fullmatch(value) is None:
        return False
    spoken = words(value)
    if len(spoken) > 1 and not _SPELLINGS.isdisjoint(spoken):
        return True
    return is_secret(value) or all(word in _STAND_INS or word[:-1] in _STAND_INS for word in spoken)


def is_variable(value: str) -> bool:
    """Whether this is no value even where nothing else is expected: `${TOKEN}`, `<your key>`, `YOUR_KEY`, `...`."""
    return _VARIABLE.fullmatch(value[:120].strip()) is not None


def is_reference(value: str) -> bool:
    """Whether this only says where the secret is, or which kind of one is wanted: a path, an address, a version, rules of a form."""
    return _REFERENCE.fullmatch(value[:120]) is not None


def is_label(value: str) -> bool:
    """One plain word with a capital, or several words that a sentence or a caption is made of; `correct horse battery staple` is none."""
    spoken = value.split()
    if len(spoken) < 2:
        return _LABEL.fullmatch(value) is not None
    if any(is_made(word.strip(".,;:!?()\"'")) for word in spoken):
        return False
    return value[0].isupper() or not value.isascii() or any(word.lower().strip(".,;:!?") in _PROSE or is_secret(word) for word in spoken)


def is_made(value: str) -> bool:
    """Whether a machine made it, or a person who was told to use digits: no word, number, version, place in code or algorithm."""
    value = value[:120]
    if len(value) < 6 or value[-1] == ":" or _SETTING.fullmatch(value) or _COMBINATION.fullmatch(value):
        return False
    if any(map(str.isdigit, value)):
        return any(map(str.isalpha, value))
    return looks_random(value)


def is_encoded(value: str) -> bool:
    """Sixteen letters and more of base64, large and small: `dXNlcjpwYXNz…`, where nothing but a credential is expected."""
    if _BASE64.fullmatch(value[:400]) is None:
        return False
    pieces = _CAMEL.findall(value[:400])
    return value.endswith("=") or sum(map(len, pieces)) < 3.5 * len(pieces)


def is_worded(value: str) -> bool:
    """A word and a number, or a long number: what people take for a password. No algorithm (`sha256`)."""
    return _WORD_AND_NUMBER.fullmatch(value) is not None and _ALGORITHM.fullmatch(value) is None


def looks_random(value: str) -> bool:
    """Letters that no language and no program puts together: short pieces of camel case, or none but consonants."""
    if len(value) < 8 or not value.isascii():
        return False
    letters = value.rstrip("=")
    if not letters.replace("-", "").replace("_", "").replace("+", "").replace("/", "").isalpha():
        return False
    pieces = _CAMEL.findall(letters)
    if len(letters) >= 10 and letters != letters.lower() and letters != letters.upper() and sum(map(len, pieces)) / len(pieces) < 2.6:
        return True
    return len(letters) >= 10 and len(_CONSONANTS.findall(letters)) * 12 >= len(letters)
