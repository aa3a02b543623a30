"""docs/promises.md shows what docs/rows/deploy.json measured, and that the promise held."""

from itertools import pairwise

import pytest
from scipy.stats import binom

from studies import DOCS, deploy
from studies.blocks import OUTPUT
from studies.rows import read_rows


@pytest.fixture(scope="module")
def rows():
    return read_rows("deploy")["rows"]


def most_broken(row):
    """What a share of delta exceeds by chance once in a thousand."""
    return binom.ppf(0.999, row["n_draws"], row["delta"]) / row["n_draws"]


def test_every_study_was_run(rows):
    asked = [(r["world"], r["loss"], r["asked"], r["n_points"]) for r in rows]
    assert asked == [(*study, n) for study in deploy.STUDIES for n in deploy.N_DRAWS]
    assert all(row["n_draws"] >= deploy.N_DRAWS[row["n_points"]] for row in rows)


def check(row):
    for by in deploy.SCORES:
        assert row["betting"][by]["broken"] <= most_broken(row)
    assert row["no_promise"]["broken"] > 2 * row["delta"]  # the worlds are not too easy


def test_the_promise_held(rows):
    for row in rows:
        check(row)
        for by in deploy.SCORES:
            best = row["achievable"][by]
            assert row["betting"][by]["coverage"] <= best + 0.01 <= row["possible"] + 0.01
    for few, more in pairwise(rows):
        if few["n_points"] < more["n_points"]:
            assert few["betting"]["total"]["coverage"] <= more["betting"]["total"]["coverage"]


def test_every_command_has_its_output():
    page = (DOCS / "deploy.md").read_text()
    blocks = OUTPUT.findall(page)
    assert len(blocks) == 9
    assert all(commands.strip() and output.strip() for commands, output in blocks)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(6))
def test_the_promise_holds_anew(tmp_path_factory, data_root, number):
    # Trained and drawn anew, on random-rbf and on resampled CIFAR-10H.
    out = tmp_path_factory.getbasetemp() / "deploy"
    out.mkdir(exist_ok=True)
    deploy.predictions(out)
    for size, n_draws in deploy.N_DRAWS.items():
        check(deploy.study(out, *deploy.STUDIES[number], n_draws, size))
