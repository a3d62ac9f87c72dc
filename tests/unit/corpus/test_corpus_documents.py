"""PDF, Word and PowerPoint files: converted text with headings, tables and pages."""

import io
import json
import subprocess
import sys
from copy import deepcopy

import docx
import pptx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from pptx.util import Inches

from fingerpost import QueryRouter
from fingerpost.cli.main import main
from fingerpost.corpus import FileToPrepare, Prepared, prepare_file
from fingerpost.corpus.convert import convert
from fingerpost.corpus.decode import Undecodable
from fingerpost.corpus.wire import decode_outcome, encode_outcome
from fingerpost.types.document import pages_of

WORDS = {"embedding_provider": "none"}
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def pdf(pages, outline=(), title=""):
    """Return a PDF file with lines of text on each page and (title, page) in its outline."""
    n_pages = len(pages)
    first_item = 5 + 2 * n_pages
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(n_pages))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R /Outlines 4 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {n_pages} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /First {first_item} 0 R /Last {first_item + len(outline) - 1} 0 R "
        f"/Count {len(outline)} >>" if outline else "<< >>",
    ]  # fmt: skip
    for number, lines in enumerate(pages):
        drawn = "".join(
            f"BT /F1 11 Tf 50 {760 - 16 * at} Td ({line}) Tj ET\n" for at, line in enumerate(lines)
        )
        objects += [
            (
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources "
                f"<< /Font << /F1 3 0 R >> >> /Contents {6 + 2 * number} 0 R >>"
            ),
            f"<< /Length {len(drawn)} >>\nstream\n{drawn}endstream",
        ]
    for at, (name, page) in enumerate(outline):
        following = f"/Next {first_item + at + 1} 0 R" if at + 1 < len(outline) else ""
        objects.append(
            f"<< /Title ({name}) /Parent 4 0 R {following} /Dest [{5 + 2 * page} 0 R /Fit] >>"
        )
    objects.append(f"<< /Title ({title}) >>")
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    return (
        out
        + (
            f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer << /Size "
            f"{len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
        ).encode()
    )


MANUAL = pdf(
    [
        ["Heron Manual", "1 Limits", "An upload may have 25 megabytes."],
        ["Heron Manual", "More about uploads.", "Modes . . . . . . . . 3", "2"],
        ["Heron Manual", "2 Modes", "Heron has three modes.", "3"],
        ["Heron Manual", "The last page of modes.", "4"],
    ],
    outline=[("Limits", 0), ("Modes", 2)],
    title="The Heron Manual",
)


def word_file():
    document = docx.Document()
    document.core_properties.title = "Handbook"
    document.add_heading("Uploads", 1)
    document.add_paragraph("An upload may have 25 megabytes.")
    document.add_heading("Kinds", 2)
    document.add_paragraph("pictures", style="List Bullet")
    document.add_paragraph("films", style="List Bullet")
    table = document.add_table(2, 2)
    for cell, text in zip(table._cells, ["Key", "Value", "modes|x", "3"], strict=True):
        cell.text = text
    body = document.element.body
    for xml in (
        f"<w:sdt {_W}><w:sdtContent><w:p><w:r><w:t>Inside a control.</w:t></w:r></w:p></w:sdtContent></w:sdt>",
        f"<w:p {_W}><w:ins><w:r><w:t>Inserted</w:t></w:r></w:ins><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>",
        f"<w:p {_W}><w:r><w:lastRenderedPageBreak/><w:t>On page two.</w:t></w:r></w:p>",
    ):
        body.insert(len(body) - 1, parse_xml(xml))
    return saved(document)


