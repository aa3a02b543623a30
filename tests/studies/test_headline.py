"""Where the paper's headline repeats: the pages say what the rows say."""

import pytest

from studies import headline


def test_near_ood_agrees_with_regret_on_our_models_and_not_in_the_paper():
    """By hand from the paper: near-OOD has ensemble, DDU, dropout, evidential; AuReC (log) has
    evidential, ensemble, DDU, dropout: three of six pairs agree, tau 0."""
    near = [each for each in headline.agreements() if each.proxy == "near-OOD detection"]
    paper, *ours = near
    assert paper.tau == pytest.approx(0)
    assert (paper.by_proxy, paper.by_regret) == ("ensemble", "evidential")
    assert [each.n_methods for each in near] == [4, 7, 5, 5, 4]
    assert min(each.tau for each in ours) > 0
    assert [each.by_regret for each in ours] == ["ensemble", *["evidential"] * 3]
