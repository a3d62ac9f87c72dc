from __future__ import annotations

from fingerpost.generate.pack import PackedHit, pack


def _words(text: str) -> int:
    return len(text.split())


def test_hits_behind_one_that_does_not_fit_still_have_their_turn(hit) -> None:
    best, long, short = (
        hit("Helm keeps its cache in a folder.", path="a.md"),
        hit("one " * 50, path="b.md"),
        hit("It is small.", path="c.md"),
    )
    packed = pack([best, long, short], max_tokens=12, count=_words)
    assert packed.kept == (PackedHit(best, best.chunk.text), PackedHit(short, short.chunk.text))
    assert (packed.dropped, packed.n_tokens) == ((long,), 10)


def test_a_hit_that_does_not_fit_is_trimmed_at_a_sentence(hit) -> None:
    long = hit("Helm keeps a cache. It is small. It holds the index files of all charts.")
    packed = pack([long], max_tokens=9, count=_words)
    assert packed.kept == (PackedHit(long, "Helm keeps a cache. It is small.", trimmed=True),)


def test_a_trimmed_text_ends_on_no_heading_lead_in_or_table_head(hit) -> None:
    said = "The cache is small."
    for rest in ("## Limits", "The limits are:", "| Mode | Limit |\n|---|---|", "Limits\n------"):
        long = hit(f"{said}\n\n{rest}\n\n" + "many words " * 20)
        packed = pack([long], max_tokens=12, count=_words)
        assert [one.text for one in packed.kept] == [said]
    lone = hit("## Limits\n\n" + "many words " * 20)
    assert pack([lone], max_tokens=12, count=_words).dropped == (lone,)


def test_one_document_leaves_room_for_the_others(hit) -> None:
    loud = [hit("Buy our chart now. " * 2, path="loud.md", start=at) for at in range(0, 90, 30)]
    quiet = hit("Helm keeps its cache in a folder.", path="quiet.md")
    packed = pack([*loud, quiet], max_tokens=20, count=_words)
    assert [one.hit for one in packed.kept] == [loud[0], loud[1], quiet]
    assert packed.kept[1].trimmed
    assert pack(loud, max_tokens=24, count=_words).n_tokens == 24


def test_the_header_of_a_split_table_is_shown_and_counted(hit) -> None:
    part = hit("| fast | 10 |\n", prefix="| Mode | Limit |\n|---|---|")
    packed = pack([part], max_tokens=20, count=_words)
    assert packed.kept[0].text == "| Mode | Limit |\n|---|---|\n| fast | 10 |\n"
    assert packed.n_tokens == _words(packed.kept[0].text)


def test_a_hit_without_text_is_no_source(hit) -> None:
    blank = hit(" \n")
    assert pack([blank], max_tokens=10, count=_words).dropped == (blank,)
