"""The words that names of secrets are made of, in the languages they are met in. Data alone; `names.py` reads names by it.

A word is here in the form `names.words` gives it: lower case, no accents, singular.
"""

from __future__ import annotations

NOUNS = frozenset(
    {
        "password", "passwd", "passphrase", "passcode", "pwd", "pw", "secret", "dsn", "psk", "mnemonic", "requirepass", "masterauth",
        "iban", "cvv", "cvc", "ssn",
        # German, French, Spanish, Portuguese, Dutch, Scandinavian, Czech, Polish, Finnish, Turkish, Russian, Chinese, Japanese, Korean
        "passwort", "kennwort", "motdepasse", "contrasena", "senha", "wachtwoord", "losenord", "passord", "adgangskode", "heslo",
        "haslo", "salasana", "sifre", "пароль", "密码", "密碼", "ハスワート", "비밀번호",
    }
)
"""A secret by themselves, whatever stands before them."""

_MACHINES = frozenset(
    {
        "stripe", "openai", "anthropic", "sendgrid", "mailgun", "mailchimp", "twilio", "postmark", "algolia", "google", "aws", "azure",
        "github", "gitlab", "slack", "heroku", "cloudflare", "firebase", "datadog", "sentry", "netlify", "vercel",
    }
)
QUALIFIED = {
    "token": frozenset(
        {
            "access", "refresh", "session", "auth", "api", "bearer", "admin", "reset", "csrf", "xsrf", "id", "identity", "registry",
            "user", "personal", "service", "deploy", "device", "oauth", "jwt", "bot", "lock", "login", "security", "private", "secret",
            "webhook", "app", "client",
            *_MACHINES,
        }
    ),
    "key": frozenset(
        {
            "api", "private", "secret", "access", "encryption", "encrypt", "decryption", "signing", "signature", "master", "shared",
            "deploy", "ssh", "auth", "storage", "session", "service", "account", "license", "licence", "activation", "recovery", "rsa",
            "aes", "hmac", "jwt", "cookie", "webhook", "subscription", "security", "consumer", "app", "application", "client", "wifi",
            "wlan", "wpa", "wep", "network", "admin", "root", "crypt", "cipher",
            *_MACHINES,
        }
    ),
    "id": frozenset({"session"}),
    "cookie": frozenset({"session", "auth", "login", "set"}),
    "string": frozenset({"connection", "conn"}),
    "str": frozenset({"connection", "conn"}),
    "code": frozenset(
        {"recovery", "mfa", "backup", "verification", "auth", "authorization", "otp", "totp", "security", "device", "unlock"}
    ),
    "phrase": frozenset({"seed", "secret", "recovery", "pass", "mnemonic"}),
    "word": frozenset({"pass", "seed"}),
    "seed": frozenset({"otp", "totp", "hd", "wallet"}),
    "number": frozenset({"card", "cc", "credit"}),
    "auth": frozenset({"basic", "master", "proxy", "http"}),
    "passe": frozenset({"de"}),
}
"""A secret after one of the words beside them."""

NOT_TOKEN_OF = frozenset(
    {
        "page", "continuation", "sync", "design", "color", "cancellation", "next", "max", "min", "stop", "special", "pad", "separated",
        "total", "input", "output", "num", "cancel",
    }
)
"""`token` alone is a secret too, unless it marks a place in a list or a design."""

NOT_SECRET_OF = frozenset({"no", "from", "get", "has", "is", "forgot", "show", "hide", "require", "requires", "needs"})
"""`NOPASSWD: ALL`, `getSecret: …` and `from_secret: NAME` say something else of one."""

NOT_PASS_OF = frozenset(
    {
        "first", "second", "third", "last", "single", "double", "two", "multi", "by", "render", "tests", "checks", "all", "must",
        "boarding", "day", "week", "season", "ski", "festival", "museum", "rail", "bus", "mountain", "high", "low", "band",
    }
)

CLAIMS = {
    "pass": "text", "tokens": "text", "bearer": "text", "jwt": "text", "otp": "code", "pin": "code", "cookie": "pairs",
    "cookies": "pairs", "auth": "made", "credential": "made", "credentials": "made", "cred": "made", "creds": "made", "clave": "made",
    "parola": "made", "authorization": "header",
}
"""Words for a secret and for harmless things too: what stands under them must look the part (`trees.LOOKS`)."""

FORMS = frozenset(
    {
        "hash", "hashes", "hashed", "digest", "value", "values", "plain", "plaintext", "raw", "base", "pem", "salt", "encrypted", "v",
        "old", "new", "current", "previous", "prev", "legacy", "backup", "default", "primary", "secondary", "main", "local", "prod",
        "production", "stage", "staging", "dev", "development", "test", "sandbox", "live",
    }
)
"""A form or an edition of a secret is as good as the secret: the words before these decide. Digits are no words: `base64`, `v2`."""

_PREFIXES = ("db", "user", "client", "app", "admin", "root", "database", "shared", "bind", "basic")
TOGETHER = {
    **{f"{of}{noun}": (of, noun) for noun, qualifiers in QUALIFIED.items() for of in qualifiers},
    **{f"{of}{noun}": (of, noun) for noun in ("secret", "pwd", "pw", "dsn", "pass") for of in _PREFIXES},
    "bearertoken": ("bearer", "token"),
    "passwordhash": ("password", "hash"),
    "passwordhashes": ("password", "hash"),
    "passphrase": ("passphrase",),
    "passcode": ("passcode",),
    "password": ("password",),
}
"""Words written together, in lower case: `apikey`, `clientsecret`, `sessionid`."""

ENDINGS = frozenset({"password", "passwd", "passphrase", "passwort", "kennwort", "secret", "token"})
"""Nouns that end a word whatever is written before them: `PGPASSWORD`; but `NOPASSWD` says that there is none."""

STEMS = (
    "pass", "pw", "secret", "dsn", "psk", "mnemonic", "masterauth", "iban", "cvv", "cvc", "ssn", "token", "key", "sessi", "cookie",
    "conn", "code", "phrase", "seed", "number", "auth", "bearer", "jwt", "otp", "pin", "cred", "sig", "clave", "parola", "kennwort",
    "contrase", "senha", "wachtwoord", "losenord", "lösenord", "adgangskode", "heslo", "haslo", "hasło", "salasana", "sifre", "şifre",
    "парол", "密码", "密碼", "パスワード", "비밀번호",
)
"""One of these stands in every name of a secret, in lower case: what a text is swept for (`assignments.py`)."""
