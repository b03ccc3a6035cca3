"""Redaction measured on texts made from a seed (docs/rules.md, Redaction): here always the same one, so that a run can be repeated;
`make redaction` draws a new one."""

# ruff: noqa: E501

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsmcp.governance.redaction import MARK, redact
from cmsmcp.governance.redaction.names import claim, is_secret
from cmsmcp.governance.redaction.shapes import PREFIXES
from cmsmcp.governance.redaction.vocabulary import CLAIMS, NOUNS, QUALIFIED, STEMS


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


corpus = _load("redaction_corpus")


SEED = 20261201


def test_no_secret_is_missed_wherever_and_however_it_is_written() -> None:
    """1,500 positions: a name, a syntax, a secret, a page, each drawn anew."""
    assert len({one.text for one in corpus.positions(SEED)}) >= 1500
    assert [(one.syntax, one.text[-200:], one.secret) for one in corpus.missed(SEED)] == []


def test_no_harmless_text_is_changed() -> None:
    """3,000 texts about secrets, placeholders, code, counts, captions."""
    assert sum(1 for _ in corpus.harmless(SEED)) >= 3000
    assert [(one.syntax, one.text[-200:]) for one in corpus.changed(SEED)] == []


def test_the_corpus_can_fail() -> None:
    """What is left of a secret is found, and two seeds share no secret."""
    assert corpus.leaks("a1b2c3d4e5f6", "x=b2c3d4e5 y") and not corpus.leaks("a1b2c3d4e5f6", f"x={MARK} y")
    one, other = ({one.secret for one in corpus.positions(seed, 100)} for seed in (1, 2))
    assert not one & other


@pytest.mark.parametrize("name", [
    *sorted(NOUNS - {"ハスワート"}), *(f"{of}_{noun}" for noun, qualifiers in QUALIFIED.items() for of in sorted(qualifiers)), *sorted(CLAIMS),
])  # fmt: skip
def test_every_name_of_a_secret_has_a_stem_that_texts_are_swept_for(name: str) -> None:
    assert is_secret(name) or claim(name), name
    assert any(stem in name for stem in STEMS)


pieces = st.sampled_from([
    "password", "apiKey", "token", "DB_PASSWORD", "secret_key", "=", ":", ": ", " = ", "=>", ":=", "|", ",", "\n", "  ", "`", "'", '"', '\\"', "<", ">",
    "</", "(", ")", "[", "]", "{", "}", "hunter2Zq", "a1b2c3d4e5", "Tips", "your-key", "${X}", MARK, "--", "?", "&", "://u:p9@h", "Bearer ",
    "Authorization", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "MIIEabcdefghijklmnopqrstuv", "ghp_" + "a1" * 18, "user,", "| a | b |", "is ",
    "login bob password ", "İ", "ｐａｓｓｗｏｒｄ", "пароль", "name", "value", "curl -u a:", "&quot;", "%22", "$2b$12$", ".", "…", "\x00", "é",
])  # fmt: skip


@settings(max_examples=400)
@given(st.lists(pieces | st.text(max_size=6), max_size=24).map("".join))
def test_redacting_a_text_twice_changes_nothing_and_adds_no_more_than_marks(text: str) -> None:
    once = redact(text)
    assert redact(once) == once
    assert len(once) <= len(text) + once.count(MARK) * len(MARK)


@pytest.mark.parametrize("piece", [
    *STEMS, *(f"{stem}=" for stem in STEMS), *(f"{stem}: a1b2c3 " for stem in STEMS), *PREFIXES,
    "password is ", "<password ", "token = [", "password:\n", "user,password\n", "| user | password |\n|--|--|\n", '"name":"password",', "://a:", "-u a:",
    "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----\n", "MIIEabcdefghijklmnopqrstuvwxyz0123\n", "password:\"", "token=\\\\\"", "cookie: a", '{"a":',
    '["a1",', "[", '"', "\\", "a", "-", "mysql -p", "password" + " " * 60, "ENV A ", "bearer a", "key ",
])  # fmt: skip
def test_a_megabyte_of_anything_takes_no_time(piece: str) -> None:
    """Half a second on an idle machine (`python -m bench.redaction`); the bound here is for a busy one, and a quadratic takes minutes."""
    text = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]
    began = time.process_time()
    redact({"body": text})
    assert time.process_time() - began < 5
