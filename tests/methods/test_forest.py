"""Trees of a random forest: soft labels, settings and draws."""

import dataclasses

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from rue.errors import InputError, ShapeError
from rue.methods import SMALL_IMAGES, Training, forest


def test_with_one_hot_labels_it_is_a_classifier(features):
    """Squared error of one-hot labels is Gini impurity: the same trees as scikit-learn's own."""
    label = features.targets().argmax(axis=1)
    data = dataclasses.replace(features, annotations=None, annotated=label[:0], labels=label)
    fitted = forest.fit(data, forest.Config(n_trees=20))[0]
    train = data.part("train")
    state = fitted.state.trees.random_state
    theirs = RandomForestClassifier(20, min_samples_leaf=5, max_features=2, random_state=state).fit(
        train.inputs, train.labels
    )
    test = features.part("test").inputs
    ours = fitted.predict(test)
    assert ours.n_draws == 20
    expected = np.stack([tree.predict_proba(test) for tree in theirs.estimators_], axis=1)
    # Ties between splits may be broken otherwise, so a few leaves may differ.
    assert (np.abs(ours.probs - expected).max(axis=2) < 1e-9).mean() > 0.98


def test_a_leaf_is_the_mean_of_its_points_distributions(features):
    fitted = forest.fit(features, forest.Config(n_trees=3, min_samples_leaf=20))[0]
    train = features.part("train")
    tree = fitted.state.trees.estimators_[1]
    drawn = fitted.state.trees.estimators_samples_[1]
    leaf_of = tree.apply(train.inputs)
    point = 7
    own = drawn[leaf_of[drawn] == leaf_of[point]]
    expected = train.targets()[own].mean(axis=0)
    np.testing.assert_allclose(fitted.predict(train.inputs[[point]]).probs[0, 1], expected)


def test_the_first_seed_may_choose_for_all(features):
    data = dataclasses.replace(features, validation=features.test[:100])
    training = Training(regime="tuned", tuned_on="first_seed")
    one, two = forest.fit(data, forest.Config(n_trees=3, training=training), seeds=(0, 1))
    assert one.chosen == two.chosen
    plain = forest.Config(n_trees=3, **one.chosen)
    for seed, fitted in enumerate((one, two)):
        twin = forest.fit(data, plain, seeds=(seed,))[0].predict(data.inputs[:9]).probs
        np.testing.assert_array_equal(fitted.predict(data.inputs[:9]).probs, twin)


def test_three_seeds_choose_by_their_mean_loss(features, monkeypatch):
    """None of the three seeds would choose the setting that is best on average."""
    losses = iter([0.0, 0.2, 0.9, 0.9, 0.2, 0.1, 0.3, 0.4, 0.9])
    monkeypatch.setattr(forest, "_TRIALS", [(20, 1.0), (40, 1.0), (60, 1.0)])
    monkeypatch.setattr(forest, "_log_loss", lambda *_: next(losses))
    data = dataclasses.replace(features, validation=features.test[:100])
    training = Training(regime="tuned", tuned_on="three_seeds")
    config = forest.Config(n_trees=2, training=training)
    fitted = forest.fit(data, config, seeds=(0, 1, 2, 3))
    assert [one.chosen["min_samples_leaf"] for one in fitted] == [40] * 4  # sums 1.2, 0.8, 1.9
    assert next(losses, None) is None


def test_tuned_takes_the_best_of_eight(features):
    config = forest.Config(n_trees=5, training=Training(regime="tuned"))
    data = dataclasses.replace(features, validation=features.test[:100])
    fitted = forest.fit(data, config)[0]
    held = data.part("validation")

    def loss(one):
        return -(held.targets() * np.log(one.predict(held.inputs).mean().clip(1e-12))).sum(1).mean()

    others = [
        forest.fit(data, forest.Config(n_trees=5, min_samples_leaf=leaf, max_features=features_))[0]
        for leaf, features_ in forest._TRIALS
    ]
    assert len(others) == 8
    best = min(others, key=loss)
    assert fitted.chosen == best.chosen
    assert loss(fitted) == loss(best)


def test_bad_input_is_refused(features, images):
    with pytest.raises(InputError, match=r"a forest takes matrices .* made has images"):
        forest.fit(images)
    with pytest.raises(InputError, match=r"a forest takes matrices .* small_cnn takes images"):
        forest.Config(training=SMALL_IMAGES)
    for name, value in (("n_trees", 0), ("min_samples_leaf", 0), ("max_features", 0.0)):
        with pytest.raises(InputError, match=name):
            forest.Config(**{name: value})
    fitted = forest.fit(features, forest.Config(n_trees=1))[0]
    with pytest.raises(ShapeError, match=r"shape \(n_points, 6\), got \(2, 5\)"):
        fitted.predict(np.zeros((2, 5)))
