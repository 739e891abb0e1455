"""Which line of a TOML file said what: the standard parser forgets lines, this finds them again."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator

import tree_sitter_toml
from tree_sitter import Language, Node, Parser

KeyPath = tuple[str | int, ...]
"""Keys from the top of a file down; entries of lists by number from 0."""

_KEYS = ("bare_key", "quoted_key", "dotted_key")


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line of every key, table and list entry of a valid TOML text, counted from 1.

    Examples
    --------
    >>> lines = key_lines('title = "x"\\n[[market.quote]]\\nsource = "a"\\n[[market.quote]]\\nsource = "b"')
    >>> lines["title",], lines["market", "quote", 1, "source"]
    (1, 5)
    """
    lines: dict[KeyPath, int] = {}
    for node, key in _entries(text):
        if node.type == "table_array_element":
            lines.setdefault(key[:-1], _line(node))
        _note(key, _line(node), lines)
        if node.type == "pair":
            _value(node.children[-1], key, lines)
    return lines


def written_keys(text: str) -> dict[int, KeyPath]:
    """The key of every line that begins with one, of a value or of a table, counted from 1.

    Examples
    --------
    >>> written_keys('title = "x"\\n[[market.quote]]\\na.b = { c = 1 }')
    {1: ('title',), 2: ('market', 'quote', 0), 3: ('market', 'quote', 0, 'a', 'b')}
    """
    return {_line(node): key for node, key in _entries(text)}


def _entries(text: str) -> Iterator[tuple[Node, KeyPath]]:
    """Every pair and every header, with its key from the top of the file down."""
    counts: Counter[KeyPath] = Counter()
    for node in Parser(Language(tree_sitter_toml.language())).parse(text.encode()).root_node.children:
        if node.type == "pair":
            yield node, _keys(node)
        elif node.type in ("table", "table_array_element"):
            keys = _entered(_keys(node), counts)
            if node.type == "table_array_element":
                counts[keys] += 1
                keys = (*keys, counts[keys] - 1)
            yield node, keys
            for pair in node.children:
                if pair.type == "pair":
                    yield pair, (*keys, *_keys(pair))


def _line(node: Node) -> int:
    return int(node.start_point[0]) + 1


def _keys(node: Node) -> tuple[str, ...]:
    """The keys a header or a pair names, unquoted."""
    for child in node.children:
        if child.type in _KEYS and child.text is not None:
            return dotted_keys(child.text.decode())
    return ()


def dotted_keys(text: str) -> tuple[str, ...]:
    """Split `a."b c".1` into its keys, as TOML does.

    Examples
    --------
    >>> dotted_keys('a."b c".1')
    ('a', 'b c', '1')
    """
    found: object = tomllib.loads(f"{text} = 0")
    keys: list[str] = []
    while isinstance(found, dict):
        key, found = next(iter(found.items()))
        keys.append(key)
    return tuple(keys)


def _entered(keys: tuple[str, ...], counts: Counter[KeyPath]) -> KeyPath:
    """A header's keys, with the number of the latest entry wherever they pass through a list of tables."""
    path: KeyPath = ()
    for key in keys[:-1]:
        path = (*path, key)
        if counts[path]:
            path = (*path, counts[path] - 1)
    return (*path, *keys[-1:])


def _note(key: KeyPath, line: int, lines: dict[KeyPath, int]) -> None:
    """Give a key this line, and the tables it implies unless they have one."""
    for length in range(1, len(key)):
        lines.setdefault(key[:length], line)
    lines[key] = line


def _value(node: Node, path: KeyPath, lines: dict[KeyPath, int]) -> None:
    if node.type == "inline_table":
        for child in node.children:
            if child.type == "pair":
                inner = (*path, *_keys(child))
                _note(inner, _line(child), lines)
                _value(child.children[-1], inner, lines)
    elif node.type == "array":
        entries = [child for child in node.children if child.is_named and child.type != "comment"]
        for number, entry in enumerate(entries):
            lines[(*path, number)] = _line(entry)
            _value(entry, (*path, number), lines)