def deck():
    presentation = pptx.Presentation()
    for number in range(3):
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = f"Topic {number}"
        slide.placeholders[1].text_frame.text = f"Port {8000 + number} is open"
        below = slide.placeholders[1].text_frame.add_paragraph()
        below.text, below.level = "for the web", 1
        table = slide.shapes.add_table(2, 2, 0, Inches(4), Inches(4), Inches(1)).table
        for row, texts in enumerate([("Name", "Mode"), ("web", "fast")]):
            for column, text in enumerate(texts):
                table.cell(row, column).text = text
        slide.notes_slide.notes_text_frame.text = f"Say number {number}"
    return saved(presentation)


def saved(file):
    out = io.BytesIO()
    file.save(out)
    return out.getvalue()


def prepared(raw, path):
    outcome = prepare_file(FileToPrepare(raw, "docs", path))
    assert isinstance(outcome, Prepared), outcome
    return outcome.document


def test_a_pdf_gives_the_headings_of_its_outline_and_the_page_of_each_chunk():
    document = prepared(MANUAL, "manual.pdf")
    assert document.document.title == "The Heron Manual"
    assert [
        (chunk.heading_path, pages_of(document.document, chunk)) for chunk in document.chunks
    ] == [
        (("The Heron Manual",), (1, 1)),
        (("The Heron Manual", "1 Limits"), (1, 2)),
        (("The Heron Manual", "2 Modes"), (3, 4)),
    ]


def test_page_numbers_and_running_heads_of_a_pdf_are_left_out():
    text = convert(MANUAL, "pdf").text()
    assert text.count("Heron Manual") == 1
    assert ". . ." not in text
    assert "\n2\n" not in text
    assert "More about uploads." in text


def test_a_line_is_a_page_number_only_beside_a_page_that_counts_on():
    pages = [
        ["Preface", "of the manual", "ii"], ["More", "of the preface", "iii"],
        ["CLI", "The command line.", "8080"], ["CI", "Runs for each change.", "1 234"],
        ["Ports", "Some are open.", "- 3 -"], ["Hosts", "Some are there.", "4"],
    ]  # fmt: skip
    lines = convert(pdf(pages, outline=[("CLI", 2), ("CI", 3)]), "pdf").text().split("\n")
    assert {"## CLI", "## CI", "8080", "1 234"} <= set(lines)
    assert {"ii", "iii", "- 3 -", "4"}.isdisjoint(lines)


def test_a_word_file_gives_headings_lists_tables_controls_and_changes():
    text = convert(word_file(), "docx").text()
    assert text == (
        "# Uploads\n\nAn upload may have 25 megabytes.\n\n## Kinds\n\n- pictures\n- films\n\n"
        "| Key | Value |\n| --- | --- |\n| modes\\|x | 3 |\n\nInside a control.\n\nInserted\n\n"
        "On page two.\n\n"
    )
    document = prepared(word_file(), "a.docx")
    last = document.chunks[-1]
    assert last.heading_path == ("Uploads", "Kinds")
    assert pages_of(document.document, last) == (1, 2)


def word_of(*xml, before=lambda document: None):
    """Return the text of a Word file with these paragraphs."""
    document = docx.Document()
    before(document)
    body = document.element.body
    for one in xml:
        body.insert(len(body) - 1, parse_xml(one.replace("<w:p>", f"<w:p {_W}>", 1)))
    return convert(saved(document), "docx").text()


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        (
            (
                "<w:p><w:r><w:t>Before</w:t></w:r><w:r><w:pict><w:txbxContent>"
                "<w:p><w:r><w:t>Alpha</w:t></w:r></w:p><w:p><w:r><w:t>Beta</w:t></w:r></w:p>"
                "</w:txbxContent></w:pict></w:r><w:r><w:t>After</w:t></w:r></w:p>"
            ),
            "Before\nAlpha\nBeta\nAfter",
        ),
        (
            "<w:p><w:moveFrom><w:r><w:t>Moved</w:t></w:r></w:moveFrom><w:r><w:t>Kept</w:t></w:r></w:p>",
            "Kept",
        ),
        (
            "<w:p><w:pPr><w:tabs><w:tab w:pos='9'/></w:tabs></w:pPr><w:r><w:t>Words</w:t></w:r></w:p>",
            "Words",
        ),
        (
            (
                "<w:p><w:r><w:t>It is </w:t></w:r><m:oMath xmlns:m='http://schemas.openxmlformats.org"
                "/officeDocument/2006/math'><m:r><m:t>E=mc2</m:t></m:r></m:oMath></w:p>"
            ),
            "It is E=mc2",
        ),
        (
            (
                "<w:p><w:pPr><w:numPr><w:ilvl w:val='x'/></w:numPr></w:pPr>"
                "<w:r><w:t>An item</w:t></w:r></w:p>"
            ),
            "- An item",
        ),
    ],
    ids=["text box", "moved", "tab stops", "formula", "bad level"],
)
def test_words_of_a_paragraph_are_read_once_and_stay_apart(xml, text):
    assert word_of(xml) == f"{text}\n\n"


