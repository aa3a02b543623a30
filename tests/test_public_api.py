"""What is public stays: docs/stability.md says how it may change."""

from studies.public_api import SNAPSHOT, lines


def test_the_public_api_is_the_promised_one():
    """A name, parameter, default, command, option or key that changed must be meant.

    If the change is meant, follow docs/stability.md, add it to CHANGELOG.md, and run
    ``python -m studies.public_api``.
    """
    promised, found = SNAPSHOT.read_text().splitlines(), lines()
    gone, new = sorted(set(promised) - set(found)), sorted(set(found) - set(promised))
    assert (gone, new) == ([], [])


def test_the_list_sees_parameters_options_and_keys():
    found = lines()
    assert "class rue.Log.bound(n_classes)" in found
    assert any(line.startswith("rue.aurec(") for line in found)
    assert "$ rue evaluate --truth" in found
    assert "column n_aurec" in found
    assert "method ensemble" in found
