"""Which OOD sets there are, and that features come from one featurizer of the training split."""

from dataclasses import replace

import numpy as np
import pytest

import rue.data
from rue.data import add_ood, featurize, ood_groups
from rue.errors import FileError, InputError

DOMAINS = ("movies", "tweets", "nyt", "amazon")


def test_groups_are_openoods():
    for name in ("cifar10h", "cifar10h-features"):
        groups = ood_groups(name)
        assert groups == {
            "near": ("cifar100", "tin"),
            "far": ("mnist", "svhn", "texture", "places365"),
        }
        for names in groups.values():
            assert all(f"openood-{one}" in rue.data.ENTRIES for one in names)
    assert sum(name.startswith("openood-") for name in rue.data.ENTRIES) == 6


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_other_domains_of_sentiment_are_near(domain):
    others = tuple(f"sentiment-{other}" for other in DOMAINS if other != domain)
    assert ood_groups(f"sentiment-{domain}") == {"near": others}


def test_a_data_set_without_ood_sets():
    assert ood_groups("random-rbf") == {}
    with pytest.raises(InputError, match="random-rbf has no OOD sets"):
        add_ood(rue.data.load("random-rbf", n_points=50))
    with pytest.raises(InputError, match="name must be one of"):
        ood_groups("mnist")


def test_other_domains_pass_through_the_featurizer_of_the_training_split(sentiment):
    tweets = rue.data.load("sentiment-tweets", sentiment, seed=1)
    data = add_ood(tweets, sentiment, seed=1, n_components=20)
    assert list(data.ood) == list(ood_groups("sentiment-tweets")["near"])
    assert data.task == "features"
    assert (data.inputs == featurize(tweets, n_components=20, seed=1).inputs).all()
    # A text of another domain has the features it would have among the test texts of this one.
    nyt = rue.data.load("sentiment-nyt", sentiment, split="test", seed=1)
    assert data.ood["sentiment-nyt"].shape == (len(nyt), 20)
    texts = tweets.inputs.copy()
    texts[tweets.test[:50]] = nyt.inputs[:50]
    moved = featurize(replace(tweets, inputs=texts), n_components=20, seed=1)
    np.testing.assert_allclose(
        moved.inputs[tweets.test[:50]], data.ood["sentiment-nyt"][:50], rtol=1e-4, atol=1e-5
    )


def test_images_get_openoods_sets_that_are_here(real):
    data = rue.data.load("cifar10h", real, train_batches=[])
    found = add_ood(data, real)
    assert list(found.ood) == ["tin", "mnist", "texture"]
    for images in found.ood.values():
        assert images.shape == (800, 32, 32, 3)
    assert add_ood(found, real) is found
    with pytest.raises(InputError, match="no option 'encoder'"):
        add_ood(data, real, encoder="sentence")


def test_features_come_with_their_ood_sets(real):
    data = rue.data.load("cifar10h-features", real)
    assert add_ood(data, real) is data
    assert set(data.ood) == {"tin", "texture", "mnist"}
    assert set(data.ood) < {name for group in ood_groups(data.name).values() for name in group}
    with pytest.raises(InputError, match="as features cannot be joined"):
        add_ood(replace(data, ood={}), real)


def test_no_ood_set_is_here(real, tmp_path):
    data = rue.data.load("cifar10h", real, train_batches=[])
    with pytest.raises(
        FileError, match="none of OpenOOD's sets for cifar10h is on this machine: cifar100"
    ):
        add_ood(data, tmp_path)


def test_the_groups_of_imagenet_are_openoods():
    assert ood_groups("imagenet") == {
        "near": ("ssb_hard", "ninco"),
        "far": ("inaturalist", "textures", "openimage_o"),
    }
