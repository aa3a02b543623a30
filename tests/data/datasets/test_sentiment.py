"""The sentiment sets: real ones from pip, and small ones with every oddity."""

import io
import json
import re
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

import rue.data
from rue.data.datasets import sentiment as module
from rue.data.datasets.sentiment import SDIST, parse
from rue.errors import FileError

DOCS = Path(__file__).parents[3] / "docs"
DOMAINS = ("movies", "tweets", "nyt", "amazon")


# What is in the sdist, pinned: points, raters, and how often -4, ..., 4 was said.
RATINGS = {
    "movies": [6231, 20690, 36968, 29308, 9968, 30382, 39752, 21316, 4195],
    "tweets": [2584, 6912, 13060, 17309, 32822, 27866, 24012, 13089, 3009],
    "nyt": [276, 2560, 10038, 20527, 46147, 15751, 6670, 1680, 151],
    "amazon": [744, 3048, 8347, 12612, 14226, 11689, 13822, 8242, 1430],
}


@pytest.mark.parametrize("domain", DOMAINS)
def test_real(sentiment, domain):
    data = rue.data.load(f"sentiment-{domain}", sentiment)
    entry = rue.data.ENTRIES[data.name]
    n = data.annotations.n_annotators
    assert (len(data), data.n_classes) == (entry.n_points, 9)
    assert (n.min(), n.mean(), n.max()) == entry.annotators
    assert data.annotations.counts.sum(axis=0).tolist() == RATINGS[domain]
    assert data.values.tolist() == [-4, -3, -2, -1, 0, 1, 2, 3, 4]
    assert data.annotations.values.tolist() == data.values.tolist()
    assert {s: len(getattr(data, s)) for s in entry.splits} == entry.splits
    assert data.checksums == entry.checksums
    assert all(text.strip() for text in data.inputs)


def test_real_movies(sentiment):
    data = rue.data.load("sentiment-movies", sentiment)
    assert data.annotations.counts.shape == (10_605, 9)
    assert (data.annotations.n_annotators.min(), data.annotations.n_annotators.max()) == (15, 29)
    # The first line of the two files: [3, 2, 2, 2, 0, 4, 3, 1, 2, 2, 4, 3, 3, 1, 2]
    assert data.inputs[0].startswith("The Rock is destined to be the 21st Century's new")
    assert data.annotations.counts[0].tolist() == [0, 0, 0, 0, 1, 2, 6, 4, 2]
    assert "Touché!" in data.inputs


def test_real_tweets_whose_mean_is_another_are_left_out(sentiment):
    data = rue.data.load("sentiment-tweets", sentiment)
    assert data.notes == ("199 left out: the stored mean is not that of the ratings",)
    assert len(data) == 4200 - 199
    assert "1" in data.ids
    assert "2" not in data.ids


def test_real_amazon_has_a_byte_order_mark_and_another_order(sentiment):
    data = rue.data.load("sentiment-amazon", sentiment)
    assert data.ids[0] == "1_1"
    row = data.ids.tolist().index("263_3")  # not where it is in the other file
    assert data.inputs[row] == "it is an extremely cool gizmo."
    assert data.annotations.probs[row] @ data.values > 1


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("seed", [0, 7])
def test_real_splits_keep_documents_and_equal_texts_together(sentiment, domain, seed):
    data = rue.data.load(f"sentiment-{domain}", sentiment, seed=seed)
    parts = [getattr(data, split) for split in ("train", "validation", "test")]
    assert sorted(np.concatenate(parts)) == list(range(len(data)))
    grouped = "_" in data.ids[0]
    names = [i.split("_")[0] for i in data.ids] if grouped else data.inputs
    sets = [{names[i] for i in part} for part in parts]
    assert sum(map(len, sets)) == len(set(names))
    again = rue.data.load(f"sentiment-{domain}", sentiment, seed=seed)
    assert (again.test == data.test).all()


def test_real_amazon_has_texts_that_two_documents_share(sentiment):
    data = rue.data.load("sentiment-amazon", sentiment)
    documents = {}
    for name, text in zip(data.ids, data.inputs, strict=True):
        documents.setdefault(text, set()).add(name.split("_")[0])
    shared = sum(len(documents[text]) > 1 for text in data.inputs)
    assert f"{shared} snippets of `amazon`" in (DOCS / "data.md").read_text()


