"""What a user typed becomes a query of the engine, term by term. The engine's own query language never sees user text.

Any string is a query: words, `"quoted phrases"` and `-excluded` words; every other sign is a literal or nothing. `12.5`,
`docs/setup.md` and `don't` are phrases of their parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import tantivy
from tantivy import Occur, Query

from cmsmcp.site.search.text import fold, folded_analyzer, is_unspaced_sign, plain_name, split_unspaced_query, stemming_analyzer

MAX_QUERY = 1_000
"""Characters that are looked at. The rest of a longer query is ignored."""
MAX_TERMS = 64

TITLE, HEAD, BODY, NAME = "title", "head", "body", "name"
_BOOSTS = {TITLE: 5.0, HEAD: 2.0, BODY: 1.0}
_STEM_BOOST = 0.6
_NAME_SCORE = 1_000.0
"""Above any sum of BM25 scores, so that the page whose title is the query comes first."""
_RARE = 2_000
"""Documents that hold a word."""

_PART = re.compile(r'(-?)"([^"]*)"|(\S+)')
_QUOTES = str.maketrans("“”„«»", '"""""')
_ANALYZER = folded_analyzer()


@dataclass(frozen=True, slots=True)
class Clause:
    """Folded terms in a row, and the word as typed (its stems are taken from it)."""

    terms: tuple[str, ...]
    typed: str


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """A query understood. `name` is the whole of it, to compare with titles."""

    wanted: tuple[Clause, ...]
    unwanted: tuple[Clause, ...]
    name: str

    @property
    def strictest(self) -> int:
        """How many of the wanted clauses a hit must hold at first: both of two, two thirds of more."""
        count = len(self.wanted)
        return count if count <= 2 else -(-2 * count // 3)


def plan_query(text: str) -> SearchPlan:
    """Never raises. A blank query, or one of exclusions alone, wants nothing."""
    text = text[:MAX_QUERY].translate(_QUOTES).encode("utf-8", "replace").decode()
    wanted: dict[tuple[str, ...], Clause] = {}
    unwanted: dict[tuple[str, ...], Clause] = {}
    left = MAX_TERMS
    for minus, part, quoted in _parts(text):
        for clause in _clauses(part, quoted or minus):
            left -= len(clause.terms)
            if left < 0:
                break
            (unwanted if minus else wanted).setdefault(clause.terms, clause)
    return SearchPlan(tuple(wanted.values()), tuple(unwanted.values()), plain_name(text))


def _parts(text: str) -> Iterator[tuple[bool, str, bool]]:
    for dash, phrase, word in _PART.findall(text):
        if not word:
            yield bool(dash), phrase, True
        elif word[0] == "-" and word[1:2].isalnum():
            yield True, word[1:], False
        else:
            yield False, word, False


def _clauses(part: str, whole: bool) -> list[Clause]:
    terms = _ANALYZER.analyze(split_unspaced_query(fold(part)))[:MAX_TERMS]
    # A sentence in a script without blanks is many words: its pairs count one by one.
    if len(terms) > 3 and not whole and not part.isascii() and " " not in part and all(len(term) <= 2 for term in terms):
        return [Clause((term,), term) for term in terms]
    return [Clause(tuple(terms), part)] if terms else []


class QueryBuilder:
    """Builds the engine's queries against one schema. Safe to share: it keeps nothing about a query."""

    def __init__(self, schema: tantivy.Schema, stem_field: Callable[[str], str]) -> None:
        self._schema = schema
        self._stem_field = stem_field
        self._stemmers: dict[str, tantivy.TextAnalyzer] = {}

    def ranked(self, plan: SearchPlan, languages: Sequence[str], least: int, searcher: tantivy.Searcher | None) -> Query:
        """Documents with at least `least` of the wanted clauses and none of the unwanted, scored; without a searcher, scored by nothing but
        which of their fields have them.

        All words in a row score more. In bodies that is looked for only where one of the words is rare: the positions of
        common words are most of the index.
        """
        flat = searcher is None
        clauses = [(Occur.Should, self._clause(clause, languages, flat)) for clause in plan.wanted]
        parts = [(Occur.Must, Query.boolean_query(clauses, minimum_number_should_match=least))]
        if plan.name:
            named = Query.term_query(self._schema, NAME, plan.name)
            parts.append((Occur.Should, Query.const_score_query(named, _NAME_SCORE)))
        run = [term for clause in plan.wanted for term in clause.terms]
        if len(plan.wanted) >= 2 and len(run) <= 8:
            parts.append((Occur.Should, self._phrase(TITLE, run, flat)))
            if searcher is None or min(searcher.doc_freq(BODY, term) for term in run) <= _RARE:
                parts.append((Occur.Should, self._phrase(BODY, run, flat)))
        parts += [(Occur.MustNot, self._clause(clause, languages, flat)) for clause in plan.unwanted]
        return Query.boolean_query(parts)

    def equals(self, values: Mapping[str, str | None]) -> list[tuple[Occur, Query]]:
        """Conditions that score nothing; a field whose value is None is not asked about."""
        terms = [Query.term_query(self._schema, name, value) for name, value in values.items() if value is not None]
        return [(Occur.Must, Query.const_score_query(term, 0.0)) for term in terms]

    def stems(self, clause: Clause, languages: Sequence[str]) -> dict[str, str]:
        """Language → stem, for a clause of one word."""
        if len(clause.terms) != 1:
            return {}
        found = {}
        for language in languages:
            stemmed = self._stemmer(language).analyze(clause.typed)
            if len(stemmed) == 1:
                found[language] = stemmed[0]
        return found

    def _clause(self, clause: Clause, languages: Sequence[str], flat: bool) -> Query:
        if len(clause.terms) > 1:
            options = [self._phrase(name, clause.terms, flat) for name in _BOOSTS]
        else:
            options = [self._term(name, clause.terms[0], flat) for name in _BOOSTS]
            for language, stem in self.stems(clause, languages).items():
                options.append(self._term(self._stem_field(language), stem, flat))
        return Query.boolean_query([(Occur.Should, option) for option in options])

    def _term(self, field: str, term: str, flat: bool) -> Query:
        if is_unspaced_sign(term):
            query = Query.regex_query(self._schema, field, f"{term}.?")
        else:
            query = Query.term_query(self._schema, field, term, index_option="position" if field in _BOOSTS else "freq")
        return _weighed(query, field, flat)

    def _phrase(self, field: str, terms: Sequence[str], flat: bool) -> Query:
        return _weighed(Query.phrase_query(self._schema, field, list(terms)), field, flat)

    def _stemmer(self, language: str) -> tantivy.TextAnalyzer:
        if language not in self._stemmers:
            self._stemmers[language] = stemming_analyzer(language)
        return self._stemmers[language]


def _weighed(query: Query, field: str, flat: bool) -> Query:
    boost = _BOOSTS.get(field, _STEM_BOOST)
    if flat:
        return Query.const_score_query(query, boost)
    return query if boost == 1.0 else Query.boost_query(query, boost)
