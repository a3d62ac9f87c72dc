"""Schemas, parameters and bodies of an OpenAPI description in a line or a few."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote

from fingerpost.corpus.tree import Node

_MAX_FIELDS = 24
_MAX_CHOICES = 24
_MAX_LINE = 600
_JOINS = {"allOf": " and ", "oneOf": " or ", "anyOf": " or "}
_TOLD = frozenset({
    "$ref", "type", "format", "enum", "items", "properties", "required", "description", "title",
    *_JOINS,
})  # fmt: skip
_PARAMETER = frozenset({"name", "in", "schema", *_TOLD})
_EXCHANGE = frozenset({"$ref", "description", "content", "schema", "required"})


def one_line(text: str) -> str:
    """Return a text with every run of white space as one blank."""
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class Schemas:
    """Tells values of one description; a local reference is followed one step.

    Attributes:
        tree: The whole file, which references lead into.
    """

    tree: Node

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
            follow: Whether fields are named, those of a reference too.
        """
        name, target = self.named(node)
        if name:
            inner = self._inside(target) if follow and target is not None else ""
            return f"{name} ({inner})" if inner else name
        items = node.get("items")
        if items is not None and items.members:
            return f"array of {self.kind(items, follow=follow)}"
        for key, join in _JOINS.items():
            choices = node.get(key)
            if choices is not None and choices.items:
                told = (self.kind(one, follow=follow) for one in choices.items[:_MAX_CHOICES])
                return _cut(join.join(one for one in told if one))
        inner = self._fields(node) if follow else ""
        said = _scalar(node)
        return f"{said or 'object'} ({inner})" if inner else said

    def _inside(self, node: Node) -> str:
        """Return what a reference leads to: its fields or its kind; references end there."""
        return self._fields(node) or self.kind(node, follow=False)

    def _fields(self, node: Node) -> str:
        """Return the fields of an object schema, empty when it names none."""
        parts = [node]
        whole = node.get("allOf")
        if whole is not None and whole.items:
            parts += whole.items
        fields = [
            f"{name}: {self.kind(child, follow=False) or 'any'}"
            + (", required" if name in _required(part) else "")
            for part in parts
            for name, child in (_members(part, "properties"))
        ]
        more = len(fields) - _MAX_FIELDS
        return _cut("; ".join(fields[:_MAX_FIELDS])) + (f"; {more} more" if more > 0 else "")

    def parameter(self, node: Node) -> Iterator[str]:
        """Yield the lines of a parameter, the one that a reference leads to where it does."""
        name, target = self.named(node)
        if target is None:
            yield f"Parameter {name}"
            return
        schema = target.get("schema")
        body = schema if schema is not None else target
        told = [target.said("in"), self.kind(body, follow=schema is not None)]
        if target.said("required") == "true":
            told.append("required")
        inside = ", ".join(part for part in told if part)
        line = f"Parameter {target.said('name') or name}" + (f" ({inside})" if inside else "")
        yield _described(line, target)
        yield from _rest(target, _PARAMETER)
        if schema is not None:
            yield from _rest(schema, _TOLD)

    def exchange(self, name: str, node: Node) -> Iterator[str]:
        """Yield the lines of a request body or a response: what it means, and each form of it."""
        said, target = self.named(node)
        if target is None:
            yield f"{name}: {said}"
            return
        required = " (required)" if target.said("required") == "true" else ""
        yield _described(f"{name}{required}", target)
        schema = target.get("schema")
        if schema is not None:
            yield f"- {self.kind(schema, follow=True)}"
        for media, form in _members(target, "content"):
            inner = form.get("schema")
            kind = self.kind(inner, follow=True) if inner is not None else ""
            yield f"- {media}: {kind}" if kind else f"- {media}"
            yield from _rest(form, frozenset({"schema"}))
        yield from _rest(target, _EXCHANGE)

    def described(self, name: str, node: Node) -> Iterator[tuple[str, Node]]:
        """Yield the lines of a schema with the node that each stands for: one for each field."""
        kind = self.kind(node, follow=False)
        head = Node(node.start, node.value_start, node.value_start)
        yield _described(f"{name} ({kind})" if kind else name, node), head
        for part in [node, *(_items(node, "allOf"))]:
            required = _required(part)
            for field, child in _members(part, "properties"):
                told = self.kind(child, follow=False) or "any"
                inside = f"{told}, required" if field in required else told
                lines = [_described(f"- {field} ({inside})", child), *_rest(child, _TOLD)]
                lines += [
                    f"  - {inner}: {self.kind(below, follow=False) or 'any'}"
                    for inner, below in _members(child, "properties")
                ]
                yield "\n".join(lines), child
        for key, child in (node.members or {}).items():
            if key not in _TOLD:
                yield f"{key}: {flat(child)}", child


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
    about = node.said("description").strip() or node.said("title").strip()
    return f"{line}: {about}" if about else line


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_LINE else text[: text.rfind(" ", 0, _MAX_LINE)] + " …"


def _unescaped(part: str) -> str:
    return unquote(part).replace("~1", "/").replace("~0", "~")
