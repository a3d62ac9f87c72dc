"""Links and anchors that lead nowhere."""

from time import process_time

import pytest

TEXT = "Some words about the subject of this page.\n"


def test_a_link_to_a_missing_file_is_found_with_its_line(found):
    pages = {"a.md": f"---\ntitle: A\n---\n\n{TEXT}\nSee [there](gone.md).\n"}
    assert found(pages) == [("broken-link", "a.md:7", "there is no gone.md")]


@pytest.mark.parametrize(
    "written",
    [
        "[x](b.md)",
        "[x](./b.md#part 'title')",
        "[x](<b.md>)",
        "[x][1]\n\n[1]: b.md",
        '<a href="b.md">x</a>',
        "[x](b)",
        "[x](sub/)",
        "![x](shot.png)",
        "[![x](shot.png)](b.md)",
        "[x](https://example.org/gone.md)",
        "[x](mailto:a@example.org)",
        "[x](../outside/gone.md)",
        "`[x](gone.md)`",
        "```md\n[x](gone.md)\n```",
        "- a\n  ```md\n  [x](gone.md)\n  ```",
        "    [x](gone.md)",
        "<!-- [x](gone.md) -->",
        r"\[x\](gone.md)",
        "[x](gone.md。",
        "[x](${base}/gone.md)",
        "[x]({{< ref gone.md >}})",
        "[x](<c d.md>)",
        "<script>const link = '[x](gone.md)'</script>",
    ],
)
def test_links_that_lead_somewhere_or_are_none_of_ours_are_left_alone(rules, written):
    pages = {
        "a.md": f"# A\n\n{TEXT}\n{written}\n",
        "b.md": f"# B\n\n{TEXT}\n## Part\n\n{TEXT}",
        "c d.md": f"# C\n\n{TEXT}",
        "sub/README.md": f"# Sub\n\n{TEXT}",
        "shot.png": b"\x89PNG",
    }
    assert rules(pages) == []


@pytest.mark.parametrize(
    "written", ["[x](gone.md)", "[x](b.md 't')\n[y](gone.md#z)", "[x][1]\n\n[1]: gone.md",
                '<a href="gone.md">x</a>', "- [x](gone.md)", "| [x](gone.md) |\n|---|\n| y |",
                "> [x](gone.md)", "[![x](s.png)](gone.md)", "[x](<go ne.md>)",
                "<a href=gone.md>x</a>", "<A HREF='gone.md'>x</A>"],
)  # fmt: skip
def test_a_missing_file_is_found_however_the_link_is_written(rules, written):
    pages = {"a.md": f"# A\n\n{TEXT}\n{written}\n", "b.md": f"# B\n\n{TEXT}", "s.png": b""}
    assert rules(pages) == ["broken-link"]


def test_a_link_that_differs_in_capitals_names_the_file(found):
    pages = {"a.md": f"# A\n\n{TEXT}[x](Sub/B.md)\n", "sub/b.md": f"# B\n\n{TEXT}"}
    assert [one[:2] for one in found(pages)] == [("link-case", "a.md:4")]


def test_a_form_of_link_is_judged_only_where_others_of_its_form_lead_somewhere(rules):
    body = f"# A\n\n{TEXT}[x](/guide/gone)\n"
    pages = {"a.md": body, **{f"guide/p{n}.md": f"# P{n}\n\n{TEXT}" for n in range(12)}}
    assert rules(pages) == []
    good = "".join(f"[x](/guide/p{n})\n" for n in range(12))
    assert rules(pages | {"a.md": body + good}) == ["broken-link"]


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Set up the *tool*", "set-up-the-tool"),
        ("`<Image />`", "image-"),
        ("What? Why & how", "what-why--how"),
        ("What? Why & how", "what-why-how"),
        ("Größe", "größe"),
        ("Größe", "gr%C3%B6%C3%9Fe"),
        ("Café", "cafe"),
        ("2. Install", "install"),
        ("Named {#other}", "other"),
        ('<a id="mark"></a> Text', "mark"),
        ("$?", "section"),
        ("Any", "top"),
        ("Any", "L12"),
        ("Any", "tab/windows"),
        ("Any", "readme"),
        ("Any", "user-content-any"),
        ("What's new in v1.2?", "what-s-new-in-v1-2"),
        ("1.2 Modes", "_1-2-modes"),
        ("![logo](s.png) Start", "-start"),
        ("![logo](s.png) Start", "logo-start"),
        ("Attributes {: #python }", "python"),
        ("Attributes {.wide #pandoc}", "pandoc"),
        ("Any\n{: #kramdown}", "kramdown"),
        ("Any\n\n(myst)=", "myst"),
        ("Any\n\n<a name=bare></a>", "bare"),
        ('Any\n\n<A NAME="loud"></A>', "loud"),
        ('Any\n\n<h2 align="center">In <em>a</em> tag</h2>', "in-a-tag"),
    ],
)
def test_an_anchor_that_some_renderer_makes_is_there(rules, heading, anchor):
    pages = {"a.md": f"# A\n\n{TEXT}\n[x](#{anchor})\n\n## {heading}\n\n{TEXT}"}
    assert rules(pages) == []


