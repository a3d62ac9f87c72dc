"""Schemas, parameters and bodies of an OpenAPI description in a line or a few."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as attribute
from itertools import islice
from urllib.parse import unquote

from fingerpost.corpus.tree import Node

_MAX_FIELDS = 24
_MAX_CHOICES = 24
_MAX_LINE = 600
_MAX_REFERENCE = 2_000
_JOINS = {"allOf": " and ", "oneOf": " or ", "anyOf": " or "}
_TOLD = frozenset({
    "$ref", "type", "format", "enum", "items", "properties", "required", "description", "title",
    *_JOINS,
})  # fmt: skip
_PARAMETER = frozenset({"name", "in", "schema"})
_EXCHANGE = frozenset({"$ref", "description", "content", "schema", "required"})


def one_line(text: str) -> str:
    """Return a text with every run of white space as one blank."""
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class Schemas:
    """Tells values of one description; a local reference is followed one step.

    What stands in place is told whole, line by line. What a reference leads to is told in short,
    since it is told whole where it stands.

    Attributes:
        tree: The whole file, which references lead into.
    """

    tree: Node
    _insides: dict[int, str] = attribute(default_factory=dict)

    def named(self, node: Node) -> tuple[str, Node | None]:
        """Return the name that a reference gives and what it leads to inside the file.

        Without a reference the name is empty and the node itself is returned; ``None`` for what
        is not in the file.
        """
        reference = node.said("$ref")
        if not reference:
            return "", node
        parts = [_unescaped(part) for part in reference.partition("#")[2].split("/")]
        name = parts[-1] or reference
        if not reference.startswith("#/"):
            return name, None
        found: Node | None = self.tree
        for part in parts[1:]:
            found = found.get(part) if found is not None else None
        return name, found

    def kind(self, node: Node, *, follow: bool) -> str:
        """Return what a schema is, such as ``array of Pet (id: integer, name: string)``.

        Args:
            node: A schema.
            follow: Whether the fields that a reference leads to are named.
        """
        name, target = self.named(node)
        if name:
            inner = self._inside(target) if follow and target is not None else ""
            return f"{name} ({inner})" if inner else name
        items = node.get("items")
        if items is not None and items.members:
            return f"array of {self.kind(items, follow=follow) or 'any'}"
        for key, join in _JOINS.items():
            choices = node.get(key)
            if choices is not None and choices.items:
                told = (self.kind(one, follow=follow) for one in choices.items[:_MAX_CHOICES])
                return _cut(join.join(one for one in told if one))
        return _scalar(node)

    def _inside(self, node: Node) -> str:
        """Return what a reference leads to: its fields or its kind; references end there."""
        known = self._insides.get(id(node))
        if known is None:
            known = self._fields(node) or self.kind(node, follow=False)
            self._insides[id(node)] = known
        return known

    def _fields(self, node: Node) -> str:
        """Return the fields of an object schema, empty when it names none."""
        parts = [node]
        whole = node.get("allOf")
        if whole is not None and whole.items:
            parts += whole.items
        members = [(part, _members(part, "properties")) for part in parts]
        every = (
            f"{name}: {self.kind(child, follow=False) or 'any'}"
            + (", required" if name in required else "")
            for part, fields in members
            for required in [_required(part)]
            for name, child in fields
        )
        more = sum(len(fields) for _, fields in members) - _MAX_FIELDS
        told = _cut("; ".join(islice(every, _MAX_FIELDS)))
        return told + (f"; {more} more" if more > 0 else "")

    def parameter(self, node: Node) -> Iterator[str]:
        """Yield the lines of a parameter, the one that a reference leads to where it does."""
        name, target = self.named(node)
        if target is None:
            yield f"Parameter {name}"
            return
        lines = self._parameter(name, target)
        yield from _shortened(lines) if name else lines

    def _parameter(self, name: str, node: Node) -> Iterator[str]:
        schema = node.get("schema")
        body = schema if schema is not None else node
        told = [node.said("in"), self.kind(body, follow=schema is not None)]
        if node.said("required") == "true":
            told.append("required")
        inside = ", ".join(part for part in told if part)
        line = f"Parameter {node.said('name') or name}" + (f" ({inside})" if inside else "")
        yield _described(line, node)
        for line, _ in self.details(node, 1, _PARAMETER):
            yield line
        if schema is not None:
            yield from self._schema(schema)

    def _schema(self, node: Node) -> Iterator[str]:
        """Yield the lines of a schema whose kind was told in the line above."""
        about = _about(node)
        if about:
            yield f"  {about}"
        for line, _ in self.details(node, 1):
            yield line

    def exchange(self, name: str, node: Node) -> Iterator[str]:
        """Yield the lines of a request body or a response: what it means, and each form of it."""
        said, target = self.named(node)
        if target is None:
            yield f"{name}: {said}"
            return
        lines = self._exchange(name, target)
        yield from _shortened(lines) if said else lines

    def _exchange(self, name: str, node: Node) -> Iterator[str]:
        required = " (required)" if node.said("required") == "true" else ""
        yield _described(f"{name}{required}", node)
        schema = node.get("schema")
        if schema is not None:
            yield f"- {self.kind(schema, follow=True)}"
            yield from self._schema(schema)
        for media, form in _members(node, "content"):
            inner = form.get("schema")
            kind = self.kind(inner, follow=True) if inner is not None else ""
            yield f"- {media}: {kind}" if kind else f"- {media}"
            if inner is not None:
                yield from self._schema(inner)
            yield from _rest(form, frozenset({"schema"}))
        yield from _rest(node, _EXCHANGE)

    def described(self, name: str, node: Node) -> Iterator[tuple[str, Node]]:
        """Yield the lines of a schema with the node that each stands for: one for each field."""
        kind = self.kind(node, follow=False)
        yield _described(f"{name} ({kind})" if kind else name, node), _before(node)
        yield from self.details(node, 0)

    def details(
        self, node: Node, depth: int, told: frozenset[str] = frozenset()
    ) -> Iterator[tuple[str, Node]]:
        """Yield what a schema says beyond its kind and description, in the order of the file.

        Args:
            node: A schema; no reference in it is followed.
            depth: Of the lines, two blanks each.
            told: Further keys that were told.
        """
        pad = "  " * depth
        if node.said("title") and node.said("description"):
            yield f"{pad}title: {one_line(node.said('title'))}", _before(node)
        for key, child in (node.members or {}).items():
            if key in told:
                continue
            if key == "properties" and child.members is not None:
                required = _required(node)
                for name, below in child.members.items():
                    yield self._field(name, below, depth, required=name in required)
            elif key == "items" and child.members is not None:
                yield from self._inner(child, depth)
            elif key in _JOINS and child.items is not None:
                yield from self._choices(key, child, depth)
            elif (rest := _untold(key, child, node)) is not None:
                yield f"{pad}{key}: {rest}", child

    def _field(self, name: str, node: Node, depth: int, *, required: bool) -> tuple[str, Node]:
        kind = self.kind(node, follow=False) or "any"
        inside = f"{kind}, required" if required else kind
        line = _described(f"{'  ' * depth}- {name} ({inside})", node)
        return "\n".join([line, *(below for below, _ in self.details(node, depth + 1))]), node

    def _inner(self, node: Node, depth: int) -> Iterator[tuple[str, Node]]:
        """Yield the lines of a schema inside another one that has no name."""
        about = _about(node)
        if about:
            kind = self.kind(node, follow=False) or "any"
            yield f"{'  ' * depth}- {kind}: {about}", _before(node)
        yield from self.details(node, depth)

    def _choices(self, key: str, node: Node, depth: int) -> Iterator[tuple[str, Node]]:
        kinds = [self.kind(one, follow=False) for one in node.items or []]
        told = _JOINS[key].join(kinds)
        if len(kinds) > _MAX_CHOICES or len(told) > _MAX_LINE:
            yield f"{'  ' * depth}{key}: {told}", _before(node)
        for one in node.items or []:
            yield from self._inner(one, depth)


def _before(node: Node) -> Node:
    """Return what stands before a value: its key, where it has one."""
    return Node(node.start, node.value_start, node.value_start)


def _untold(key: str, child: Node, node: Node) -> str | None:
    """Return what a line of a schema's kind left out of one of its members, ``None`` if nothing."""
    if key not in _TOLD:
        return flat(child)
    if key == "enum" and child.items is not None:
        said = flat(child)
        return said if len(child.items) > _MAX_CHOICES or len(said) > _MAX_LINE else None
    if key == "required" and child.items is not None:
        properties = node.get("properties")
        there = properties.members or {} if properties is not None else {}
        return ", ".join(one.text for one in child.items if one.text not in there) or None
    is_whole = key == "type" or (child.items is None and child.members is None)
    return None if is_whole else flat(child)


