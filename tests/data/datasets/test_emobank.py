"""EmoBank: the repository's files in a folder or its zip, real ones and broken ones."""

import zipfile

import numpy as np
import pytest

import rue.data
from rue.data.datasets import emobank
from rue.errors import FileError, InputError

FILES = {
    "emobank.csv": 'id,split,V,A,D,text\na_1,train,3,3,3,One.\na_2,dev,3,3,3,"Two, too."\n'
    "SemEval_1,test,3,3,3,Three\nSemEval_2,train,3,3,3,Four\n",
    "raw.csv": '"id","text"\n"a_1","One."\n"a_2","Two, too."\n"b_1","None."\n'
    '"SemEval_1","Three"\n"SemEval_2","Four"\n',
    "meta.tsv": "id\tdocument\tcategory\na_1\ta\tblog\na_2\ta\tblog\nb_1\tb\tblog\n"
    "SemEval_1\tSemEval\t \nSemEval_2\tSemEval\t \n",
    "individual_reader_ratings.csv": "id,V,A,D\na_1,1,2,3\na_1,5,4,3\na_2,3,3,3\nb_1,2,2,2\n"
    "SemEval_1,4,4,4\nSemEval_2,4,4,5\nSemEval_2,1,1,1\n",
    "individual_writer_ratings.csv": "id,V,A,D\na_1,1,1,1\na_1,5,5,4\na_2,2,1,1\nb_1,1,1,1\n"
    "SemEval_1,4,4,4\nSemEval_2,4,4,5\n",
}


def write(root, *, folder="emobank", kind="folder", **changes):
    files = FILES | {name.replace("__", "."): text for name, text in changes.items()}
    if kind == "zip":
        with zipfile.ZipFile(root / "EmoBank-master.zip", "w") as archive:
            for name, text in files.items():
                archive.writestr(f"EmoBank-master/corpus/{name}", text)
        return root
    (root / folder).mkdir(parents=True)
    for name, text in files.items():
        (root / folder / name).write_text(text)
    return root


def load(root, name="emobank-valence", **options):
    return rue.data.load(name, root, verify=False, **options)


@pytest.mark.parametrize(
    "layout",
    [
        *({"folder": folder} for folder in ("emobank", "emobank/corpus", "EmoBank-master/corpus")),
        {"kind": "zip"},
    ],
)
def test_layout(tmp_path, layout):
    data = load(write(tmp_path, **layout))
    assert data.ids.tolist() == ["a_1", "a_2", "b_1", "SemEval_1", "SemEval_2"]
    assert data.inputs.tolist() == ["One.", "Two, too.", "None.", "Three", "Four"]
    # a_1: 1 and 5 of readers, 5 of writers; what is 1, 1, 1 does not count.
    assert data.annotations.counts.tolist() == [
        [1, 0, 0, 0, 2],
        [0, 1, 1, 0, 0],
        [0, 1, 0, 0, 0],
        [0, 0, 0, 2, 0],
        [0, 0, 0, 2, 0],
    ]
    assert data.values.tolist() == [1, 2, 3, 4, 5]
    splits = (data.train.tolist(), data.validation.tolist(), data.test.tolist())
    assert splits == ([0, 4], [1], [3])
    assert data.extras["document"].tolist() == ["a", "a", "b", "SemEval_1", "SemEval_2"]
    assert data.notes == (
        "3 answers of 1, 1, 1 set aside: nothing to rate",
        "1 sentence in no part of the official split",
        "1 document in more than one part of the official split",
    )


FIRST = {  # the answers about a_1
    "emobank-valence": [1, 0, 0, 0, 2],
    "emobank-arousal": [0, 1, 0, 1, 1],
    "emobank-dominance": [0, 0, 2, 1, 0],
}


@pytest.mark.parametrize(("name", "first"), list(FIRST.items()))
def test_dimensions(tmp_path, name, first):
    assert load(write(tmp_path), name).annotations.counts[0].tolist() == first


def test_perspectives(tmp_path):
    write(tmp_path)
    readers, writers = (load(tmp_path, perspective=who) for who in ("readers", "writers"))
    assert readers.annotations.counts[0].tolist() == [1, 0, 0, 0, 1]
    assert writers.annotations.counts[0].tolist() == [0, 0, 0, 0, 1]
    assert writers.annotated.tolist() == [0, 1, 3, 4]  # b_1 is kept, without an answer
    assert len(writers) == 5
    assert "1 sentence left without an answer" in writers.notes
    both = load(tmp_path).annotations.counts
    assert both.sum() == readers.annotations.counts.sum() + writers.annotations.counts.sum()
    with pytest.raises(InputError, match="perspective must be one of both, readers, writers, got"):
        load(tmp_path, perspective="all")


