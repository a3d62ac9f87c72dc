import pytest

from fingerpost.text.hints import research_hints


@pytest.mark.parametrize(
    ("labels", "hints"),
    [
        (["web"], ("web",)),
        (["Web search", "internet"], ("web",)),
        (["api-docs", "vector", "graph"], ("docs",)),
        (["Documentation", "web", "web", "the moon"], ("docs", "web")),
        (["multimodal", "VIDEO_clips"], ("media",)),
        (["WebSearch"], ("web",)),
        (["ｗｅｂ", "rawDocs"], ("web", "docs")),
        (["web_pages", "webpages"], ("web",)),
        (["multi-modal", "multiModal"], ("media",)),
        (["Vectors", "Documentations"], ("docs",)),
        (["cobweb", "spiderWebbing", "", "?"], ()),
        ([], ()),
    ],
)
def test_labels_become_the_three_words_that_research_knows(labels, hints):
    assert research_hints(labels) == hints
