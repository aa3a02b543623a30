"""The study of promises over clusters: its rows, and its table in docs/promises.md."""

from studies import deploy_clusters
from studies.rows import read_rows


def test_a_small_study_has_a_row_for_each_way():
    rows = deploy_clusters.trials((30,), 2)
    assert len(rows) == 9
    assert all(0 <= row["broken"] <= 1 and 0 <= row["coverage"] <= 1 for row in rows)
    assert "| risk ≤ 0.2 | 30 |" in deploy_clusters.trials_table(rows)


def test_no_row_breaks_more_than_delta():
    for row in read_rows("deploy-clusters")["trials"]:
        if row["way"] != "points":
            error = (row["delta"] * (1 - row["delta"]) / row["n_draws"]) ** 0.5
            assert row["broken"] <= row["delta"] + 2 * error
