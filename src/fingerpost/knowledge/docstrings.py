"""What the docstrings of a checkout say of its public names, read without running anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from fingerpost.errors import ConfigError

_PACKAGE: Final = Path("src/fingerpost")

_SETTINGS: Final = (
    ("config/schema.py", "QueryRouterConfig", ""),
    ("config/schema.py", "QueryRouterStrategyConfig", "strategy_config."),
    ("config/repos.py", "RepoIndexConfig", "github_repos."),
)

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Setting(NamedTuple):
    """A setting.

    Attributes:
        name: As it is written; ``strategy_config.max_sub_queries`` for a nested one.
        meaning: What the schema says of it.
        default: As the schema has it.
        page: Where it stands.
    """

    name: str
    meaning: str
    default: str
    page: str


class Docstrings:
    """The docstrings of the names that ``fingerpost`` exports, and of its errors.

    Args:
        root: Folder of the checkout.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def summary(self, name: str) -> str:
        """Return the first sentence of a class, an error or a method (``Class.method``).

        Raises:
            ConfigError: There is no such name, or it has no docstring.
        """
        first, _, method = name.partition(".")
        found: Definition | None = self._definitions.get(first)
        if method and found is not None:
            found = _named(found.body, method)
        said = ast.get_docstring(found) if found is not None else None
        if not said:
            raise ConfigError(
                f"a page speaks of {name}, which has no docstring in {self._root / _PACKAGE}",
                hint="Correct the heading of the page.",
            )
        return _one_line(said.partition("\n\n")[0])

    def settings(self) -> Iterator[Setting]:
        """Yield every setting, in the order of the schema; nested ones behind their own names."""
        for file, owner, prefix in _SETTINGS:
            body = self._class_body(_PACKAGE / file, owner)
            for field, said in pairwise(body):
                match field, said:
                    case (
                        ast.AnnAssign(target=ast.Name(id=name), value=value),
                        ast.Expr(value=ast.Constant(value=str(text))),
                    ):
                        default = "" if value is None else ast.unparse(value)
                        page = (_PACKAGE / file).as_posix()
                        yield Setting(prefix + name, _one_line(text), default, page)

    def _class_body(self, file: Path, name: str) -> list[ast.stmt]:
        found = _named(self._parsed(file).body, name)
        return [] if found is None else found.body

    @cached_property
    def _homes(self) -> dict[str, str]:
        """Return exported name → module, as the package tells type checkers."""
        tree = self._parsed(_PACKAGE / "__init__.py")
        return {
            alias.name: node.module or ""
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fingerpost.")
            for alias in node.names
        }

    @cached_property
    def _definitions(self) -> dict[str, Definition]:
        """Return name → definition of what is exported and of the errors."""
        found: dict[str, Definition] = {}
        for module in sorted({*self._homes.values(), "fingerpost.errors"}):
            path = Path("src", *module.split("."))
            folder = self._root / path
            files = sorted(folder.glob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
            for file in files:
                for node in self._parsed(file.relative_to(self._root)).body:
                    if isinstance(node, Definition):
                        found.setdefault(node.name, node)
        return found

    def _parsed(self, file: Path) -> ast.Module:
        try:
            return ast.parse((self._root / file).read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError) as error:
            why = getattr(error, "strerror", error)
            raise ConfigError(
                f"{self._root} is no checkout of fingerpost: {file}: {why}",
                hint="Platform knowledge is built from the project's sources; name their folder "
                "with --root.",
            ) from error


def _named(body: list[ast.stmt], name: str) -> Definition | None:
    return next((node for node in body if isinstance(node, Definition) and node.name == name), None)


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("``", "`")
