"""The language of a page: every text of a template is a message, and catalogues translate it.

English is the source. The text between two statements or tags of a template is one message. An expression in
it, ``{{ p.records | plural("record") }}``, becomes a placeholder, ``{records}``, named after the expression.
A new sentence in a template is a message at once, and is shown in English until a catalogue translates it.
``languages/de.po`` and the others are gettext files, read directly without compilation.
"""

from __future__ import annotations

import ast
import datetime as dt
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, nodes
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from markupsafe import Markup, escape

from voronym.core.sentence import Sentence
from voronym.errors import InputError

SOURCE = "en"
NAMES = {SOURCE: "English", "de": "Deutsch", "fr": "français", "es": "español"}
SIGNS = {SOURCE: (",", "."), "de": (".", ","), "fr": ("\u202f", ","), "es": (".", ",")}
"""The characters between thousands and before decimals, by language."""
OURS = re.compile(r"(words|sections)/.*\.html|(macros|page|release|warnings|limits)\.html")
"""Templates whose texts are messages."""
DAYS = {SOURCE: "%Y-%m-%d", "de": "%d.%m.%Y", "fr": "%d/%m/%Y", "es": "%d/%m/%Y"}
_language: ContextVar[str] = ContextVar("language", default=SOURCE)
_columns: ContextVar[frozenset[str]] = ContextVar("columns", default=frozenset())
_WORD = re.compile(r"[A-Za-z]{2}")
_PLACE = re.compile(r"\{(\w+)\}")
_NUMBER = re.compile(r"(?:[<>] )?-?[0-9][0-9.,]*(?: %)?")


@contextmanager
def reader(language: str, columns: Collection[str] = ()) -> Iterator[None]:
    """Write a page in a language; names of columns are never translated."""
    if language not in NAMES:
        raise InputError(f"language must be one of {', '.join(NAMES)}, not {language!r}")
    before = _language.set(language), _columns.set(frozenset(columns))
    try:
        yield
    finally:
        _language.reset(before[0])
        _columns.reset(before[1])


def spoken() -> str:
    """Return the language of the page that is being written."""
    return _language.get()


def term(text: Any) -> Any:
    """Return a word or sentence in the reader's language; the name of a column stays as it is."""
    if not isinstance(text, str) or spoken() == SOURCE or text in _columns.get():
        return text
    if isinstance(text, Sentence):
        return phrase(text.message, **text.given)
    return type(text)(catalogue(spoken()).get(str(text), text))


def phrase(message: str, **given: str) -> str:
    """Return a message of plain text in the reader's language, its placeholders filled.

    Examples
    --------
    >>> with reader("de"):
    ...     phrase("{low} to {high}", low="1,500", high="25 %")
    '1.500 bis 25\u202f%'
    """
    made = {name: _filled(value) for name, value in given.items()}
    return _PLACE.sub(lambda place: made[place[1]], str(term(message)))


def today() -> str:
    """Return the date of today in the reader's form."""
    return f"{dt.date.today():{DAYS[spoken()]}}"


def _filled(value: str) -> str:
    """Return a value for a placeholder: sentences and numbers in the reader's language."""
    if isinstance(value, Sentence):
        return str(term(value))
    if spoken() == SOURCE or not _NUMBER.fullmatch(value):
        return value
    return numeral(value.replace(" %", "\u202f%"))


def numeral(text: str) -> str:
    """Return a number, written as 1,234.5, in the reader's form.

    Examples
    --------
    >>> with reader("de"):
    ...     numeral("1,234.5 %")
    '1.234,5 %'
    """
    thousands, decimal = SIGNS[spoken()]
    return text if spoken() == SOURCE else text.translate({ord(","): thousands, ord("."): decimal})


@cache
def catalogue(language: str) -> dict[str, str]:
    """Return the messages of a language, read from its file; messages without a translation are left out.

    Examples
    --------
    >>> catalogue("de")["records"]
    'Datensätze'
    """
    text = files("voronym.report").joinpath("languages", f"{language}.po").read_text(encoding="utf-8")
    out: dict[str, str] = {}
    for entry in re.split(r"\n\s*\n", text):
        parts: dict[str, str] = {}
        word = ""
        for line in entry.splitlines():
            if match := re.match(r'(msgid|msgstr)\s+(".*")\s*$', line):
                word = match[1]
                parts[word] = ast.literal_eval(match[2])
            elif line.startswith('"') and word:
                parts[word] += ast.literal_eval(line)
        if parts.get("msgid") and parts.get("msgstr") and "#, fuzzy" not in entry:
            out[parts["msgid"]] = parts["msgstr"]
    return out