def test_folds_by_document(tmp_path):
    write(tmp_path)
    parts = []
    for seed in range(5):
        data = load(tmp_path, folds="document", seed=seed)
        splits = [set(split.tolist()) for split in (data.train, data.validation, data.test)]
        assert any({0, 1} <= rows for rows in splits)  # one document
        assert set().union(*splits) == set(range(5))
        parts.append(splits[2])
    assert set().union(*parts) == set(range(5))  # over five seeds every point tests
    assert data.notes == ("3 answers of 1, 1, 1 set aside: nothing to rate",)
    with pytest.raises(InputError, match="folds must be one of official, document, got 'mine'"):
        load(tmp_path, folds="mine")


def test_texts_become_features(tmp_path):
    raw = "id,text\n" + "".join(
        f"{name},good {'day' if n % 2 else 'sun'} {'rain' * n}\n"
        for n, name in enumerate(("a_1", "a_2", "b_1", "SemEval_1", "SemEval_2"))
    )
    data = rue.data.featurize(load(write(tmp_path, raw__csv=raw), folds="document"))
    assert (data.task, len(data.inputs)) == ("features", 5)


BAD = {
    "an unknown id in the split": ("emobank__csv", "id,split\nx,train\n", "1 id without a text"),
    "an unknown part": ("emobank__csv", "id,split\na_1,mine\n", "must be one of train, dev, test"),
    "no document": ("meta__tsv", "id\tdocument\na_1\ta\n", "meta.tsv lacks 4 ids, first a_2"),
    "a twin": ("raw__csv", "id,text\na,b\na,c\n", "line 3 must have an id of its own, got 'a'"),
    "no id": ("raw__csv", "id,text\n,b\n", "line 2 must have an id of its own, got ''"),
    "a column": ("raw__csv", "id;text\n", "needs the columns id, text, found id;text"),
    "a rating": (
        "individual_reader_ratings__csv",
        "id,V,A,D\na_1,1,6,3\n",
        r"line 2: ratings must be 1 to 5, got \['1', '6', '3'\]",
    ),
    "a fraction": (
        "individual_writer_ratings__csv",
        "id,V,A,D\na_1,2.5,2,3\n",
        "line 2: ratings must be 1 to 5",
    ),
    "a stranger": (
        "individual_reader_ratings__csv",
        "id,V,A,D\nx,1,2,3\n",
        "line 2 rates 'x', which has no text",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_broken_files_are_refused_in_one_line(tmp_path, case):
    name, text, message = BAD[case]
    with pytest.raises(FileError, match=message) as caught:
        load(write(tmp_path, **{name: text}))
    assert "\n" not in str(caught.value)


def test_fetch(tmp_path, server, monkeypatch):
    digest = {
        name: rue.data.files.content_digest(name, text.encode()) for name, text in FILES.items()
    }
    server.files |= {f"/{name}": text.encode() for name, text in FILES.items()}
    fetch = rue.data.entry.fetch_urls(
        {f"emobank/{name}": (f"{server.url}/{name}",) for name in FILES},
        {f"emobank/{name}": value for name, value in digest.items()},
    )
    fetch(tmp_path, False)
    assert load(tmp_path).annotations.n_points == 5
    assert set(emobank._FILES) == set(FILES)


def test_real(real):
    data = rue.data.load("emobank-valence", real)
    assert (data.annotations.n_points, len(data)) == (10_548, 10_548)
    assert data.notes == (
        "9,939 answers of 1, 1, 1 set aside: nothing to rate",
        "486 sentences in no part of the official split",
        "125 documents in more than one part of the official split",
    )
    # The means that the authors publish, rounded to two digits, are those of these answers.
    lines = (real / "emobank/emobank.csv").read_text(encoding="utf-8").splitlines()[1:]
    published = {line.split(",")[0]: float(line.split(",")[2]) for line in lines}
    means = dict(zip(data.ids.tolist(), data.annotations.probs @ data.values, strict=True))
    gaps = [abs(means[name] - value) for name, value in published.items()]
    assert max(gaps) < 0.0067
    assert np.mean(np.array(gaps) <= 0.005 + 1e-9) > 0.99