def test_real_from_the_sdist_is_as_from_parquet(sentiment, tmp_path):
    (tmp_path / "sentiment").mkdir()
    (tmp_path / SDIST).symlink_to(sentiment / SDIST)
    for domain in DOMAINS:
        kept = rue.data.load(f"sentiment-{domain}", sentiment)
        parsed = rue.data.load(f"sentiment-{domain}", tmp_path)
        assert (kept.inputs == parsed.inputs).all()
        assert (kept.annotations.counts == parsed.annotations.counts).all()
        assert (kept.test == parsed.test).all()
        assert (kept.notes, kept.checksums) == (parsed.notes, parsed.checksums)


def test_broken_parquet_is_passed_over(sentiment, tmp_path):
    (tmp_path / "sentiment").mkdir()
    (tmp_path / SDIST).symlink_to(sentiment / SDIST)
    (tmp_path / "sentiment/nyt.parquet").write_bytes(b"half of it")
    assert len(rue.data.load("sentiment-nyt", tmp_path)) == 5190


def test_parquet_that_says_something_else_is_passed_over_and_remade(sentiment, tmp_path):
    import pyarrow.parquet as pq

    (tmp_path / "sentiment").mkdir()
    good = pq.read_table(sentiment / "sentiment/nyt.parquet")
    path = tmp_path / "sentiment/nyt.parquet"
    other = good.set_column(1, "text", good.column("text").take(list(range(len(good)))[::-1]))
    for table in (other, good.drop_columns("counts"), good.replace_schema_metadata({})):
        pq.write_table(table, path)
        with pytest.raises(FileError, match=r"nyt\.parquet is damaged or old: run `rue data fetch"):
            rue.data.load("sentiment-nyt", tmp_path)
    (tmp_path / SDIST).symlink_to(sentiment / SDIST)
    assert rue.data.load("sentiment-nyt", tmp_path).inputs[0] == good.column("text")[0].as_py()
    rue.data.fetch("sentiment-nyt", tmp_path)
    assert pq.read_table(path).equals(good, check_metadata=True)


def test_fetched_twice_changes_nothing(sentiment):
    path = sentiment / "sentiment/movies.parquet"
    before = path.stat().st_mtime_ns
    rue.data.fetch("sentiment-tweets", sentiment)
    assert path.stat().st_mtime_ns == before


def test_another_sdist_is_refused(tmp_path):
    (tmp_path / "sentiment").mkdir()
    (tmp_path / SDIST).write_bytes(sdist(["1\t0.0\tfair"], ["1\t0.0\t1.0\t[0]"]))
    with pytest.raises(FileError, match="is not the published file"):
        rue.data.load("sentiment-movies", tmp_path)
    data = rue.data.load("sentiment-movies", tmp_path, verify=False)
    assert data.inputs.tolist() == ["fair"]


def test_the_checksum_of_an_sdist_is_looked_at_before_it_is_read(tmp_path):
    (tmp_path / "sentiment").mkdir()
    broken = sdist(["1\t0.0\tfair"], ["1\t0.0\t1.0\t[0]"], mark=b"\xff")
    (tmp_path / SDIST).write_bytes(broken)
    with pytest.raises(FileError, match=r"is not the published file: .* `rue data fetch"):
        rue.data.load("sentiment-movies", tmp_path)
    with pytest.raises(FileError, match=r"Ratings\.txt must be UTF-8: .* at byte 0"):
        rue.data.load("sentiment-movies", tmp_path, verify=False)


