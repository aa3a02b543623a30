"""Every number of README's answers follows from the rows, by code of its own."""

import pytest

from studies import check_claims
from studies.check_claims import by_family, claims, errors, tau

README = (check_claims.ROOT / "README.md").read_text()


def test_every_number_on_readme_follows_from_the_rows():
    assert errors(README) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("+0.091]", "+0.092]"),
        ("8 methods, 6 families", "8 methods, 7 families"),
        ("tuned regime only", "paper regime only"),
    ],
)
def test_a_wrong_number_is_an_error(old, new):
    assert old in README
    (message,) = errors(README.replace(old, new, 1))
    assert message.startswith("answer ")
    assert "the rows give" in message


def test_claims_are_the_numbers_and_methods_in_their_order():
    text = "Under 0/1 loss forest has -0.1 [+0.25, 3], clear in neither regime (1 - max)."
    assert claims(text, {"forest"}) == ["forest", "-0.1", "+0.25", "3", "in neither regime"]


def test_families_and_tau_worked_by_hand():
    numbers = {"sentiment-a": 1.0, "sentiment-b": 3.0, "emobank-x": 5.0, "other": 7.0}
    assert by_family(numbers).tolist() == [5.0, 7.0, 2.0]
    # Of three pairs two are in the same order: (2 - 1) / 3.
    assert tau([1, 2, 3], [1, 3, 2]) == pytest.approx(1 / 3)
