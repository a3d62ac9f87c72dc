"""Write docs/reference from the program itself.

python3 scripts/docs.py           write
python3 scripts/docs.py --check   exit with 1 when a page is stale
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

import fingerpost
from fingerpost import errors
from fingerpost.cli.main import COMMANDS, cli
from fingerpost.config import repos, schema
from fingerpost.observe import events

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"


def pages() -> dict[str, str]:
    """Return page name → text."""
    return {
        "settings.md": _settings(),
        "events.md": _events(),
        "errors.md": _errors(),
        "cli.md": _cli(),
        "api.md": _api(),
    }


def _head(title: str, tag: str) -> str:
    return (
        f"---\ntitle: {title}\ntags: [reference, {tag}]\n---\n\n# {title}\n\n"
        "Written by `scripts/docs.py` from the program; do not edit.\n\n"
    )


def _first(text: str | None) -> str:
    paragraph = inspect.cleandoc(text or "").split("\n\n")[0]
    return " ".join(paragraph.split()).replace("``", "`").replace("|", "\\|")


def _settings() -> str:
    text = _head("Settings", "settings")
    read = [ast.parse(Path(m.__file__).read_text(encoding="utf-8")) for m in (schema, repos)]
    for node in (node for tree in read for node in tree.body):
        if not isinstance(node, ast.ClassDef):
            continue
        model = getattr(schema, node.name)
        text += f"## {node.name}\n\n| setting | default | meaning |\n|---|---|---|\n"
        for name, meaning in _fields(node):
            field = model.model_fields[name]
            default = "required" if field.is_required() else f"`{_default(field.default)}`"
            text += f"| `{name}` | {default} | {_first(meaning)} |\n"
        text += "\n"
    return text


def _fields(node: ast.ClassDef) -> list[tuple[str, str]]:
    found = []
    for item, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            said = after.value if isinstance(after, ast.Expr) else None
            text = said.value if isinstance(said, ast.Constant) else ""
            found.append((item.target.id, str(text)))
    return found


def _default(value: object) -> str:
    if isinstance(value, schema.QueryRouterStrategyConfig):
        return "QueryRouterStrategyConfig()"
    return str(value.value) if hasattr(value, "value") else repr(value)


def _events() -> str:
    text = _head("Events", "events")
    text += "Every event carries `type`, `at` (seconds since the epoch) and `query_id`.\n\n"
    text += "| type | class | fields | meaning |\n|---|---|---|---|\n"
    used = _called_by_the_program()
    for kind in vars(events).values():
        if not isinstance(kind, type) or kind.__base__ is not events.Event:
            continue
        own = [f.name for f in dataclasses.fields(kind) if f.name not in ("at", "query_id")]
        fields = ", ".join(f"`{name}`" for name in own) or "none"
        said = _first(kind.__doc__) + (
            "" if kind.__name__ in used else " Not sent in this version."
        )
        text += f"| `{kind.type}` | `{kind.__name__}` | {fields} | {said} |\n"
    return text


def _called_by_the_program() -> set[str]:
    """Return the names that the program calls or hands to a call, as ``emit`` is handed events."""
    return {
        name
        for node in _nodes_of_the_program("/observe/events.py")
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") != "isinstance"
        for name in map(_name, (node.func, *node.args))
        if name
    }


def _raised_by_the_program() -> set[str]:
    """Return the names that stand for a value, in a call or a table, not in ``except``."""
    found, caught = set(), set()
    nodes = list(_nodes_of_the_program("/errors"))  # all alive, so that an id names one of them
    for node in nodes:
        if isinstance(node, ast.ExceptHandler) and node.type:
            caught |= {id(inner) for inner in ast.walk(node.type)}
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            caught |= {id(inner) for one in node.args for inner in ast.walk(one)}
        elif _name(node) and id(node) not in caught:
            found.add(_name(node))
    return found


def _nodes_of_the_program(outside: str) -> Iterator[ast.AST]:
    for path in Path(fingerpost.__file__).parent.rglob("*.py"):
        if outside not in path.as_posix():
            yield from ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _errors() -> str:
    text = _head("Errors", "errors")
    text += "```text\n" + inspect.cleandoc(errors.__doc__ or "").split("::\n\n")[1] + "\n```\n\n"
    text += "| error | retryable | meaning |\n|---|---|---|\n"
    used = _raised_by_the_program()
    for name in errors.__all__:
        kind = getattr(errors, name)
        raised = any(kind in getattr(errors, other).__mro__ for other in used & {*errors.__all__})
        said = _first(kind.__doc__) + ("" if raised else " Not raised in this version.")
        text += f"| `{name}` | {'yes' if kind.retryable else 'no'} | {said} |\n"
    return text


def _cli() -> str:
    text = _head("Commands", "cli")
    for name in ("", *COMMANDS):
        command = cli if not name else cli.get_command(click.Context(cli), name)
        text += _help(command, f"fingerpost {name}".strip())
        if name and isinstance(command, click.Group):
            for inner, below in command.commands.items():
                text += _help(below, f"fingerpost {name} {inner}")
    return text


def _help(command: click.Command, path: str) -> str:
    context = click.Context(command, info_name=path, max_content_width=90, terminal_width=90)
    return f"## {path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n\n"


def _api() -> str:
    text = _head("Public names", "api")
    text += "| name | what it is |\n|---|---|\n"
    for name in fingerpost.__all__:
        text += f"| `{name}` | {_first(getattr(fingerpost, name).__doc__)} |\n"
    text += "\n## QueryRouter\n\n"
    for name, member in inspect.getmembers(fingerpost.QueryRouter, callable):
        if name.startswith("_"):
            continue
        text += f"### {name}{_signature(member)}\n\n{_prose(member.__doc__)}\n\n"
    return text


class _Bare:
    """An annotation that is shown without quotes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _signature(member: object) -> str:
    found = inspect.signature(member)
    given = [
        one.replace(annotation=_Bare(one.annotation)) if isinstance(one.annotation, str) else one
        for one in found.parameters.values()
        if one.name != "self"
    ]
    return str(found.replace(parameters=given, return_annotation=_Bare(found.return_annotation)))


def _prose(text: str | None) -> str:
    return inspect.cleandoc(text or "").replace("``", "`")


def main() -> int:
    """Write or check the pages."""
    stale = []
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        path = REFERENCE / name
        wanted = text.rstrip() + "\n"
        if path.exists() and path.read_text(encoding="utf-8") == wanted:
            continue
        stale.append(name)
        if "--check" not in sys.argv:
            path.write_text(wanted, encoding="utf-8")
    if stale and "--check" in sys.argv:
        print(f"stale: {', '.join(stale)}; run: python3 scripts/docs.py")
        return 1
    print(f"written: {', '.join(stale) or 'nothing, all is current'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
