"""The page: whole, self-contained, true to the numbers, and deaf to what names try."""

import re
from dataclasses import replace

import numpy as np
import pytest

from reported import arrays, content
from rue import Components, Run
from rue.errors import FileError, InputError, ShapeError
from rue.inference import calibration_bands
from rue.metrics.second_order import pair_scores
from rue.report import (
    DataCard,
    Items,
    MethodCard,
    Provenance,
    Report,
    ReportEntry,
    page_content,
    render,
    write_report,
)
from rue.report import page as pages

HOSTILE = "<script>alert(1)</script>"


def made(rng, n_points, *, name="method", items=None, runs=1):
    aleatoric, epistemic = rng.gamma(1.0, size=(2, n_points))
    star = Components(aleatoric + epistemic, aleatoric, epistemic)
    each = [
        ReportEntry("data", name, f"loss{i}", {"n_aurec": 0.5}, Run(star, star))
        for i in range(runs)
    ]
    items = items or Items(np.arange(n_points).astype(np.str_))
    return Report(
        name,
        tuple(each),
        (DataCard("data", items),),
        (MethodCard(name, {name: name}),),
        Provenance(name, {}, {name: "0"}),
    )


def test_the_page_holds_the_numbers(report):
    page = render(report)
    read, at = content(page), arrays(page)
    assert len(read["runs"]) == len(report.entries) == 6
    for entry, row in zip(report.entries, read["runs"], strict=True):
        run = entry.run
        np.testing.assert_array_equal(at(row["points"]["total"]), run.star.total)
        np.testing.assert_array_equal(at(row["points"]["epistemic"]), run.star.epistemic)
        hat = run.hat.epistemic.astype(np.float32)
        np.testing.assert_array_equal(at(row["points"]["epistemicHat"]), hat)
        assert row["row"] == dict(entry.row)
        ends = at(row["curves"]["regret_epistemic"]).reshape(-1, 2)[-1]
        assert ends == pytest.approx([1, entry.row["regret"]], rel=1e-6)


def test_the_page_has_the_reliability_diagram(report):
    page = render(report)
    read, at = content(page), arrays(page)
    n_outside = 0
    for entry, row in zip(report.entries, read["runs"], strict=True):
        if entry.run.hat.outside_score:
            assert "has no unit" in row["calibration"]["missing"]
            n_outside += 1
            continue
        bands = calibration_bands(entry.run.star.epistemic, entry.run.hat.epistemic)
        bins = at(row["calibration"]["bins"]).reshape(-1, 5).T
        curve = bands.curve
        wanted = [curve.estimated, curve.realised, bands.low, bands.high, curve.count]
        np.testing.assert_allclose(bins, wanted, rtol=1e-6)
        assert row["calibration"]["gap"] == pytest.approx(entry.row["regret_calibration"])
    assert 0 < n_outside < len(report.entries)


def test_the_page_has_the_agreement_of_annotators(report):
    page = render(report)
    read, at = content(page), arrays(page)
    for entry, row in zip(report.entries, read["runs"], strict=True):
        scores = pair_scores(entry.run.annotations, entry.run.belief)
        bands = calibration_bands(scores.agreement_star, scores.agreement_hat)
        bins = at(row["agreement"]["bins"]).reshape(-1, 5).T
        np.testing.assert_allclose(bins[:2], [bands.curve.estimated, bands.curve.realised], 1e-6)
        assert row["agreement"]["observed"] == pytest.approx(entry.row["agreement_star"])
    entry = report.entries[0]
    run = replace(entry.run, star=replace(entry.run.star, n_annotators=np.ones(len(entry.run))))
    row = content(render(replace(report, entries=(replace(entry, run=run),))))["runs"][0]
    assert "points have one answer" in row["agreement"]["missing"]
    components = replace(entry, run=replace(run, belief=None))
    row = content(render(replace(report, entries=(components,))))["runs"][0]
    assert "agreement" not in row


def test_the_band_resamples_clusters_if_intervals_do(rng):
    report = made(rng, 80)
    patient = np.arange(80) // 8
    run = replace(report.entries[0].run, groups={"patient": patient})
    entry = replace(report.entries[0], run=run, cluster="patient", level=0.8)
    page = render(replace(report, entries=(entry,)))
    found = content(page)["runs"][0]["calibration"]
    assert (found["resampled"], found["level"]) == ("the clusters of patient", 0.8)
    star = run.star.epistemic
    bands = calibration_bands(star, star, level=0.8, cluster=patient)
    bins = arrays(page)(found["bins"]).reshape(-1, 5)
    np.testing.assert_allclose(bins[:, 2], bands.low, rtol=1e-6)


def test_the_page_fetches_nothing(report):
    page = render(report)
    links = re.findall(r"(?:https?:)?//[\w.]+", page.replace("http://www.w3.org/2000/svg", ""))
    assert not [link for link in links if "." in link]
    assert "default-src 'none'" in page
    assert not re.search(r"\b(?:fetch|XMLHttpRequest|WebSocket|import)\s*\(", page)


def test_the_same_report_is_the_same_page(report):
    assert render(report) == render(report)


@pytest.mark.parametrize("name", [HOSTILE, "a & b", '"><img src=x onerror=alert(1)>', "{{script}}"])
def test_names_and_texts_are_only_text(rng, name):
    items = Items(np.array([name] * 3), texts=(name,) * 3)
    plain, page = render(made(rng, 3)), render(made(rng, 3, name=name, items=items))
    assert page.count("<script") == plain.count("<script") == 3
    assert page.count("</script") == 3
    assert "<img" not in page
    assert page.count("<h1>") == 1
    read = content(page)
    assert read["methods"][0]["name"] == read["data"][0]["texts"][0] == name


