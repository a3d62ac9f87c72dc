"""What the rules need to know of a page; its text is let go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text below it, up to the next heading of any level.

    Attributes:
        line: Of the heading, from 1; of the first text for the part before any heading.
        level: 1 to 6, 0 for the part before any heading.
        heading: As plain text, empty when there is none.
        path: Headings from the top down to its own.
        n_tokens: Estimate for its own text.
        is_blank: Nothing but comments stands between its heading and the next.
        fingerprint: Of its words; 0 when they are too few to be told from others by chance.
        n_words: Words of its own text.
        is_code: The heading is written as code: the name of something.
    """

    line: int
    level: int
    heading: str
    path: tuple[str, ...]
    n_tokens: int
    is_blank: bool
    fingerprint: int
    n_words: int
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link that may lead to a place of the corpus.

    Attributes:
        line: Where it stands, from 1.
        path: As written, without anchor; empty for a link within the page.
        anchor: Without ``#``, empty when none.
    """

    line: int
    path: str
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page.

    Attributes:
        path: POSIX path in its root.
        shown: Path as the user would write it.
        root: Name of its root.
        kind: Format.
        title: That search and citations use; empty when only the file's name is left.
        title_line: Line of the heading that is the title, 0 when it stands in front matter.
        sections: In order; the first may have no heading.
        links: In order.
        anchors: That lead to a place of it, in lower case.
        has_open_anchors: Text of other files is shown in it, so it may have more anchors.
        permalinks: Paths that the page is published under besides its own.
        ignored: Rules that a remark in it switches off.
        tag_headings: Line and level of each heading that stands as a tag in Markdown, by line.
        silent_pictures: Lines of pictures without an alternative text.
        unclosed_fence: Line of a fence that is never closed, 0 when there is none.
        front_matter_fault: What is wrong with its front matter, empty when nothing is.
        n_tokens: Estimate for all its text.
        sketch: The least hashes of its runs of words, ascending; compares it with others.
    """

    path: str
    shown: str
    root: str
    kind: str
    title: str
    title_line: int
    sections: tuple[Section, ...]
    links: tuple[PageLink, ...]
    anchors: frozenset[str]
    has_open_anchors: bool
    permalinks: tuple[str, ...]
    ignored: frozenset[str]
    tag_headings: tuple[tuple[int, int], ...]
    silent_pictures: tuple[int, ...]
    unclosed_fence: int
    front_matter_fault: str
    n_tokens: int
    sketch: NDArray[np.uint64]
