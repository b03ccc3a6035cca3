"""Makes a site of any size, the same one for the same arguments: `python -m bench.corpus DIR --documents 20000 --words 300 --seed 1`.

Three languages (English at the top, `de/`, `es/`), pages and posts in folders of 500. Words follow Zipf's law over a made
vocabulary for each language; every document has six front matter keys, two headings and five links to other documents.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = ("en", "de", "es")
_VOCABULARY = 12_000
_PER_FOLDER = 500
_COMMON = {
    "en": "the of and to in is for on that with this from as are it page site content server reader",
    "de": "der die und in den von zu das mit sich für auf ist im nicht über größe schön können Straße",
    "es": "de la que el en y los se del las un por con no una su para información página también",
}
_SYLLABLES = {
    "en": "ba con der ex fi gra hel in jo ke lum mer nor op pre qui ras sten tor un ver wil yon ing ed ly",
    "de": "auf be ge ver schla gen hei ter lich keit ung zö mü ßen stra rück wär gel tig heim bruch",
    "es": "ca der es fra gua ha ja lla mien to ño or pa que rá sión tar ú vi ción mos do da",
}
_SITE = """name: bench
title: Bench
base_url: https://bench.example
default_lang: en
locales: [en, de, es]
mcp:
  enabled: true
"""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words, commonest first, with running sums of their weights."""

    words: Sequence[str]
    weights: Sequence[float]

    def draw(self, dice: random.Random, count: int) -> list[str]:
        return dice.choices(self.words, cum_weights=self.weights, k=count)


def vocabulary(lang: str, dice: random.Random) -> Vocabulary:
    words: dict[str, None] = dict.fromkeys(_COMMON[lang].split())
    syllables = _SYLLABLES[lang].split()
    while len(words) < _VOCABULARY:
        words["".join(dice.choices(syllables, k=dice.randint(2, 4)))] = None
    return Vocabulary(list(words), list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1))))


def make_corpus(folder: Path, documents: int, words: int, seed: int) -> None:
    """Write the site into `folder`, which may exist."""
    config = folder / "content" / "config" / "site.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(_SITE, encoding="utf-8")
    for path, text in corpus(documents, words, seed):
        target = folder / "content" / path
        if not target.parent.exists():
            target.parent.mkdir(parents=True)
        target.write_text(text, encoding="utf-8")


def corpus(documents: int, words: int, seed: int) -> Iterator[tuple[str, str]]:
    """(path below content/, text) of each document. Document n is `page-n`, or `post-n` for every third."""
    dice = random.Random(seed)
    vocabularies = {lang: vocabulary(lang, dice) for lang in LANGUAGES}
    for number in range(documents):
        lang = language_of(number)
        section = "posts" if number % 3 == 2 else "pages"
        prefix = "" if lang == "en" else f"{lang}/"
        name = f"{section[:-1]}-{number}"
        yield f"{section}/{prefix}part-{number // _PER_FOLDER:03}/{name}.md", _document(number, documents, words, dice, vocabularies[lang])


def language_of(number: int) -> str:
    """Half of the documents are English, a quarter each German and Spanish."""
    return ("en", "en", "de", "es")[number % 4]


def url_of(number: int) -> str:
    lang = language_of(number)
    kind = "posts/post" if number % 3 == 2 else "page"
    return f"{'' if lang == 'en' else f'/{lang}'}/{kind}-{number}/"


def _document(number: int, documents: int, words: int, dice: random.Random, vocabulary: Vocabulary) -> str:
    slug = f"{'post' if number % 3 == 2 else 'page'}-{number}"
    drawn = vocabulary.draw(dice, words)
    links = [f"[{' '.join(vocabulary.draw(dice, 2))}]({url_of(dice.randrange(documents))})" for _ in range(5)]
    fifth = max(1, words // 5)
    parts = [" ".join([*drawn[at : at + fifth], link]) + "." for at, link in zip(range(0, words, fifth), links, strict=False)]
    parts[1:1] = [f"## {' '.join(vocabulary.draw(dice, 3)).capitalize()}"]
    parts[4:4] = [f"## {' '.join(vocabulary.draw(dice, 3)).capitalize()}"]
    tags = ", ".join(dict.fromkeys(vocabulary.draw(dice, 2)))
    day = f"{2020 + number % 6}-{1 + number % 12:02}-{1 + number % 28:02}"
    front = [
        f"title: {' '.join(vocabulary.draw(dice, 4)).capitalize()} {number}", f"slug: {slug}", f"date: {day}", f"tags: [{tags}]",
        f"summary: {' '.join(vocabulary.draw(dice, 12)).capitalize()}.", f"author: Author {number % 40}",
    ]  # fmt: skip
    return "---\n" + "\n".join(front) + "\n---\n" + "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.corpus", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    make_corpus(chosen.folder, chosen.documents, chosen.words, chosen.seed)
    print(f"{chosen.documents} documents in {chosen.folder}")


if __name__ == "__main__":
    main()
