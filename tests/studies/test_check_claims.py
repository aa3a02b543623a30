"""Every number of README's answers follows from the rows, by code of its own."""

import pytest

from studies import check_claims
from studies.check_claims import by_family, claims, errors, is_ahead, tau

README, FINDINGS = (path.read_text() for path in (check_claims.README, check_claims.FINDINGS))


def test_every_number_of_the_answers_follows_from_the_rows():
    assert errors(README, FINDINGS) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("of 8 methods (tuned, 6 families)", "of 8 methods (tuned, 7 families)"),
        ("of 8 methods (tuned", "of 8 methods (paper"),
        ("is clearly better in neither regime", "is clearly better in both regimes"),
        ("cannot be tested)", "tested)"),
    ],
)
def test_a_wrong_claim_is_an_error(old, new):
    assert old in README
    (message,) = errors(README.replace(old, new, 1), FINDINGS)
    assert message.startswith("answer ")
    assert "README shows" in message
    (message,) = errors(README, FINDINGS.replace("(of 8 methods", "(of 9 methods", 1))
    assert "findings shows" in message
    assert "the rows give" in message


def test_answers_that_are_not_there_are_an_error():
    (message,) = errors(README.partition("<!-- begin atlas")[0], FINDINGS)
    assert message == "README has 0 answers, and 8 can be computed"


def test_a_lead_is_clear_beyond_nemenyi_s_critical_difference():
    # Of three methods on six families it is 2.343 * sqrt(3 * 4 / 36) = 1.353 (Demsar 2006).
    names = "abcdef"
    made = {(d, m): float(i) for d in names for i, m in enumerate("xyz")}
    assert not is_ahead(made)  # ranks 1, 2 and 3
    swapped = {"y": 2.0, "z": 1.0}
    second = {key: swapped.get(key[1], x) if key[0] in "abc" else x for key, x in made.items()}
    assert is_ahead(second)  # ranks 1, 2.5 and 2.5
    assert not is_ahead({key: x for key, x in second.items() if key[0] in "abcd"})  # four families


def test_claims_are_the_numbers_and_methods_in_their_order():
    text = "Under 0/1 loss forest has -0.1 [+0.25, 3] (tuned), clear in neither regime (1 - max)."
    shown = ["forest", "-0.1", "+0.25", "3", "tuned", "in neither regime"]
    assert claims(text, {"forest"}) == shown
    assert claims("with tuned settings and the paper's", {"forest"}) == []


def test_families_and_tau_worked_by_hand():
    numbers = {"sentiment-a": 1.0, "sentiment-b": 3.0, "emobank-x": 5.0, "other": 7.0}
    assert by_family(numbers).tolist() == [5.0, 7.0, 2.0]
    # Of three pairs two are in the same order: (2 - 1) / 3.
    assert tau([1, 2, 3], [1, 3, 2]) == pytest.approx(1 / 3)
