"""Hostile and broken PDF, Word and PowerPoint files are bounded and listed, the rest goes on."""

import io
import time
import zipfile

import docx
import pptx
import pytest

from fingerpost.corpus import FileToPrepare, IndexOptions, index_corpus, prepare_file
from fingerpost.corpus.decode import Undecodable
from fingerpost.corpus.locate import locate
from fingerpost.corpus.workers import Workers
from fingerpost.observe.observer import ignore
from fingerpost.stores.open import open_store


def pdf(n_pages, *, drawn="", trailer="", width=9):
    """Return a PDF file of pages that all draw the same."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{' '.join(f'{n + 5} 0 R' for n in range(n_pages))}] /Count {n_pages} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
    ]
    objects += [
        (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} 9] /Contents 4 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
    ] * n_pages
    parts, at, places = ["%PDF-1.4\n"], 9, []
    for number, body in enumerate(objects, 1):
        places.append(at)
        parts.append(f"{number} 0 obj\n{body}\nendobj\n")
        at += len(parts[-1])
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    end = f"trailer << /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\nstartxref\n{at}\n%%EOF\n"
    return "".join([*parts, head, end]).encode()


WORDS = "BT /F1 1 Tf 1 5 Td (some words) Tj ET"
ENCRYPTED = (
    f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'ab' * 32}> /U <{'cd' * 32}> >> "
    f"/ID [<{'00' * 16}> <{'00' * 16}>]"
)


def replaced(raw, name, content):
    """Return a package with one part replaced."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(raw)) as before,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as after,
    ):
        for part in before.namelist():
            if part != name:
                after.writestr(part, before.read(part))
        after.writestr(name, content)
    return out.getvalue()


def saved(file):
    out = io.BytesIO()
    file.save(out)
    return out.getvalue()


def word(content):
    return replaced(saved(docx.Document()), "word/document.xml", content)


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a0 "ha">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    + "]><d>&a11;</d>"
)
OUTSIDE = (
    '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    "<w:body><w:p><w:r><w:t>&x;</w:t></w:r></w:p></w:body></w:document>"
)
STRICT = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Target="word/document.xml" '
    'Type="http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument"/></Relationships>'
)
HOSTILE = {
    "encrypted.pdf": (lambda: pdf(1, drawn=WORDS, trailer=ENCRYPTED), "encrypted", "password"),
    "broken.pdf": (lambda: b"%PDF-1.7\nnothing", "broken", ""),
    "pictures.pdf": (lambda: pdf(3), "empty", "no text layer: its pages are pictures"),
    "many.pdf": (lambda: pdf(10_000, drawn=WORDS), "limit", "10,000 pages, limit 5,000"),
    "old.docx": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512, "encrypted", "2007"),
    "noise.docx": (lambda: b"PK\x03\x04" + bytes(range(256)) * 4, "broken", ""),
    "bomb.docx": (lambda: word(b" " * (200 * 1024**2)), "limit", "it unpacks to 201 MiB"),
    "laughs.docx": (lambda: word(LAUGHS), "broken", ""),
    "outside.docx": (lambda: word(OUTSIDE), "empty", "no text"),
    "empty.docx": (lambda: saved(docx.Document()), "empty", "no text"),
    "strict.docx": (
        lambda: replaced(saved(docx.Document()), "_rels/.rels", STRICT),
        "broken",
        "save it as an ordinary document",
    ),
    "empty.pptx": (lambda: saved(pptx.Presentation()), "empty", "no text"),
    "word.pptx": (lambda: saved(docx.Document()), "broken", ""),
    "bomb.pptx": (
        lambda: replaced(saved(pptx.Presentation()), "ppt/presentation.xml", b"0" * 10**8),
        "limit",
        "it unpacks to 95 MiB",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_with_a_reason_in_little_time(name):
    make, reason, detail = HOSTILE[name]
    raw = make()
    started = time.process_time()
    found = prepare_file(FileToPrepare(raw, "docs", name))
    assert isinstance(found, Undecodable), found
    assert found.reason == reason, found.detail
    assert detail in found.detail
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "line",
    ["." * 30_000 + "w", "1" * 30_000 + "w", ". " * 15_000 + "w"],
    ids=["dots", "digits", "spaced"],
)
def test_a_page_with_a_long_line_of_marks_is_read_in_little_time(line):
    raw = pdf(1, drawn=f"BT /F1 1 Tf 1 5 Td ({line}) Tj 0 -2 Td (words) Tj ET", width=90_000)
    started = time.process_time()
    found = prepare_file(FileToPrepare(raw, "docs", "a.pdf"))
    assert time.process_time() - started < 1
    assert not isinstance(found, Undecodable)
    assert len(found.text) > 25_000


def test_hostile_files_are_listed_and_stop_nothing(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, (make, _, _) in HOSTILE.items():
        (docs / name).write_bytes(make())
    (docs / "good.pdf").write_bytes(pdf(2, drawn=WORDS))
    (docs / "page.md").write_text("# Page\n\nwords\n")
    store = open_store(str(tmp_path / "index"))
    summary = index_corpus(
        store,
        locate([docs])[0],
        embedder=None,
        options=IndexOptions(embed=False, workers=0),
        observe=ignore,
    )
    listed = {one.path.rpartition("/")[2]: one.reason for one in summary.skipped}
    assert listed == {name: reason for name, (_, reason, _) in HOSTILE.items()}
    with store.reader() as reader:
        found = {one.path: one for one in reader.documents()}
    assert sorted(found) == ["good.pdf", "page.md"]
    assert len(found["good.pdf"].metadata["pages"]) == 2


def test_a_file_that_takes_too_long_to_convert_is_listed_and_never_converted_here():
    slow = FileToPrepare(pdf(4_000, drawn=WORDS * 30), "docs", "slow.pdf")
    quick = FileToPrepare(b"# A\n\nwords\n", "docs", "a.md")
    with Workers(1, limit_s=0.02) as workers:
        list(workers.prepare(iter([quick])))
        done = {one.file.path: one.outcome for one in workers.prepare(iter([slow, quick]))}
    assert isinstance(done["slow.pdf"], Undecodable)
    assert done["slow.pdf"].reason == "limit"
    assert done["a.md"].document.chunks[0].heading_path == ("A",)
