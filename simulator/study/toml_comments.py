"""Comments of a TOML file by the key they stand at, so that they go with its values wherever those are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import tree_sitter_toml
from tree_sitter import Language, Node, Parser

from simulator.study.toml_lines import KeyPath, written_keys


@dataclass(frozen=True, slots=True)
class Comment:
    """What is said of one key: in the lines right above it, and beside it."""

    above: tuple[str, ...] = ()
    beside: str = ""

    def __str__(self) -> str:
        return " ".join([*self.above, *([self.beside] if self.beside else [])])


NO_COMMENT = Comment()


def comments(text: str) -> dict[KeyPath, Comment]:
    """Every key that has a comment; one that stands apart from all keys belongs to none.

    Examples
    --------
    >>> found = comments('# of the file\\n\\n[market]\\n# a list of 2026\\nlead_days = 90  # a guess')
    >>> {key: str(comment) for key, comment in found.items()}
    {('market', 'lead_days'): 'a list of 2026 a guess'}
    """
    said, beside = _said(text)
    found = {}
    for line, key in written_keys(text).items():
        above: list[str] = []
        while (before := line - 1 - len(above)) in said and before not in beside:
            above.append(said[before])
        comment = Comment(tuple(reversed(above)), said.get(line, ""))
        if comment != NO_COMMENT:
            found[key] = comment
    return found


def with_comments(text: str, said: Mapping[KeyPath, Comment]) -> str:
    """A TOML text without comments, with these at their keys; those of keys it does not have are left out."""
    if not said:
        return text
    lines = text.split("\n")
    for line, key in sorted(written_keys(text).items(), reverse=True):
        comment = said.get(key, NO_COMMENT)
        if comment.beside:
            lines[line - 1] += f"  # {comment.beside}"
        lines[line - 1 : line - 1] = [f"# {above}".rstrip() for above in comment.above]
    return "\n".join(lines)


def _said(text: str) -> tuple[dict[int, str], set[int]]:
    """Every comment by its line, and the lines on which something else stands too."""
    found: dict[int, str] = {}
    busy: set[int] = set()
    stack: list[Node] = [Parser(Language(tree_sitter_toml.language())).parse(text.encode()).root_node]
    while stack:
        node = stack.pop()
        if node.type == "comment" and node.text is not None:
            found[node.start_point[0] + 1] = node.text.decode().lstrip("#").strip()
        elif not node.children:
            busy.add(node.start_point[0] + 1)
        stack += node.children
    return found, busy
