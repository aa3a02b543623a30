"""rue report: the library's page, from the command line."""

import json
import re

import numpy as np
import pytest

N, K = 30, 3


@pytest.fixture
def world(tmp_path, rng):
    np.save(tmp_path / "counts.npy", rng.multinomial(12, rng.dirichlet(np.ones(K), N)))
    for name in ("one", "two"):
        np.savez(tmp_path / f"{name}.npz", probs=rng.dirichlet(np.ones(K), (N, 4)))
    files = [tmp_path / "one.npz", tmp_path / "two.npz", "--truth", tmp_path / "counts.npy"]
    return tmp_path, files


def test_writes_the_page_and_says_so(world, run):
    folder, files = world
    losses = ["--loss", "log", "--loss", "zero_one"]
    out = folder / "page.html"
    result = run("report", *files, *losses, "--out", out, "--title", "A title", "--format", "json")
    assert result.code == 0, result.err
    told = json.loads(result.out)
    assert told == {
        "out": str(out),
        "bytes": out.stat().st_size,
        "data": ["data"],
        "methods": ["one", "two"],
        "losses": ["log", "zero_one"],
        "n_points": [N],
    }
    page = out.read_text()
    assert "<h1>A title</h1>" in page
    command = f"rue report {files[0]} {files[1]} --truth {files[3]} --loss log --loss zero_one"
    assert command in page.replace("\\u003e", ">")
    line = run("report", *files, "--out", out).out
    size = out.stat().st_size / 1e6
    assert line.strip() == f"{out}: 1 data set, 2 methods, 1 loss, 30 points, {size:.1f} MB"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--out", "page.pdf"], "must be .html"),
        (["--out", "none/page.html"], "there is no folder none"),
        (["--cost", "c.npy"], "--loss cost and --cost FILE need each other"),
        (["--loss", "cost"], "--loss cost and --cost FILE need each other"),
        (["--loss", "hinge"], "loss must be"),
        (["--data", "nothing"], "nothing"),
        (["--items", "nowhere.csv"], "nowhere.csv"),
        (["--items", "items.txt"], "items must be .npz, .csv or .parquet"),
    ],
)
def test_broken_calls_are_one_line(world, run, monkeypatch, arguments, words):
    folder, files = world
    monkeypatch.chdir(folder)
    result = run("report", *files, *arguments)
    assert (result.code, result.out) == (2, "")
    assert len(result.err.strip().splitlines()) == 1
    assert words in result.err
    assert not (folder / "report.html").exists()


def test_a_page_that_cannot_be_written_is_told_before_any_work(world, run):
    folder, _ = world
    for out, words in (("none/page.html", "no folder"), ("page.pdf", "must be .html")):
        assert words in run("report", folder / "no.npz", "--out", folder / out).err


def test_a_folder_has_its_own_truth(run, tmp_path):
    result = run("report", tmp_path, "--truth", "counts.npy")
    assert (result.code, result.out) == (2, "")
    assert "--truth cannot be used with a folder" in result.err
    assert "--seed cannot be used with a folder" in run("report", tmp_path, "--seed", "3").err
    assert "holds no benchmark" in run("report", tmp_path).err


def test_corrected_columns_are_on_the_page_on_request(run, tmp_path, rng):
    counts = rng.multinomial(3, [0.5, 0.3, 0.2], 20)  # with 4 answers they are there by default
    np.savez(tmp_path / "a.npz", probs=rng.dirichlet(np.ones(3), (20, 3)), counts=counts)
    page = tmp_path / "page.html"
    for more in ([], ["--corrected"]):
        assert run("report", tmp_path / "a.npz", "--out", page, *more).code == 0
        numbers = re.findall(r'"n_aurec_corrected":([-.\d]+|null)', page.read_text())
        assert (numbers != ["null"]) == bool(more)
    assert "--corrected" in page.read_text()  # the command that writes it again
