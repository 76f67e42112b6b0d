"""Whether a text states a personal fact about the user, which belongs in a memory plugin.

Precision comes first: a wrong refusal stops work, a miss does not. So a sentence is refused only
where it begins with the user (or ``my``, ``I``) as its subject, says something that hardly any
project is about (home, birthday, family, health, tastes, age, a real contact), and nothing in it
points to software, rules or examples. "The user wants Apache-licensed only", "users live in …",
"the user's email must be unique" and "the API user has age limits" pass.
"""

import re
from functools import cache
from typing import Final

from throughline_nb.ledger import personal_english, personal_languages

_SENTENCES: Final = re.compile(r"(?<=[.;!?])\s+|[\n。！？]")
_CLAUSES: Final = re.compile(
    r"(?i)[.;!?:](?:\s+|$)|,\s+(?:and|but|so|und|aber|et|mais|y|pero)\s+"
    r"|\b(?:that|since|because|dass|weil|que|porque)\s+"
)
_LEAD: Final = re.compile(
    r"(?i)(?:note|fact|fyi|personal|remember|background|context|also|and|but|by the way|btw"
    r"|hinweis|notiz|nota)\b[:,]?\s+|[-*•\"“«'\s]+"
)
_SHORT: Final = re.compile(r"(?i)^i['’]m\b")
_HINT: Final = re.compile(
    r"(?i)\buser|\bmy\b|\bi\b|nutzer|anwender|\bich\b|\bmeine?\b|utilisat|\bje\b|\bj['’]|\bmon\b"
    r"|\bma\b|usuari|\bvivo\b|\bme llamo\b|\btengo\b|\bsoy\b|\bestoy\b|\bmi\b|ユーザ|私|僕|わたし"
)
"""One of these stands in every text that can be refused; most texts end here."""

_SUPPOSED: Final = re.compile(
    r"(?i)\b(?:if|when(?:ever)?|whether|unless|assum\w+|suppose|imagine|e\.g|examples?(?!\.\w)|sample|fixture"
    r"|persona|test\w*|mock\w*|demo|dummy|placeholder|fictional|fictitious|story|novel|character"
    r"|falls|wenn|ob|beispiel|si|ejemplo|exemple|cuando|quand)\b|もし|場合|なら|例えば|例："
)
_TECHNICAL: Final = re.compile(
    r"(?i)\b(?:fields?|columns?|tables?|rows?|schemas?|strings?|apis?|endpoints?|databases?|db"
    r"|regex|validat\w*|nullable|null|json|yaml|toml|csv|parameters?|params?|flags?|forms?|prompts?"
    r"|dataset|survey|configs?|configuration|settings?|variables?|attributes?|tokens?|cache\w*"
    r"|cookies?|sessions?|records?|accounts?|profiles?|nodes?|namespaces?|keys?|ids?|uuid|slug"
    r"|encrypt\w*|hash\w*|stored|saved|required|optional|mandatory|unique|displayed|rendered"
    r"|parsed|logged|masked|redacted|anonymi[sz]ed|models?|class(?:es)?|functions?|methods?"
    r"|objects?|process(?:es)?|threads?|files?|folders?|director(?:y|ies)|repositor(?:y|ies)|repos?"
    r"|servers?|clients?|licen[cs]e\w*|release\w*|version\w*|code|docs?|documentation|readme|layer"
    r"|module|genres?|categor(?:y|ies)|topics?|labels?|themes?|playlists?|recipes?|games?|slides?"
    r"|presentation|reports?|articles?|chapters?|essays?|feld|spalte|tabelle|datenbank|pflichtfeld|gespeichert|champ|colonne"
    r"|base de données|stocké\w*|campo|columna|tabla|base de datos|obligatori\w+)\b"
    r"|列|テーブル|フィールド|必須|保存|文字列|データベース|入力|表示|項目|一意|任意|以上|[`{}<>=\[\]]"
)
_SYSTEMS: Final = re.compile(
    r"\b(?:Redis|Postgre\w*|MySQL|MongoDB|LDAP|SQLite|Kubernetes|Docker|Dynamo\w*|Keycloak|Okta"
    r"|Active|Azure|AWS|GCP|GitHub|GitLab|Slack|Jira|Linux|Windows|Python|Rust|Emacs|Vim|Jupyter"
    r"|Notebook|LM|VS|Excel|Chrome|Firefox|Git|Terminal|Discord|Notion|Cognito|Firebase|Supabase"
    r"|Auth0|Cassandra|Kafka|Vault|Consul|Salesforce|SAP|Word|Obsidian|Figma|Zed|Neovim|Fedora|Debian|Ubuntu|Android|Teams|Outlook|Confluence|Airtable|Tableau)\b"
)
"""Where a user in the software's sense lives, or comes from."""


def states_personal_fact(text: str) -> bool:
    """Whether ``text`` says something personal about the user.

    Args:
        text: What is to be recorded; English, German, French, Spanish and Japanese are understood.
    """
    if not _HINT.search(text):
        return False
    return any(
        _is_fact(clause)
        for sentence in _SENTENCES.split(text)
        if not (_SUPPOSED.search(sentence) or _TECHNICAL.search(sentence))
        for clause in (sentence, *_CLAUSES.split(sentence))
    )


def _is_fact(clause: str) -> bool:
    while match := _LEAD.match(clause):
        clause = clause[match.end() :]
    clause = _SHORT.sub("I am", clause)
    return any(fact.match(clause) for fact in _facts()) and not _SYSTEMS.search(clause)


@cache
def _facts() -> tuple[re.Pattern[str], ...]:
    """The statements that are refused; compiled when first needed, since that takes a while."""
    patterns = (*personal_english.STATEMENTS, *personal_languages.STATEMENTS)
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)