def test_a_damaged_sdist_in_the_cache_is_fetched_again(tmp_path, monkeypatch):
    """As docs/data.md promises; pip is stood in for by a file."""
    monkeypatch.delenv("RUE_DATA", raising=False)
    monkeypatch.setattr("rue.data.files.cache_folder", lambda: tmp_path)
    (tmp_path / "sentiment").mkdir()
    (tmp_path / SDIST).write_bytes(sdist(["1\t0.0\tfair"], ["1\t0.0\t1.0\t[0]"], mark=b"\xff"))
    good = sdist(["1\t0.0\tfair"], ["1\t0.0\t1.0\t[0]"])
    asked = []

    def pip_download(requirement, sha256, target):
        asked.append(requirement)
        target.write_bytes(good)
        return target

    monkeypatch.setattr(module, "pip_download", pip_download)
    with pytest.raises(FileError, match=r"tar\.gz has no"):  # the made one has one domain only
        rue.data.fetch("sentiment-movies")
    assert asked == ["vaderSentiment==0.5"]


@pytest.mark.parametrize(
    ("truth", "ratings", "why"),
    [
        ("1\tx\tfair", "1\t0\t0\t[0]", "the mean of 1 must be a number, got 'x'"),
        ("1\t0\tfair", "1\t0\t0\t[2.5]", "ratings of 1 must be from -4 to 4, got [2.5]"),
        ("1\t0\tfair", "1\t0\t0\t{}", "ratings of 1 must be"),
        ("1\t0\tfair", "1\t0\t0\t[[0]]", "ratings of 1 must be"),
        ("1\t0\tfair", "1\t0\t0\t[1e400]", "ratings of 1 must be"),
        ("1\t0\tfair", "1\t0\t0\t" + "[" * 100_000, "ratings of 1 must be"),
    ],
)
def test_odd_lines_are_named(truth, ratings, why):
    with pytest.raises(FileError, match=re.escape(why)):
        parse(sdist([truth], [ratings]), "movies")


def test_not_here():
    with pytest.raises(FileError, match="run `rue data fetch sentiment-nyt`"):
        rue.data.load("sentiment-nyt")


def sdist(truth, ratings, *, domain="movies", end="\r\n", mark=b""):
    """Build the sdist's layout with a domain's two files."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz") as archive:
        for part, lines in (("GroundTruth", truth), ("anonDataRatings", ratings)):
            content = mark + end.join(lines).encode()
            info = tarfile.TarInfo(f"hutto_ICWSM_2014/{module._STEMS[domain]}_{part}.txt")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(module._TAR, tar.getvalue())
    return content.getvalue()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_oddities(end, mark):
    truth = [
        "1\t1.5\tnot bad, ça va\x85 really",  # \x85 ends no line
        "2\t0.5\tits mean is another",  # (-4 + 4) / 2 = 0
        "3\t0.0\t  ",
        "5\t-4.0\tawful",
        "",
    ]
    ratings = ["5\t-4\t0\t[-4]", "3\t0\t0\t[0, 0]", "2\t0\t4\t[-4, 4]", "1\t1.5\t1\t[1, 2]"]
    table = parse(sdist(truth, ratings, end=end, mark=mark), "movies")
    assert table.column("id").to_pylist() == ["1", "5"]
    assert table.column("text").to_pylist() == ["not bad, ça va\x85 really", "awful"]
    assert table.column("counts").to_pylist() == [
        [0, 0, 0, 0, 0, 1, 1, 0, 0],
        [1, 0, 0, 0, 0, 0, 0, 0, 0],
    ]
    assert json.loads(table.schema.metadata[b"notes"]) == [
        "1 left out: the stored mean is not that of the ratings",
        "1 left out: no text",
    ]


@pytest.mark.parametrize(
    ("truth", "ratings", "message"),
    [
        (["1\t0.0"], ["1\t0\t0\t[0]"], "line 1 has 2 columns, not 3"),
        (["1\t0.0\ta", "2\t0.0\tb"], ["1\t0\t0\t[0]"], "no ratings of 1 snippets, first 2"),
        (["1\t0.0\ta"], ["1\t0\t0\t[5]"], r"ratings of 1 must be from -4 to 4, got \[5\]"),
        (["1\t0.0\ta"], ["1\t0\t0\t[]"], "ratings of 1 must be"),
        (["1\t0.0\ta"], ["1\t0\t0\tnone"], "ratings of 1 must be"),
    ],
)
def test_bad_files(truth, ratings, message):
    with pytest.raises(FileError, match=message):
        parse(sdist(truth, ratings), "movies")
