"""The registry of columns: it covers every number of a row, and everything reads it."""

import math
import re
from dataclasses import fields

import numpy as np
import pytest

from rue import Components, Run
from rue.inference.comparison import COMPARABLE
from rue.inference.intervals import AREAS, INTERVAL_COLUMNS, influence
from rue.metrics.columns import COLUMNS, EVALUATED, Column, columns_where, ratio_to_random, title
from rue.metrics.evaluation import evaluate_components
from rue.metrics.limits import limit_titles
from rue.metrics.table import format_rows, to_latex
from rue.published import PUBLISHED_COLUMNS, Published
from rue.ranking.scores import CRITERIA
from rue.report.page_content import leaderboard_columns


def test_every_number_of_a_row_is_a_column():
    parts = Components([0.5, 0.25], [0.25, 0.25], [0.25, 0.0])
    row = evaluate_components(parts, parts)
    proxies = {*columns_where(kind="proxy"), "best"}
    assert set(COLUMNS) == set(row.numbers) | proxies
    assert tuple(row.numbers) == EVALUATED
    assert all(key in dir(row) for key in EVALUATED)
    named = {"table", "dataset", "method", "loss"}
    assert set(PUBLISHED_COLUMNS) == {field.name for field in fields(Published)} - named


def test_keys_and_titles_are_unique():
    assert all(key == column.key for key, column in COLUMNS.items())
    assert len({column.title for column in COLUMNS.values()}) == len(COLUMNS)


def test_orders_are_those_of_the_first_tables():
    # The order that files written earlier have; later columns may be anywhere.
    areas = (
        *("aurec", "excess_aurec", "n_aurec", "aurc", "aurc_total", "risk", "regret"),
        *("aurec_total", "n_aurec_total", "aurec_aleatoric", "n_aurec_aleatoric"),
    )
    others = ("pareto_gap", "spearman_hat", "spearman_star", "regret_calibration")
    criteria = (
        *("near_ood", "far_ood", "auac", "auac_labels", "nauc_epistemic", "nauc_total"),
        *("aurec", "excess_aurec", "n_aurec", "pareto_gap"),
        *("aurc", "aurc_total", "regret_calibration"),
        *("aurec_total", "n_aurec_total", "aurec_aleatoric", "n_aurec_aleatoric"),
        "spearman_hat",
    )
    first = {*areas, *others, *criteria}
    assert tuple(key for key in AREAS if key in first) == areas
    assert tuple(key for key in INTERVAL_COLUMNS if key in first) == (*areas, *others)
    comparable = (*areas, "pareto_gap", "regret_calibration")
    assert tuple(key for key in COMPARABLE if key in first) == comparable
    assert tuple(key for key in CRITERIA if key in first) == criteria


def test_a_bca_column_has_an_influence(rng):
    parts = Components(*rng.random((3, 20)))
    assert tuple(influence(Run(parts, parts))) == columns_where(interval="bca")


def test_tables_have_the_titles_and_no_arrow_where_no_end_is_better(rng):
    parts = Components(*rng.random((3, 20)))
    head = format_rows([evaluate_components(parts, parts)]).splitlines()[0]
    shown = [COLUMNS[k].title for k in columns_where(in_table=True) if COLUMNS[k].kind != "proxy"]
    shown.remove("best")
    places = [head.index(each) for each in shown]
    assert places == sorted(places)
    for name in shown:
        assert (f"↓ {name}" in head) == (not name.startswith("r_s"))


def test_columns_on_request_are_in_tables_if_a_row_has_them(rng):
    parts = Components(*rng.random((3, 20)))
    row = evaluate_components(parts, parts).to_dict()
    asked = columns_where(on_request=True)
    by_default = ("n_aurec_corrected", "n_aurec_total_corrected")
    corrected = (key for key in COLUMNS if key.endswith("_corrected"))
    corrected = [key for key in corrected if key not in by_default]
    limits = limit_titles({"coverage": 0.8, "risk": 0.1, "regret": 0.1})
    assert asked == (*corrected, *limits)
    for format in ("table", "latex", "markdown"):
        assert "corr." not in format_rows([row], format)
        text = format_rows([row, row | dict.fromkeys(asked, 0.25)], format)
        assert text.count("corr.") == len(corrected)
        assert text.count("at cov.") + text.count("cov. at") == len(limits)
    assert "r_s" not in to_latex([row | dict.fromkeys(asked, 0.25)]).replace("$r_s", "")


def test_the_page_shows_what_is_explained():
    page = leaderboard_columns()
    assert page[0]["key"] == "n_aurec"
    assert {each["key"] for each in page} == {k for k, c in COLUMNS.items() if c.explanation}
    assert {each["better"] for each in page} == {"low", "high", ""}
    assert all(each["title"] == COLUMNS[each["key"]].title for each in page)


def test_title_of_what_is_no_column():
    assert title("aurec") == "AuReC"
    assert title("my own") == "my own"


def test_columns_where_takes_several_fields():
    assert columns_where(kind="other", interval="percentile", better="zero") == ("spearman_hat",)
    assert columns_where(unit="light years") == ()


@pytest.mark.parametrize(
    ("better", "order"), [("low", [-3, 1, 2]), ("high", [2, 1, -3]), ("zero", [1, 2, -3])]
)
def test_cost_puts_the_best_first(better, order):
    column = Column(key="x", title="x", digits=2, better=better, meaning="")
    values = np.array([1.0, 2.0, -3.0])
    assert values[np.argsort(column.cost(values))].tolist() == order
    assert math.isnan(column.cost(np.array([math.nan]))[0])


def test_a_ratio_to_a_random_ranking_needs_a_positive_mean():
    ratio = ratio_to_random(np.array([0.1, 0.0, 0.1, 0.1]), np.array([0.4, 0.0, 0.0, -0.1]))
    assert ratio[0] == 0.5
    assert np.isnan(ratio[1:]).all()


def test_areas_of_proxies_are_printed_with_three_decimals():
    proxies = columns_where(kind="proxy")
    latex = to_latex([{"method": "a", "loss": "log", **dict.fromkeys(proxies, 0.91234)}])
    assert re.findall(r"0\.\d+", latex) == ["0.912"] * len(proxies)


def test_what_has_a_unit_has_four_decimals_and_a_share_or_ratio_three():
    ratios = ("n_aurec", "r_aurec", "spearman", "agreement", "coverage", "nauc", "auac")
    others = ("person_parity", "team_coverage", "near_ood", "far_ood")
    counts = {"best": 0, "annotators_min": 0, "annotators_mean": 1, "annotators_max": 0}
    for key, column in COLUMNS.items():
        ratio = key.startswith((*ratios, *others)) and not key.endswith("_error")
        assert column.digits == counts.get(key, 3 if ratio else 4), key