class Messages(Extension):
    """Makes every text of our templates a message."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        environment.globals |= {"say": self.say, "term": term, "spoken": spoken}
        environment.filters["term"] = term

    def say(self, message: str, **given: object) -> Markup:
        """Return a message in the reader's language, with its placeholders filled."""
        text = message if spoken() == SOURCE else catalogue(spoken()).get(message, message)
        finalize = self.environment.finalize or (lambda value: value)
        made = {name: escape(finalize(term(value))) for name, value in given.items()}
        return Markup(_PLACE.sub(lambda place: str(made[place[1]]), text))  # noqa: S704

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """Yield the tokens of a template with its texts as calls of `say`."""
        if stream.name is None or not OURS.fullmatch(stream.name):
            yield from stream
            return
        run: list[Token | list[Token]] = []
        inside = [False]  # a tag, which may go on behind a statement
        for token in stream:
            if token.type == "data":
                run.append(token)
            elif token.type == "variable_begin":
                run.append([token, *_upto(stream, "variable_end")])
            else:
                yield from _message_run(run, inside)
                run = []
                yield token
                if token.type == "block_begin":
                    yield from _upto(stream, "block_end")
        yield from _message_run(run, inside)


def messages(environment: Environment, template: str) -> set[str]:
    """Return the messages and words of a template."""
    if environment.loader is None:
        return set()
    source = environment.loader.get_source(environment, template)[0]
    calls = environment.parse(source, template).find_all(nodes.Call)
    return {
        call.args[0].value
        for call in calls
        if isinstance(call.node, nodes.Name)
        and call.node.name in ("say", "term")
        and call.args
        and isinstance(call.args[0], nodes.Const)
    }


def placeholders(text: str) -> list[str]:
    """Return the placeholders of a message, sorted."""
    return sorted(_PLACE.findall(text))


def _upto(stream: Iterator[Token], end: str) -> Iterator[Token]:
    for token in stream:
        yield token
        if token.type == end:
            return


def _message_run(run: list[Token | list[Token]], open_tag: list[bool]) -> Iterator[Token]:
    """Yield a run of texts and expressions: tags unchanged, the text between them as messages."""
    message: list[Token | list[Token]] = []
    for part in run:
        if isinstance(part, list):
            if open_tag[0]:
                yield from part
            else:
                message.append(part)
            continue
        for text in re.split(r"(<[^<>]*>?|>|\n\s*\n)", part.value):
            inside = text.startswith("<") or text == ">" or open_tag[0]
            if not inside and not re.fullmatch(r"\n\s*\n", text):
                message += [Token(part.lineno, "data", text)] if text else []
                continue
            yield from _message(message)
            message = []
            yield Token(part.lineno, "data", text)
            open_tag[0] = ("<" in text or open_tag[0]) and not text.endswith(">")
    yield from _message(message)


def _message(parts: list[Token | list[Token]]) -> Iterator[Token]:
    """Yield the tokens of one message; a text without letters stays unchanged."""
    texts = [part.value for part in parts if isinstance(part, Token)]
    if not any(map(_WORD.search, texts)):
        for part in parts:
            yield from [part] if isinstance(part, Token) else _words(part)
        return
    text = ""
    given: dict[str, list[Token]] = {}
    for part in parts:
        if isinstance(part, Token):
            text += part.value
        else:
            name = _named(part, given)
            given[name] = list(_words(part))[1:-1]
            text += f"{{{name}}}"
    start, end = re.match(r"\s*", text)[0], re.search(r"\s*$", text)[0]  # type: ignore[index]
    line = parts[0].lineno if isinstance(parts[0], Token) else parts[0][0].lineno

    def sign(kind: str, value: str) -> Token:
        return Token(line, kind, value)

    if start:
        yield sign("data", start)
    yield from [sign("variable_begin", "{{"), sign("name", "say"), sign("lparen", "(")]
    yield sign("string", " ".join(text.split()))
    for name, expression in given.items():
        yield from [sign("comma", ","), sign("name", name), sign("assign", "="), sign("lparen", "(")]
        yield from expression
        yield sign("rparen", ")")
    yield from [sign("rparen", ")"), sign("variable_end", "}}")]
    if end:
        yield sign("data", end)


def _named(expression: list[Token], taken: Collection[str]) -> str:
    """Return a name for a placeholder: the last name of its expression, before filters."""
    names = []
    for token in expression[1:-1]:
        if token.type == "pipe":
            break
        if token.type == "name" and token.value not in ("if", "else", "not", "is", "and", "or"):
            names.append(token.value)
    name = names[-1] if names else "text"
    number = 2
    while name in taken:
        name, number = f"{name.rstrip('0123456789')}{number}", number + 1
    return name


def _words(expression: list[Token]) -> Iterator[Token]:
    """Yield an expression in which texts chosen by a condition are translated."""
    for at, token in enumerate(expression):
        chosen = token.type == "string" and (
            expression[at + 1].test("name:if") or expression[at - 1].test("name:else")
        )
        if chosen and _WORD.search(token.value):
            line = token.lineno
            yield from [Token(line, "name", "term"), Token(line, "lparen", "("), token]
            yield Token(line, "rparen", ")")
        else:
            yield token
