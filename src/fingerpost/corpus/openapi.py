"""OpenAPI descriptions (2.0, 3.0, 3.1): one section an operation, one a component.

The file is told as a person would read it out: what each operation takes and gives, in the
order of the file, so that every line keeps its place. A reference is followed one step inside
the file, for the names and types of its fields; nothing is ever fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from fingerpost.corpus.blocks import Block
from fingerpost.corpus.openapi_schema import Schemas, flat, one_line
from fingerpost.corpus.source import ParsedText
from fingerpost.corpus.tree import Node, TreeError, read_tree
from fingerpost.corpus.writing import as_markup
from fingerpost.text.weave import Weave

SNIFFED_BYTES: Final = 4096
"""A description says what it is within these first bytes, or carries it in its name."""
_VERSION = r"[\"']?(?:openapi|swagger)[\"']?\s*:\s*[\"']?[23]\.\d"
_YAML = re.compile(rf"^{_VERSION}", re.MULTILINE)
# What is outside strings; one that is cut off reaches to the end.
_SIGN = re.compile(
    rf'(?P<version>(?<=[{{,\s])(?={_VERSION}))|"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{{}}\[\]]', re.DOTALL
)
_METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"})
_SHARED = {
    "definitions": "Schemas",
    "parameters": "Parameters",
    "responses": "Responses",
    "securityDefinitions": "Security schemes",
}
_KINDS = {
    "schemas": "Schemas",
    "responses": "Responses",
    "parameters": "Parameters",
    "examples": "Examples",
    "requestBodies": "Request bodies",
    "headers": "Headers",
    "securitySchemes": "Security schemes",
    "links": "Links",
    "callbacks": "Callbacks",
    "pathItems": "Paths",
}
_SHORT = 200
_MAX_INDENT = 400
_BEFORE_KEY = re.compile(r"[ \t\-]*\Z")


class DescriptionError(ValueError):
    """The file cannot be read as a description; the message says why."""


def says_openapi(head: str) -> bool:
    """Tell whether the beginning of a JSON or YAML file names a version of OpenAPI at its top."""
    if not head.lstrip("\ufeff \t\r\n").startswith("{"):
        return bool(_YAML.search(head))
    depth = 0
    for found in _SIGN.finditer(head):
        if found["version"] is not None and depth == 1:
            return True
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(found[0], 0)
    return False


def parse_openapi(text: str, start: int) -> ParsedText:
    """Return the text of a description; each line knows where in the file it stands.

    Args:
        text: Decoded file.
        start: Where it starts, after a byte order mark.

    Raises:
        DescriptionError: It is neither JSON nor YAML, uses aliases, or is no description.
    """
    try:
        tree = read_tree(text, start)
    except (TreeError, RecursionError) as error:
        raise DescriptionError(str(error) or "it is nested too deeply") from error
    if not (tree.said("openapi") or tree.said("swagger")):
        raise DescriptionError("it names no version of OpenAPI")
    info = tree.get("info")
    title = one_line(info.said("title")) if info is not None else ""
    page = _Page(text)
    _Description(tree, page, Schemas(tree)).write()
    return ParsedText(page.weave.text(), page.blocks, start, len(text), title, weave=page.weave)


@dataclass(slots=True)
class _Page:
    """The text that is written, in blocks of lines."""

    source: str
    weave: Weave = field(default_factory=Weave)
    blocks: list[Block] = field(default_factory=list)
    line: int = 0
    block_line: int = 0

    def heading(self, level: int, title: str, place: int) -> None:
        """Begin a section."""
        self.end_block()
        self.weave.add(f"{title}\n", self._line_start(place))
        self.line += 1
        self.blocks.append(Block("heading", self.block_line, self.line, level, as_markup(title)))
        self.block_line = self.line

    def paragraph(self, text: str, node: Node) -> None:
        """Write the lines of a text and a blank one."""
        self.say(text, node)
        self.weave.add("\n", self.weave.end)
        self.line += 1

    def say(self, text: str, node: Node) -> None:
        """Write the lines of a text, spread over what the node covers in the file."""
        lines = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")
        place = self._line_start(node.start)
        covered = len(self.source[place : node.end].rstrip())
        share = covered / max(1, sum(len(line) + 1 for line in lines))
        at = 0
        for line in lines:
            length = int((at + len(line) + 1) * share) - int(at * share)
            said = line.replace("\0", "\ufffd")
            self.weave.add(f"{said}\n", place + int(at * share), length)
            at += len(line) + 1
            self.line += 1

    def end_block(self) -> None:
        if self.line > self.block_line:
            self.blocks.append(Block("plain", self.block_line, self.line))
            self.block_line = self.line

    def _line_start(self, place: int) -> int:
        """Return where the line of a key starts, when nothing stands before the key."""
        begin = self.source.rfind("\n", max(0, place - _MAX_INDENT), place) + 1
        if not begin and place > _MAX_INDENT:  # a file of one line
            return place
        return begin if _BEFORE_KEY.match(self.source, begin, place) else place


@dataclass(slots=True)
class _Description:
    """Writes the sections of one file, in its order.

    Attributes:
        opening: Where the next section begins already: at the keys above it.
        tag: Of the operation before.
    """

    tree: Node
    page: _Page
    schemas: Schemas
    opening: int | None = None
    tag: str = ""

    def write(self) -> None:
        """Write all that the file says."""
        for key, node in (self.tree.members or {}).items():
            if key in ("paths", "webhooks") and node.members:
                self._open(node)
                self._paths(node, "" if key == "paths" else "Webhooks")
            elif key == "components" and node.members:
                self._open(node)
                for kind, entries in node.members.items():
                    self._entries(_KINDS.get(kind, kind), entries)
            elif key in _SHARED and node.members:
                self._entries(_SHARED[key], node)
            elif key in ("openapi", "swagger", "info"):
                self._outline(key, node)
            else:
                self._section(2, key, node)
                self._outline(key, node)
        self.page.end_block()

    def _open(self, node: Node) -> None:
        self.opening = node.start if self.opening is None else self.opening

    def _section(self, level: int, title: str, node: Node) -> None:
        place = node.start if self.opening is None else self.opening
        self.page.heading(level, one_line(title), place)
        self.opening = None

    def _paths(self, paths: Node, group: str) -> None:
        self.tag = ""
        for path, item in (paths.members or {}).items():
            self._open(item)
            if any(key.lower() in _METHODS for key in item.members or {}):
                self._path(path, item, group)
            else:
                self._section(2, path, item)
                self._outline(path, item)

    def _path(self, path: str, item: Node, group: str) -> None:
        """Write the operations of a path; what it says before the first one stands in that one."""
        shared = item.get("parameters")
        parameters = shared if shared is not None and shared.items is not None else None
        waiting: list[tuple[str, Node]] = []
        for key, node in (item.members or {}).items():
            if key.lower() in _METHODS:
                self._operation(f"{key.upper()} {path}", node, group)
                for said, child in waiting:
                    self._outline(said, child)
                waiting.clear()
                if parameters is not None:
                    self._parameters(parameters, Node(node.start, node.start, node.value_start))
                self._body(node)
            elif node is parameters:
                continue
            elif self.opening is not None:
                waiting.append((key, node))
            else:
                self._outline(key, node)

    def _operation(self, title: str, node: Node, group: str) -> None:
        tags = node.get("tags")
        first = tags.items[0].text if tags is not None and tags.items else ""
        tag = one_line(first) or group
        begin = node.start if self.opening is None else self.opening
        if tag and tag != self.tag:
            self._section(2, tag, node)
        self.tag = tag
        # Without a tag, operations stand beside the tags.
        self._section(3 if tag else 2, title, node)
        name = node.said("operationId")
        head = Node(begin, begin, node.value_start)
        self.page.paragraph(title + (f" ({name})" if name else ""), head)

    def _body(self, node: Node) -> None:
        for key, child in (node.members or {}).items():
            if key in ("summary", "description") and child.text:
                self.page.paragraph(child.text, child)
            elif key == "parameters" and child.items is not None:
                self._parameters(child, None)
            elif key == "requestBody":
                self._exchange("Request body", child)
            elif key == "responses" and child.members:
                for status, response in child.members.items():
                    self._exchange(f"Response {status}", response)
            elif key not in ("operationId", "tags"):
                self._outline(key, child)

    def _parameters(self, parameters: Node, place: Node | None) -> None:
        for node in parameters.items or []:
            self.page.paragraph("\n".join(self.schemas.parameter(node)), place or node)

    def _exchange(self, name: str, node: Node) -> None:
        """Write a request body or a response."""
        self.page.paragraph("\n".join(self.schemas.exchange(name, node)), node)

    def _entries(self, kind: str, entries: Node) -> None:
        self._section(2, kind, entries)
        if not entries.members:
            self._outline(kind, entries)
        for name, node in (entries.members or {}).items():
            self._section(3, name, node)
            self._entry(kind, name, node)

    def _entry(self, kind: str, name: str, node: Node) -> None:
        if kind == "Schemas" and node.members:
            for line, place in self.schemas.described(name, node):
                self.page.say(line, place)
        elif kind == "Parameters":
            self.page.paragraph("\n".join(self.schemas.parameter(node)), node)
        elif kind in ("Request bodies", "Responses"):
            self._exchange(name, node)
        else:
            self._outline(name, node)

    def _outline(self, key: str, node: Node) -> None:
        for line, place in _outlined(key, node, 0):
            self.page.say(line, place)


def _outlined(key: str, node: Node, depth: int) -> Iterator[tuple[str, Node]]:
    """Yield a value of any shape as indented lines, each with the node it stands for."""
    label = "  " * depth + (f"{key}: " if key else "- ")
    if node.members is None and node.items is None:
        yield label + node.text.rstrip(), node
        return
    if not key and len(short := flat(node)) <= _SHORT:
        yield label + short, node
        return
    yield label.rstrip(), Node(node.start, node.value_start, node.value_start)
    for name, child in (node.members or {}).items():
        yield from _outlined(name, child, depth + 1)
    for child in node.items or []:
        yield from _outlined("", child, depth + 1)
