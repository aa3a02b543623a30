"""docs/results/published.md is what studies/published.py makes of the tables."""

import pytest

from rue.ranking.inversions import Contest
from studies import claims, published


def test_the_page_corrects_the_paper():
    verdicts = {claim.says: claim.verdict for claim in claims.claims()}
    assert [says for says, verdict in verdicts.items() if verdict == "**no**"] == [
        "On CIFAR-10H under CE, DDU has the worst AuReC."
    ]
    assert list(verdicts.values()).count("in part") == 3
    assert list(verdicts.values()).count("yes") == 6
    page = published.page()
    assert "Dropout has the worst, 0.1023. DDU has 0.0958, rank 3 of 4" in page
    assert "| evidential, 0/1 loss, spearman_star | 0.277 | 0.27625 | 0.750 |" in page
    assert "13 tables of the paper, 640 cells" in page


def test_on_the_same_data_r_s_orders_methods_against_regret():
    places, taus, same = published.within()
    assert len(places) == 20
    assert taus["aurec", "aurec"] == 1
    # What the page says in words.
    assert taus["aurec", "spearman_hat"] < 0 < 0.5 < taus["aurec", "pareto_gap"]
    assert (same["spearman_hat"], same["aurec"]) == (0, 20)
    # By hand on CIFAR-10H under log loss: AuReC has evidential, ensemble, DDU, dropout, and r_s
    # DDU, ensemble, dropout, evidential; two of six pairs agree.
    columns = [Contest("cifar10h", c, "log") for c in ("aurec", "spearman_hat")]
    i, j = (claims.everything().columns.index(column) for column in columns)
    assert claims.everything().tau[i, j] == pytest.approx(-1 / 3)
