"""``fingerpost verify``: any text against documents."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fingerpost.cli.main import main

SAFE = "The default mode is safe."
FALSE = "Fast mode uses nine threads."
STRANGE = "Penguins huddle in winter storms."


@pytest.fixture
def check(corpus, tmp_path, run, monkeypatch):
    """Return what checks a text against the pages: (exit code, stdout, stderr)."""
    monkeypatch.setenv("COLUMNS", "160")

    def call(text, *options):
        path = tmp_path / "answer.md"
        path.write_text(text, encoding="utf-8")
        return run("verify", path, "--sources", corpus, *options)

    return call


def checked(out):
    return json.loads(out)


def test_each_claim_is_shown_with_its_verdict_and_its_evidence(check):
    code, out, _ = check(f"# Modes\n\n{SAFE} {FALSE}\n\n```\nno claim\n```\n{STRANGE}\n")
    lines = out.splitlines()
    true, false, strange = (
        next(line for line in lines if line.lstrip().startswith(sign)) for sign in "✓✗?"
    )
    assert SAFE in true
    assert "modes.md:3" in true
    assert FALSE in false
    assert STRANGE in strange
    assert "contradicted; number nine ≠ eight" in out
    assert "no claim" in out
    assert "NOT grounded: 1 of 3 claims supported: 1 unverifiable, 1 contradicted" in out
    assert "words alone" in out
    assert code == 4


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (SAFE, {"contradicted": 0, "unsupported": 0, "any": 0, "never": 0}),
        (STRANGE, {"contradicted": 0, "unsupported": 4, "any": 4, "never": 0}),
        (FALSE, {"contradicted": 4, "unsupported": 4, "any": 4, "never": 0}),
        (
            f"{SAFE} [1] Fast mode uses eight threads.\n\n[1] modes.md\n",
            {"contradicted": 0, "unsupported": 0, "any": 4, "never": 0},
        ),
    ],
)
def test_the_exit_code_follows_fail_on(check, text, codes):
    assert {limit: check(text, "--fail-on", limit)[0] for limit in codes} == codes
    assert check(text)[0] == codes["contradicted"]


def test_json_has_every_claim_its_place_and_the_counts(check):
    code, out, _ = check(f"Intro.\n\n{SAFE} {FALSE}\n", "--json")
    found = checked(out)
    assert code == 4
    assert found["grounded"] is False
    assert found["counts"] == {
        "claims": 2, "supported": 1, "weak": 0, "unverifiable": 0, "contradicted": 1,
        "not_checked": 0, "wrong_citation": 0, "missing_citation": 0,
    }  # fmt: skip
    first, second = found["claims"]
    assert (first["claim"], first["line"], first["source_ref"]) == (SAFE, 3, "modes.md:3")
    assert (second["verdict"], second["source_snippet"]) == (
        "contradicted",
        "Fast mode uses eight threads.",
    )
    (source,) = [one for one in found["sources"] if one["number"] == first["source_index"]]
    assert source["path"] == "modes.md"
    assert "features" not in first


def test_standard_input_is_a_text_too(corpus, run_main, monkeypatch):
    class Piped:
        class buffer:  # noqa: N801 - as on sys.stdin
            @staticmethod
            def read(limit):
                return SAFE.encode()[:limit]

    monkeypatch.setattr("sys.stdin", Piped)
    code, out, _ = run_main("verify", "-", "--sources", corpus, "--json", "--embedder", "none")
    assert (code, checked(out)["counts"]["supported"]) == (0, 1)


@pytest.mark.parametrize(
    "listed",
    [
        "Sources\n  [1] modes.md › Modes, line 3\n  [2] errors.md, lines 3-5\n",
        "## Quellen\n\n- [1] docs/modes.md\n- [2] docs/errors.md\n",
        "References:\n1. [Modes](modes.md)\n2. [Errors](errors.md#e1042)\n",
        "[1]: https://docs.example.org/modes.md\n[2]: https://docs.example.org/errors.md\n",
        "Sources\n[1] Modes\n[2] Errors\n",
    ],
)
def test_markers_name_what_the_list_of_the_text_says(check, listed):
    text = f"{SAFE} [1] The license file has expired [1]. Fast mode uses eight threads.\n\n"
    _, out, _ = check(text + listed, "--json")
    found = checked(out)
    right, wrong, missing = found["claims"]
    assert (right["verdict"], right["wrong_citation"], right["source_index"]) == (
        "supported",
        False,
        1,
    )
    assert (wrong["verdict"], wrong["wrong_citation"]) == ("supported", True)
    assert wrong["source_index"] == 2
    assert (missing["verdict"], missing["missing_citation"]) == ("supported", True)
    assert found["counts"]["claims"] == 3
    assert (found["citation_precision"], found["citation_recall"]) == (0.5, pytest.approx(1 / 3))


def test_a_marker_of_a_document_that_is_not_there_is_named(check):
    _, out, _ = check(f"{SAFE} [2]\n\nSources\n[1] modes.md\n[2] lost.md\n")
    assert "wrong citation" in out
    assert "names no document of these: [2]" in out


def test_without_a_list_markers_name_the_files_in_their_order(corpus, tmp_path, run):
    answer = tmp_path / "answer.md"
    answer.write_text(f"{SAFE} [2]", encoding="utf-8")
    files = (corpus / "errors.md", corpus / "modes.md")
    _, out, _ = run("verify", answer, "--sources", *files, "--json")
    (claim,) = checked(out)["claims"]
    assert (claim["markers"], claim["wrong_citation"]) == ([2], False)
    _, out, _ = run("verify", answer, "--sources", *reversed(files), "--json")
    assert checked(out)["claims"][0]["wrong_citation"]


@pytest.mark.parametrize("number", [2, 7])
def test_markers_that_name_nothing_known_are_no_findings(check, number):
    code, out, _ = check(f"{SAFE} [{number}]", "--json", "--fail-on", "any")
    (claim,) = checked(out)["claims"]
    assert (code, claim["wrong_citation"], claim["markers"]) == (0, False, [])
    assert claim["reasons"] == checked(check(SAFE, "--json")[1])["claims"][0]["reasons"]


def test_a_text_is_no_source_of_itself(corpus, run):
    own = corpus / "claims.md"
    own.write_text(STRANGE, encoding="utf-8")
    _, out, _ = run("verify", own, "--sources", corpus, "--json")
    assert checked(out)["counts"]["unverifiable"] == 1
    own.write_text(f"{STRANGE} [1]\n\nSources\n[1] claims.md\n", encoding="utf-8")
    _, out, _ = run("verify", own, "--sources", corpus, "--json")
    assert (checked(out)["unmatched"], checked(out)["counts"]["unverifiable"]) == ([1], 1)
    own.write_text(STRANGE, encoding="utf-8")
    other = corpus / "penguins.md"
    other.write_text(STRANGE, encoding="utf-8")
    _, out, _ = run("verify", own, "--sources", corpus, "--json")
    assert checked(out)["claims"][0]["source_ref"] == "penguins.md:1"


def test_front_matter_and_comments_are_no_claims_and_lines_stay(check):
    text = f"---\ntitle: Penguins huddle\ntags: [in, storms]\n---\n<!-- {STRANGE} -->\n\n{SAFE}\n"
    _, out, _ = check(text, "--json")
    (claim,) = checked(out)["claims"]
    assert (claim["claim"], claim["line"]) == (SAFE, 7)


def test_explain_shows_what_was_measured(check):
    _, out, _ = check(STRANGE, "--explain")
    assert "confidence" in out
    _, out, _ = check(STRANGE, "--json", "--explain")
    assert "features" in checked(out)["claims"][0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("verify",), "ANSWER"),
        (("verify", "nowhere.md", "--sources", "."), "cannot read nowhere.md"),
        (("verify", "EMPTY", "--sources", "."), "holds no text"),
        (("verify", "TEXT"), "give --sources PATH"),
        (("verify", "BINARY", "--sources", "."), "is no text"),
        (("verify", "/dev/zero", "--sources", "."), "/dev/zero is a device"),
        (("verify", "HUGE", "--sources", "."), "longer than 5,000,000 bytes"),
        (("verify", "TEXT", "--sources", "nowhere", "--html", "no/x.html"), "no folder no"),
        (("verify", "TEXT", "--sources", "nowhere", "--html", "TEXT/x.html"), "no folder TEXT"),
    ],
)
def test_what_cannot_be_checked_is_a_usage_error(tmp_path, run, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "EMPTY").write_text(" \n")
    (tmp_path / "TEXT").write_text(SAFE)
    (tmp_path / "BINARY").write_bytes(b"\0\1" * 50)
    (tmp_path / "HUGE").write_bytes(b"a" * 5_000_001)
    code, _, err = run(*arguments)
    assert code == 2
    assert said in err


def test_a_closed_standard_input_is_a_usage_error(corpus, run_main, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    code, _, err = run_main("verify", "-", "--sources", corpus)
    assert code == 2
    assert "standard input is closed" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SAFE, "grounded: 1 of 1 claim supported ·"),
        (f"{SAFE} {STRANGE}", "1 of 2 claims supported, none contradicted: 1 unverifiable ·"),
        (f"{SAFE} {FALSE}", "NOT grounded: 1 of 2 claims supported: 1 contradicted ·"),
    ],
)
def test_a_text_is_called_grounded_only_when_every_claim_is_supported(check, text, said):
    _, out, _ = check(text)
    assert any(line.startswith(said) for line in out.splitlines())


def test_an_escape_that_does_not_end_hides_nothing(check, tmp_path):
    page = tmp_path / "page.html"
    code, out, _ = check(f"{SAFE}\n\x1b]0;hidden {FALSE}\n", "--html", page)
    assert code == 4
    assert FALSE in out
    assert FALSE in page.read_text("utf-8")
    assert "\x1b" not in out


def test_json_escapes_what_no_reader_sees(check):
    unseen = "\x9b\u061c\u202e\U000e0041"
    _, out, _ = check(f"The default {unseen}mode is safe.", "--json")
    assert not set(unseen) & set(out)
    assert checked(out)["claims"][0]["claim"] == f"The default {unseen}mode is safe."
    _, shown, _ = check(f"The default {unseen}mode is safe.")
    assert "The default mode is safe." in shown


def test_a_text_without_claims_says_so(check):
    code, out, _ = check("# Title\n\nWhat now?\n", "--fail-on", "any")
    assert code == 0
    assert "no claims" in out


HOSTILE = (
    "The default \x1b[2J\x1b]0;owned\x07mode \u202eis\u202c safe. <script>alert(1)</script> "
    '<img src="https://evil.example/x.png" onerror=alert(1)> ![a](https://evil.example/b.png) '
    "Fast mode </style><b>uses</b> nine threads [bold red]now[/bold red].\n"
)


class Tags(HTMLParser):
    """Collects the tags and attributes of a page."""

    def __init__(self):
        super().__init__()
        self.seen, self.attributes = set(), set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_nothing_hostile_reaches_the_terminal_or_the_page(check, corpus, tmp_path):
    (corpus / "evil.md").write_text(f"# E\x1b[31mvil\n\n{HOSTILE}", encoding="utf-8")
    page = tmp_path / "page.html"
    _, out, _ = check(HOSTILE, "--html", page, "--explain")
    html = page.read_text("utf-8")
    for shown in (out, html):
        assert not {"\x1b", "\x07", "\u202e", "\u202c"} & set(shown)
    tags = Tags()
    tags.feed(html)
    assert tags.seen <= {
        "html", "head", "meta", "title", "style", "body", "header", "h1", "p", "span", "main",
        "div", "section", "aside", "details", "summary", "ul", "li",
    }  # fmt: skip
    assert tags.attributes <= {
        "lang", "charset", "http-equiv", "content", "name", "class", "id", "tabindex",
        "aria-describedby",
    }  # fmt: skip
    assert "default-src 'none'" in html
    assert "[bold red]now[/bold red]" in out


def test_the_page_is_whole_by_itself_and_shows_each_claim_beside_its_evidence(check, tmp_path):
    page = tmp_path / "page.html"
    check(f"{SAFE} {FALSE}", "--html", page)
    html = page.read_text("utf-8")
    assert html.startswith("<!doctype html>")
    assert "http" not in html.replace("http-equiv", "")
    assert "<script" not in html
    assert "prefers-color-scheme: dark" in html
    for part in (SAFE, FALSE, "modes.md:3", 'class="row contradicted"', "NOT grounded"):
        assert part in html


def test_a_narrow_terminal_has_the_evidence_below_the_sentence(check, monkeypatch):
    def first_lines(width):
        monkeypatch.setenv("COLUMNS", width)
        _, out, _ = check(SAFE)
        return out.splitlines()[:2]

    def beside(lines):
        return SAFE in lines[0] and "modes.md:3" in lines[0]

    def below(lines):
        return SAFE in lines[0] and lines[1].strip() == "modes.md:3"

    assert beside(first_lines("120"))
    assert below(first_lines("50"))


def test_help_names_the_command(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "Check any text against documents." in capsys.readouterr().out


def test_documents_of_every_format_are_sources(tmp_path, run):
    pages = {
        "a.rst": "Title\n=====\n\nThe gate opens at noon.\n",
        "b.html": "<html><body><p>The bell rings twice.</p></body></html>",
        "c.txt": "The tide turns at dusk.\n",
    }
    folder = tmp_path / "mixed"
    folder.mkdir()
    for name, text in pages.items():
        Path(folder / name).write_text(text, encoding="utf-8")
    answer = tmp_path / "answer.md"
    answer.write_text("The gate opens at noon. The bell rings twice. The tide turns at dusk.")
    _, out, _ = run("verify", answer, "--sources", folder, "--json")
    assert [claim["verdict"] for claim in checked(out)["claims"]] == ["supported"] * 3


def test_the_keys_of_json_are_those_that_the_page_of_the_command_tells(check):
    found = checked(check(f"{SAFE} [1]\n\n[1] modes.md\n", "--json", "--explain")[1])
    page = Path(__file__).parents[3] / "docs" / "how-to" / "verify.md"
    told = page.read_text("utf-8").split("`--json` has all of it")[1].split("`--html` writes")[0]
    for name in (*found, *found["claims"][0], *found["sources"][0]):
        assert f"`{name}`" in told, name


def test_a_false_answer_of_one_sentence_is_not_taken_for_the_heading_of_its_sources(check):
    code, out, _ = check(f"{FALSE} [1]\n\n[1] modes.md\n")
    assert code == 4
    assert "0 of 1 claim supported" in out