def test_odd_numbers_and_letters_are_written(rng):
    report = made(rng, 3, name="lone \udcff surrogate")
    row = {"n_aurec": float("nan"), "aurec": np.float64(0.25), "pareto_gap": float("inf")}
    read = content(render(replace(report, entries=(replace(report.entries[0], row=row),))))
    assert read["runs"][0]["row"] == {"n_aurec": None, "aurec": 0.25, "pareto_gap": None}


def test_a_title_that_cannot_be_written_is_written_as_far_as_it_can(rng, tmp_path):
    write_report(made(rng, 3, name="lone \udcff surrogate"), tmp_path / "a.html")
    assert "<h1>lone ? surrogate</h1>" in (tmp_path / "a.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("scale", [1e-300, 1e-60, 1e9, 1e60])
def test_numbers_beyond_single_precision_are_kept(rng, scale):
    report = made(rng, 5)
    star = report.entries[0].run.star
    far = Components(star.total * scale, star.aleatoric * scale, star.epistemic * scale)
    page = render(replace(report, entries=(replace(report.entries[0], run=Run(far, far)),)))
    run, at = content(page)["runs"][0], arrays(page)
    np.testing.assert_allclose(at(run["points"]["epistemicHat"]), far.epistemic, rtol=1e-6)
    ends = at(run["curves"]["risk_total"]).reshape(-1, 2)[-1]
    np.testing.assert_allclose(ends, [1, far.total.mean()], rtol=1e-6)


def test_many_points_are_thinned_and_the_page_says_so(rng):
    n_points = 21_000
    report = made(rng, n_points)
    page = render(report)
    card, at = content(page)["data"][0], arrays(page)
    assert (card["nPoints"], card["nShown"]) == (n_points, 20_000)
    rows = np.array(card["ids"]).astype(int)
    assert (np.diff(rows) > 0).all()
    total = at(content(page)["runs"][0]["points"]["total"])
    np.testing.assert_array_equal(total, report.entries[0].run.star.total[rows])
    assert "a random ${count(card.nShown)} of" in page


def test_long_texts_are_cut(rng):
    items = Items(np.array(["0", "1"]), texts=("x" * 1000, "short"))
    texts = content(render(made(rng, 2, items=items)))["data"][0]["texts"]
    assert texts == ["x" * 279 + "…", "short"]


@pytest.mark.parametrize("shape", [(8, 6, 3), (8, 6, 1), (8, 6)])
def test_images_are_one_sheet(rng, shape):
    images = tuple(rng.integers(0, 256, shape, dtype=np.uint8) for _ in range(5))
    items = Items(np.arange(9).astype(np.str_), images=images, pictured=(8, 1, 4, 3, 0))
    sprite = content(render(made(rng, 9, items=items)))["data"][0]["sprite"]
    assert sprite["rows"] == [8, 1, 4, 3, 0]
    assert sprite["columns"] == 3
    assert sprite["address"].startswith("data:image/jpeg;base64,")


@pytest.mark.parametrize("sort", ["ids", "texts", "images"])
def test_a_page_holds_less_until_it_fits(rng, monkeypatch, sort):
    """It is bytes that count: a letter may have four."""
    n_points, bare = 600, len(render(made(rng, 1)).encode())
    ids, texts, images, pictured = np.arange(n_points).astype(np.str_), None, (), ()
    if sort == "ids":
        ids = np.array([f"{i:0>400}" for i in range(n_points)])
    elif sort == "texts":
        texts = ("\U0001f33f" * 100,) * n_points
    else:
        images = tuple(rng.integers(0, 256, (n_points, 8, 8, 3), dtype=np.uint8))
        pictured = tuple(range(n_points))
        monkeypatch.setattr(page_content, "PICTURED", n_points)
    report = made(rng, n_points, items=Items(ids, texts, images, pictured))
    whole = len(render(report).encode())
    monkeypatch.setattr(pages, "LIMIT", (whole + bare) // 2)
    monkeypatch.setattr(page_content, "_POINTS", n_points)
    page = render(report)
    assert len(page.encode()) < pages.LIMIT
    card = content(page)["data"][0]
    assert card["nPoints"] == n_points > card["nShown"] == len(card["ids"])
    assert card["nShown"] >= n_points // 8


def test_a_page_that_would_be_too_large_is_refused(rng, monkeypatch):
    monkeypatch.setattr(pages, "LIMIT", 1000)
    with pytest.raises(FileError, match="smaller than 1,000 bytes"):
        render(made(rng, 3))


def test_write_report_is_whole_or_not_at_all(rng, tmp_path):
    report = made(rng, 3)
    assert write_report(report, tmp_path / "a.html") == (tmp_path / "a.html").stat().st_size
    with pytest.raises(FileError, match=r"must be \.html, got '\.pdf'"):
        write_report(report, tmp_path / "a.pdf")
    with pytest.raises(FileError, match="cannot be written"):
        write_report(report, tmp_path / "none" / "a.html")


def test_a_report_must_be_of_one_piece(rng):
    report = made(rng, 3)
    entry = report.entries[0]
    for entries, error, words in (
        ((), InputError, "at least one entry"),
        ((replace(entry, method="other"),), InputError, "no card"),
        ((replace(entry, run=entry.run[:2]),), ShapeError, "the 3 points of data"),
        ((replace(entry, correct=np.ones(2)),), ShapeError, "the 3 points of data, got 2"),
    ):
        with pytest.raises(error, match=words):
            replace(report, entries=entries)
    with pytest.raises(ShapeError, match="texts must have 2"):
        Items(np.array(["0", "1"]), texts=("a",))
    with pytest.raises(ShapeError, match="images must have 1"):
        Items(np.array(["0", "1"]), pictured=(0,))
