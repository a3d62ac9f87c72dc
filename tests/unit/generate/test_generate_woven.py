"""Answers from notebooks and HTML quote what people read, not the file's own notation."""

from __future__ import annotations

from dataclasses import replace

from fingerpost.generate.units import UnitKind, split_units
from fingerpost.types import Span

_RAW = (
    '{"source": [\n "The rate is 0.0003 in all runs.\\n"\n]},\n'
    '{"source": [\n "lr = 3e-4\\n",\n "print(\\"hi\\")"\n]}'
)
_READ = 'The rate is 0.0003 in all runs.\n\n```python\nlr = 3e-4\nprint("hi")\n```'


def _woven(hit):
    one = hit(_RAW, path="train.ipynb", markup="notebook", start=7)
    return replace(one, chunk=replace(one.chunk, search_text=_READ))


def test_a_notebook_is_quoted_without_its_json(hit) -> None:
    prose, code = split_units(_woven(hit), 0)
    assert prose.text == "The rate is 0.0003 in all runs."
    assert (code.kind, code.text, code.language) == (
        UnitKind.CODE,
        'lr = 3e-4\nprint("hi")',
        "python",
    )


def test_a_quote_is_exact_where_the_file_holds_the_words_and_else_ends_with_the_chunk(hit) -> None:
    one = _woven(hit)
    prose, code = split_units(one, 0)
    assert _RAW[prose.quote.start - 7 : prose.quote.end - 7] == prose.text
    assert code.quote == Span(prose.quote.end, one.chunk.span.end)