def test_a_heading_keeps_signs_that_would_be_markup_elsewhere():
    title = "Use &nbsp; and `x_y` ~~in~~ <b> \\ {#id} [a](b) **c**"
    document = docx.Document()
    document.add_heading(title, 1)
    document.add_paragraph("text")
    assert prepared(saved(document), "a.docx").chunks[0].heading_path == (title,)
    described = f'{{"openapi": "3.0.0", "paths": {{{json.dumps(title)}: {{"get": {{}}}}}}}}'
    assert prepared(described.encode(), "a.json").chunks[-1].heading_path == (f"GET {title}",)


def test_a_table_inside_a_table_is_told_once():
    def nested(document):
        cell = document.add_table(1, 1).cell(0, 0)
        cell.text = "outer"
        inner = cell.add_table(1, 2)
        inner.cell(0, 0).text, inner.cell(0, 1).text = "one", "two"

    assert word_of(before=nested) == "| outer one two |\n| --- |\n\n"


def test_a_style_made_from_a_heading_is_one_and_a_style_without_a_name_costs_nothing():
    def styled(document):
        style = document.styles.add_style("Corporate Chapter", WD_STYLE_TYPE.PARAGRAPH)
        style.base_style = document.styles["Heading 2"]
        document.add_paragraph("Limits", style=style)
        nameless = document.styles["Subtitle"]
        document.add_paragraph("Words", style=nameless)
        nameless.element.remove(nameless.element.find(f"{{{_W[9:-1]}}}name"))

    assert word_of(before=styled) == "## Limits\n\nWords\n\n"


def test_lines_of_a_slide_stay_apart_and_a_shape_with_the_number_of_the_title_is_read():
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Alpha\vBeta"
    slide.placeholders[1].text_frame.text = "one\vtwo"
    box = slide.shapes.add_textbox(0, 0, Inches(1), Inches(1))
    box.text_frame.text = "first\vsecond"
    box.element.nvSpPr.cNvPr.set("id", str(slide.shapes.title.shape_id))
    text = convert(saved(presentation), "pptx").text()
    assert text == "## Alpha Beta\n\n- one two\n\nfirst\nsecond\n\n"


def test_a_shape_with_an_alternative_for_older_programs_is_read_once():
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Energy"
    box = slide.shapes.add_textbox(0, 0, Inches(1), Inches(1))
    box.text_frame.text = "It grows with the mass."
    wrapper = parse_xml(
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        '<mc:Choice Requires="a14"/><mc:Fallback/></mc:AlternateContent>'
    )
    box.element.addprevious(wrapper)
    wrapper[1].append(deepcopy(box.element))
    wrapper[0].append(box.element)
    assert convert(saved(presentation), "pptx").text() == (
        "## Energy\n\nIt grows with the mass.\n\n"
    )