def test_the_second_of_two_headings_has_a_number_behind_its_anchor(rules):
    part = f"### Step\n\n{TEXT}"
    body = f"# A\n\n{TEXT}\n## One\n\n{part}\n## Two\n\n{part}"
    assert rules({"a.md": f"{body}\n[x](#step-1) [y](#step_1)\n"}) == []
    assert rules({"a.md": f"{body}\n[x](#step-2)\n"}) == ["broken-anchor"]


def test_a_backtick_without_its_twin_hides_nothing_of_the_next_paragraph(rules):
    body = f"# A\n\nA lone ` mark.\n\n## Teil {{#part}}\n\n{TEXT}\nAnd ` one. [x](#part)\n"
    assert rules({"a.md": body}) == []
    assert rules({"a.md": body.replace("(#part)", "(#other)")}) == ["broken-anchor"]


def test_an_anchor_of_another_page_is_looked_for_there(found):
    pages = {
        "a.md": f"# A\n\n{TEXT}[x](b.md#instal)\n",
        "b.md": f"# B\n\n{TEXT}\n## Install\n\n{TEXT}",
    }
    assert found(pages) == [
        ("broken-anchor", "a.md:4", "no heading of b.md has the anchor #instal")
    ]


def test_a_missing_picture_is_found_where_its_folder_is_known_to_hold_pictures(found):
    body = f"# A\n\n{TEXT}\n![Shot](img/gone.png)\n"
    pages = {"a.md": body, "img/shot.png": b""}
    assert found(pages) == []
    assert found(pages | {"b.md": f"# B\n\n{TEXT}\n![Shot](img/shot.png)\n"}) == [
        ("broken-link", "a.md:5", "there is no img/gone.png")
    ]


@pytest.mark.parametrize(
    ("origin", "written", "place"),
    [
        ("versioned_docs/version-2/use/a.md", "b.md", "versioned_docs/version-2/b.md"),
        ("i18n/uk/docusaurus-plugin-content-docs/current/a.md", "b.md", "docs/b.md"),
        ("i18n/uk/docusaurus-plugin-content-docs/version-3/a.md", "c/b.md",
         "versioned_docs/version-3/c/b.md"),
        ("i18n/uk/docusaurus-plugin-content-docs-team/current/c/a.md", "b.md", "team/b.md"),
        ("i18n/uk/docusaurus-plugin-content-blog/c/a.md", "b.md", "blog/b.md"),
        ("i18n/uk/docusaurus-plugin-content-docs/current/c/a.md", "docs/b.md", "docs/b.md"),
    ],
)  # fmt: skip
def test_docusaurus_looks_for_a_file_in_the_folders_of_the_content_too(
    rules, origin, written, place
):
    target = {place: f"# B\n\n{TEXT}"}
    assert rules(target | {origin: f"# A\n\n{TEXT}[x]({written})\n"}) == []
    assert rules(target | {origin: f"# A\n\n{TEXT}[x](./{written})\n"}) == ["broken-link"]


def test_a_folder_above_is_looked_into_only_in_a_site_of_docusaurus(rules):
    pages = {"docs/use/a.md": f"# A\n\n{TEXT}[x](b.md)\n", "docs/b.md": f"# B\n\n{TEXT}"}
    assert rules(pages) == ["broken-link"]
    assert rules(pages | {"docusaurus.config.ts": b""}) == []


def test_many_broken_anchors_of_a_page_with_many_headings_are_found_in_time(found):
    links = "".join(f"[x](#function-{n}-of-the-tool)\n" for n in range(400))
    heads = "".join(f"## Function {n} of the kit\n\n{TEXT}\n" for n in range(400))
    began = process_time()
    assert len(found({"a.md": f"# A\n\n{links}\n{heads}"}, only=["broken-anchor"])) == 400
    assert process_time() - began < 4  # all compared with all takes a quarter of a minute


def test_the_anchors_of_a_page_that_shows_other_files_are_not_judged(rules):
    pages = {"a.md": f"# A\n\n{TEXT}[x](#far)\n\n[!INCLUDE [y](https://example.org)]\n"}
    assert rules(pages) == []


def test_comments_and_scripts_of_html_hold_no_link_and_attributes_need_no_quotes(found):
    page = """<html><body><h1 id=top-of-it>A</h1><p>Words. <a href="#top-of-it">x</a></p>
<!-- <a href="gone.html"> --><script>const s = '<a href="gone.html">'</script>
<a href=gone.html>x</a></body>"""
    assert found({"a.html": page}) == [("broken-link", "a.html:3", "there is no gone.html")]


def test_links_of_html_and_notebooks_are_followed_too(found):
    pages = {
        "a.html": "<html><body><h1>A</h1>\n<p>Words.</p>\n<p><a href='gone.html'>x</a></p></body>",
        "n.ipynb": '{"cells": [{"cell_type": "markdown", "source": ["# N\\n", "\\n",\n'
        '"See [x](gone.md)."]}], "nbformat": 4, "metadata": {}}',
    }
    assert [one[:2] for one in found(pages)] == [
        ("broken-link", "a.html:3"),
        ("broken-link", "n.ipynb:2"),
    ]
