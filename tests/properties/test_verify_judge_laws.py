"""Laws of the local judge: what is written another way is the same, another value is not."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fingerpost.types.answer import Verdict
from fingerpost.verify import judge_pair
from fingerpost.verify.evidence import Reading, SourceSentences
from fingerpost.verify.features import measure
from fingerpost.verify.judge import judge, judge_weights

SENTENCES = (
    "The archive keeps {} photographs in the cellar.",
    "Each tenant may open {} tickets a week.",
    "Das Lager hat {} Kisten im Keller.",
    "La bibliothèque prête {} livres par personne.",
    "El archivo guarda {} cartas antiguas.",
)
STYLES = ("{}", "**{}**", "`{}`", "{:,}")
sentence = st.sampled_from(SENTENCES)
number = st.integers(2, 9_999_999).filter(lambda n: not 1900 <= n <= 2100)
style = st.sampled_from(STYLES)


@settings(deadline=None, max_examples=150)
@given(sentence, number, style, style)
def test_a_number_in_another_style_is_the_same(text, value, one, other):
    claim = text.format(one.format(value))
    source = text.format(other.format(value))
    assert judge_pair(claim, source).verdict is Verdict.SUPPORTED


@settings(deadline=None, max_examples=150)
@given(sentence, number, number, style, style)
def test_another_number_in_the_same_sentence_contradicts(text, said, borne, one, other):
    assume(said != borne)
    claim = text.format(one.format(said))
    source = text.format(other.format(borne))
    assert judge_pair(claim, source).verdict is Verdict.CONTRADICTED


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.integers(0, 40), min_size=2, max_size=4, unique=True),
    st.lists(st.integers(0, 40), min_size=2, max_size=4, unique=True),
)
def test_versions_are_compared_part_by_part(said, borne):
    one, other = (".".join(str(part) for part in parts) for parts in (said, borne))
    found = judge_pair(f"The flag came with v{one}.", f"The flag came with v{other}.")
    padded = borne + [0] * (len(said) - len(borne))
    same = padded[: len(said)] == said
    assert (found.verdict is Verdict.SUPPORTED) == same


things = st.sampled_from(("heron", "egret", "stork", "crane"))
COMPARED = (("smaller", "larger"), ("faster", "slower"), ("older", "newer"))


@settings(deadline=None, max_examples=60)
@given(things, things, st.sampled_from(COMPARED), st.booleans(), st.booleans())
def test_a_comparison_holds_both_ways_round(one, other, words, turned, opposed):
    assume(one != other)
    source = f"The {one} is {words[0]} than the {other}."
    left, right = (other, one) if turned else (one, other)
    claim = f"The {left} is {words[1] if opposed else words[0]} than the {right}."
    contradicts = judge_pair(claim, source).verdict is Verdict.CONTRADICTED
    assert contradicts == (turned != opposed)


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=120), st.text(max_size=300))
def test_a_contradiction_or_support_has_a_probability_that_says_so(claim, source):
    found = judge(measure(Reading(claim), SourceSentences(source)), judge_weights())
    if found.verdict is Verdict.CONTRADICTED:
        assert found.p_contradicted >= 0.5
    if found.verdict is Verdict.SUPPORTED:
        assert found.p_supported >= 0.5
    assert 0.0 <= found.p_supported + found.p_contradicted <= 1.0 + 1e-9