def test_slides_are_sections_with_their_tables_and_notes():
    document = prepared(deck(), "deck.pptx")
    second = document.chunks[1]
    assert second.heading_path == ("Topic 1",)
    assert second.text == (
        "## Topic 1\n\n- Port 8001 is open\n  - for the web\n\n"
        "| Name | Mode |\n| --- | --- |\n| web | fast |\n\nNotes: Say number 1\n\n"
    )
    assert pages_of(document.document, second) == (2, 2)


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.pptx"])
def test_chunks_cut_the_converted_text_also_after_a_worker_sent_them(name):
    raw = {"a.pdf": MANUAL, "a.docx": word_file(), "a.pptx": deck()}[name]
    text = convert(raw, name[2:]).text()
    file = FileToPrepare(raw, "docs", name)
    outcome = prepare_file(file)
    sent = decode_outcome(encode_outcome(outcome), file, outcome.document.document.id)
    for document in (outcome.document, sent.document):
        assert "".join(chunk.text for chunk in document.chunks) == text
        assert all(text[c.span.start : c.span.end] == c.text for c in document.chunks)
    assert sent.document.document.metadata == outcome.document.document.metadata


def test_front_matter_named_pages_gives_no_page_numbers():
    document = prepared(b"---\npages: [0, 3]\n---\n# A\n\ntext\n", "a.md")
    assert pages_of(document.document, document.chunks[0]) is None


def test_an_answer_cites_pages_and_a_source_is_fresh_until_its_file_changes(tmp_path):
    (tmp_path / "manual.pdf").write_bytes(MANUAL)
    (tmp_path / "deck.pptx").write_bytes(deck())
    with QueryRouter(knowledge_corpus=[tmp_path], cache_results=False, **WORDS) as router:
        found = router.route_sync("How many megabytes may an upload have?")
        slides = router.route_sync("Which port is open in topic 1?")
        (tmp_path / "manual.pdf").write_bytes(MANUAL + b"\n")
        edited = router.route_sync("How many megabytes may an upload have?")
    source = found.sources[0]
    assert "25 megabytes" in found.answer
    assert (source.path, source.page_start, source.page_end) == ("manual.pdf", 1, 2)
    assert slides.sources[0].page_start == 2
    assert [one.sources[0].stale for one in (found, edited)] == [False, True]


def test_without_the_extra_such_files_are_listed_with_what_to_install(tmp_path):
    (tmp_path / "a.pdf").write_bytes(MANUAL)
    (tmp_path / "b.md").write_text("# B\n\ntext\n")
    script = (
        "import sys\n"
        "for name in ('pypdfium2', 'docx', 'pptx'): sys.modules[name] = None\n"
        "from fingerpost import QueryRouter\n"
        f"with QueryRouter(knowledge_corpus=[{str(tmp_path)!r}], embedding_provider='none') as r:\n"
        "    print([(s.reason, s.detail) for s in r.get_corpus_stats().skipped])\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    expected = "[('unsupported', \"to read it, in the repository: pip install '.[documents]'\")]"
    assert run.stdout.strip() == expected, run.stderr


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.pptx"])
def test_an_empty_file_of_each_format_is_refused(name):
    found = prepare_file(FileToPrepare(b"", "docs", name))
    assert isinstance(found, Undecodable)
    assert found.reason == "broken"


def test_an_answer_is_verified_against_a_pdf_and_a_word_file(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.chdir(tmp_path)
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "manual.pdf").write_bytes(pdf([["An upload may have 40 megabytes."]]))
    document = docx.Document()
    document.add_paragraph("The heron listens on port 8080.")
    (sources / "ports.docx").write_bytes(saved(document))
    answer = tmp_path / "answer.md"
    true = "An upload may have 40 megabytes. The heron listens on port 8080."
    for text, code in ((true, 0), (true.replace("8080", "9090"), 4)):
        answer.write_text(text)
        with pytest.raises(SystemExit) as ended:
            main(["verify", str(answer), "--sources", str(sources)])
        assert ended.value.code == code
        out = capsys.readouterr().out
        assert "manual.pdf" in out
        assert "ports.docx" in out