def _shortened(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines of what a reference leads to, up to a length: it is told where it stands."""
    size = 0
    for line in lines:
        if size + len(line) > _MAX_REFERENCE:
            yield f"{line[: _MAX_REFERENCE - size].rstrip()} …"
            return
        yield line
        size += len(line)


def _rest(node: Node, told: frozenset[str]) -> Iterator[str]:
    """Yield what is not told yet of a value, one line for each member."""
    for key, child in (node.members or {}).items():
        if key not in told:
            yield f"  {key}: {flat(child)}"


def flat(node: Node) -> str:
    """Return a value of any shape in one line."""
    if node.members is not None:
        return ", ".join(f"{key}: {flat(child)}" for key, child in node.members.items())
    if node.items is not None:
        return ", ".join(flat(item) for item in node.items)
    return one_line(node.text)


def _scalar(node: Node) -> str:
    kind = node.get("type")
    names = [item.text for item in _items(node, "type")]
    said = " or ".join(names) if names else (kind.text if kind is not None else "")
    if node.said("format"):
        said = f"{said} ({node.said('format')})".strip()
    choices = [flat(item) for item in islice(_items(node, "enum"), _MAX_CHOICES)]
    if choices:
        said = f"{said}, one of {_cut(', '.join(choices))}".removeprefix(", ")
    return said


def _members(node: Node, key: str) -> list[tuple[str, Node]]:
    child = node.get(key)
    return list(child.members.items()) if child is not None and child.members else []


def _items(node: Node, key: str) -> list[Node]:
    child = node.get(key)
    return child.items if child is not None and child.items else []


def _required(node: Node) -> frozenset[str]:
    return frozenset(item.text for item in _items(node, "required"))


def _described(line: str, node: Node) -> str:
    about = _about(node)
    return f"{line}: {about}" if about else line


def _about(node: Node) -> str:
    return node.said("description").strip() or node.said("title").strip()


def _cut(text: str) -> str:
    if len(text) <= _MAX_LINE:
        return text
    at = text.rfind(" ", 0, _MAX_LINE)
    return f"{text[: at if at > 0 else _MAX_LINE]} …"


def _unescaped(part: str) -> str:
    return unquote(part).replace("~1", "/").replace("~0", "~")
