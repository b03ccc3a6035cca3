"""How names and values are written down in texts: what joins one to the other, quotes, lists, cells, elements. Knows signs, no words.

Every expression is linear: what repeats is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cmsmcp.governance.redaction.hinges import hinged
from cmsmcp.governance.redaction.places import Span
from cmsmcp.governance.redaction.vocabulary import STEMS

MAX_VALUE = 4096
MAX_HEAD = 400
HEAD = re.compile(r"[\w \t.|,;\"'`*()/-]*")
_QUOTE = r"(?:\\{0,7}[\"'`]|&(?:quot|apos|\#0?3[49]|\#x2[27]);|%2[27])"
_CLOSE = rf"(?P<close>(?:{_QUOTE}|\*{{1,3}}|__|\\?[\])}}]|</(?:b|i|em|strong|code|kbd|span|label|a)>|[?!]){{0,4}}+)"
_TYPE = r"(?:str|string|bytes|char|text|secret|any|optional|option|cow|box|object|final)"
_TYPED = rf"(?::[ ]?(?=[^=\n]{{0,30}}{_TYPE})[a-z&?\[][\w&<>\[\].,?'*:|]{{0,40}}?[ ]?(?==[^=>])|\[\d{{0,4}}\][ ]?(?==))?"
_ASSIGN = r":=|=>|=&gt;|->|<-|={1,3}|\?=|\|\|=?|:[-=?]|\?\?=?|\?:|:{1,2}|%3[ad]|→|[.](?=[ ][\"'])|\{(?=[ ]?[\"'])"
# What may stand between a name and its value; `gap` only before what has a digit or a quote, which a sentence seldom has.
_JOINT = rf"""{_CLOSE}(?:
    (?P<pair>\s{{0,4}}(?:[,;]|</\w{{1,20}}>|(?<=["'])[ ]|[ ](?=value=)|\r?\n)\s{{0,40}}[^\n{{}}<>]{{0,80}}?
      (?<![\w-])(?:{_QUOTE}?val(?:ue)?s?|content){_QUOTE}?\s{{0,4}}[:=]>?)
  | [ \t]{{0,16}}+{_TYPED}(?P<assign>{_ASSIGN})
  | (?P<call>\(\s{{0,4}}(?={_QUOTE}))
  | (?P<cells>\s{{0,8}}(?:</[a-z][\w-]{{0,20}}>\s{{0,40}}){{1,3}}(?:<[a-z][^<>]{{0,80}}>\s{{0,40}}){{1,3}})
  | (?P<comma>[ \t]{{0,4}},)
  | [ \t]{{0,60}}+(?P<cell>\|)
  | (?P<tag>(?:\s{{1,8}}[\w:.-]{{1,40}}\s?=\s?["'][^"'<>]{{0,200}}["']){{0,8}}+\s?>)
  | (?P<is>[ ](?:is|was|are)(?:[ ]now|[ ]set[ ]to)?:?(?=[ ]))
  | (?P<gap>[ \t]{{1,16}}+(?={_QUOTE}|[^\s"'`]{{0,80}}[0-9]))
  | (?P<eol>[ \t]{{0,4}}\r?\n)
  | (?P<closed>(?<=["'}}/]))
)"""
SWEEP = re.compile(rf"(?:{hinged(dict.fromkeys(STEMS, ''))})[\w-]{{0,32}}+(?P<end>){_JOINT}", re.VERBOSE)
LOOK_BACK = 48
EMAN = re.compile(r"[\w.-]*")
START = re.compile(
    r"[ \t]*(?:\\?\r?\n[ \t]*|(?P<block>[|>][+-]?\d?[ \t]*\r?\n[ \t]*))?(?:-[ \t]+(?=\S))?"
    r"(?:(?:\*{1,3}|__|</\w{1,9}>|&\w{1,40}[ \t]|!!\w{1,20}[ \t])[ \t]*)?"
)
OPENER = re.compile(
    r"(?:(?:new )?[A-Z]\w{0,40}(?:(?:::|\.)(?:from|of|new))?\(\s{0,4}|"
    rf"(?P<call>[A-Za-z_][\w.:&<>?\[\]]{{0,60}}\(\s{{0,4}})|[bBrRfFuU@$]{{1,2}})(?={_QUOTE})"
)
LIST = re.compile(r"[\[(]\s{0,40}")
QUOTED = re.compile(rf"(?:\"\"\"|'''|{_QUOTE})", re.IGNORECASE)
_ESCAPED_BODY = {
    '"': re.compile(r"(?:[^\"\\\n]|\\.){1,4096}"),
    "'": re.compile(r"(?:[^'\\\n]|\\.){1,4096}"),
    "`": re.compile(r"[^`\n]{1,4096}"),
}
REST = re.compile(r"[^\s\"'`<>(){}\[\];|&\\,]*+")
BARE = re.compile(r"[^\s\"'`<>(){}\[\];|&\\,$](?:[^\s\"'`<>(){}\[\];|&\\,]|,(?=[^\s\"'])){2,255}+(?![(\[{<\\])")
LITERAL = re.compile(r"[^\s\"'`<>(){}\[\];|&\\,$][^\s\"'`<>]{0,4095}")
LITERAL_PART = re.compile(r"[^\s\"'`<>(){}\[\];|&\\,$][^\s\"'`<>(){};|&\\]{0,4095}")
CELL = re.compile(r"[ \t]{0,60}(?P<quote>[`*]{0,3})(?P<value>[^\s|`][^\n|`]{0,400}?)[`*]{0,3}[ \t]{0,60}(?=\||\n|\Z)")
ELEMENT = re.compile(r"(?:<!\[CDATA\[)?(?P<value>[^<>\[\]]{1,4096})(?:\]\]>)?</", re.DOTALL)
SETTER = re.compile(r"(?i)(?:define|set|put|env|header|append|add|property|with|insert|store|store?value|config)\w{0,12}\s?\(\s?$")
LIBPQ = re.compile(r"(?i)(?:^|[\s;\"'])(?:host|hostaddr|server|user|user id|uid|dbname|database|data source|port)\s?=\s?[^\s;]+")
ELEMENT_START = re.compile(r"<(?:[\w.-]{1,40}:)?$|<[\w:.-]{1,60}(?:\s[^<>]{0,60})?\s(?:name|key)\s?=\s?[\"']$")
VALUE_BEFORE = re.compile(
    r"\b(?:value|val|content)(?:\\?[\"'])?\s{0,4}[:=]\s{0,4}(?P<quote>\\{0,3}[\"'])(?P<secret>[^\"'\n\\]{1,300})(?P=quote)[\s,;]{1,20}"
    r"(?:\\?[\"'])?(?:name|key|header)(?:\\?[\"'])?\s{0,4}[:=]\s{0,4}\\?[\"']\Z"
)
SETS = re.compile(r"(?i)\.|(?:set|with|use|add|put|update|change)")
SIGNATURES = ("sig", "signature")
PROVES = re.compile(r"(?m)(?:^|[;{]|&&|\b(?:export|set|env|declare|local|readonly|-e|--env|--build-arg|--set|-D))[ \t]*(?:-x )?$")
_CUT = re.compile(r"[^\s\"'`<>&\\]{1,4096}")
ITEM = re.compile(rf"(?P<quote>{_QUOTE})|(?P<bare>[^\s\"'`<>(){{}}\[\];|&\\,]{{1,400}})")
SEPARATOR = re.compile(r"[\"'`]?\s{0,8}(?:,|\n)\s{0,40}(?:#[^\n]{0,80}\n\s{0,40})?")


def column(text: str, at: int) -> Iterator[Span]:
    """The cells below the one that ends at `at`, where its line is the head of a table in Markdown, CSV or between tabs."""
    start, stop = text.rfind("\n", max(0, at - MAX_HEAD), at) + 1, text.find("\n", at, at + MAX_HEAD)
    head = text[start:stop] if stop >= 0 else ""
    sign = next((sign for sign in "|,;\t" if sign in head), "")
    if not sign or HEAD.fullmatch(head) is None:
        return
    index, signs = text.count(sign, start, at), head.count(sign)
    while stop >= 0:
        start, stop = stop + 1, text.find("\n", stop + 1)
        row = text[start : stop if stop >= 0 else len(text)]
        if row.count(sign) != signs:
            return
        cells = row.split(sign)
        before = start + sum(map(len, cells[:index])) + index
        cell = cells[index].strip(" \t\r`*\"'")
        inside = before + cells[index].find(cell)
        yield inside, inside + len(cell)


def quoted(text: str, quote: re.Match[str]) -> Span:
    """What stands between a quote and the next of its kind; to the next blank where that is missing."""
    body = _ESCAPED_BODY.get(quote[0])
    start = quote.end()
    if body is not None:
        found = body.match(text, start)
        end = found.end() if found is not None else start
        if text[end : end + 1] == quote[0] or end == start:
            return start, end
    else:
        end = text.find(quote[0], start, start + MAX_VALUE)
        if end >= 0:
            return start, end
    cut = _CUT.match(text, start)
    return start, cut.end() if cut is not None else start
