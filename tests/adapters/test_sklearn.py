"""scikit-learn's own averages are the means of our draws, whatever the members have seen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import rue
from rue.adapters.sklearn import draws, scorer
from rue.errors import InputError, ShapeError

NAMES = np.array(["ant", "bee", "cat", "dog"])


@pytest.fixture
def points(rng):
    X = rng.normal(size=(60, 5))
    y = NAMES[np.digitize(X[:, 0] + 0.3 * rng.normal(size=60), [-1.2, 0, 1.2])]
    return X, y


ENSEMBLES = {
    "forest": RandomForestClassifier(7, max_depth=3, random_state=0),
    "extra": ExtraTreesClassifier(7, max_depth=3, random_state=0),
    "bagging": BaggingClassifier(
        DecisionTreeClassifier(max_depth=3),
        n_estimators=7,
        max_features=0.6,
        max_samples=0.5,
        random_state=0,
    ),
    "voting": VotingClassifier([("nb", GaussianNB()), ("lr", LogisticRegression())], voting="soft"),
    "pipeline": make_pipeline(StandardScaler(), RandomForestClassifier(7, random_state=0)),
}


@pytest.mark.parametrize("name", ENSEMBLES)
def test_the_mean_of_the_draws_is_scikit_learns_own_answer(name, points):
    X, y = points
    model = ENSEMBLES[name].fit(X, y)
    belief = draws(model, X)
    assert isinstance(belief, rue.Draws)
    assert belief.n_draws == (2 if name == "voting" else 7)
    np.testing.assert_allclose(belief.mean(), model.predict_proba(X), atol=1e-12)


def test_bagging_of_few_points_has_members_that_miss_a_class(points):
    X, y = points
    # Neighbours take no weights, so that members see the points drawn for them and no others.
    model = BaggingClassifier(KNeighborsClassifier(1), max_samples=5, random_state=0).fit(X, y)
    np.testing.assert_allclose(draws(model, X).mean(), model.predict_proba(X), atol=1e-12)
    assert min(len(member.classes_) for member in model.estimators_) < 4  # or nothing is tested
    missing = next(i for i, m in enumerate(model.estimators_) if len(m.classes_) < 4)
    absent = np.setdiff1d(np.arange(4), model.estimators_[missing].classes_)
    assert (draws(model, X).probs[:, missing, absent] == 0).all()


def test_members_are_aligned_by_name_by_hand():
    """One has seen bee and dog, one ant and bee: a column each in the order asked for."""
    one = DummyClassifier().fit([[0]] * 4, ["bee", "dog", "dog", "dog"])
    two = DummyClassifier().fit([[0]] * 2, ["ant", "bee"])
    belief = draws([one, two], [[0]])
    assert belief.probs.tolist() == [[[0, 0.25, 0.75], [0.5, 0.5, 0]]]
    for cat in ("cat", 3, None):
        belief = draws([one, two], [[0]], classes=["dog", cat, "bee", "ant"])
        assert belief.probs.tolist() == [[[0.75, 0, 0.25, 0], [0, 0, 0.5, 0.5]]]


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=6), min_size=1, max_size=4))
def test_any_list_of_classifiers_against_a_naive_twin(labels):
    members = [DummyClassifier().fit([[0]] * len(y), y) for y in labels]
    probs = draws(members, [[0], [1]], classes=range(5)).probs
    for draw, y in enumerate(labels):
        for k in range(5):
            assert probs[0, draw, k] == probs[1, draw, k] == y.count(k) / len(y)


def test_sparse_inputs_and_frames(points):
    pandas = pytest.importorskip("pandas")
    X, y = points
    frame = pandas.DataFrame(X, columns=list("abcde"))
    model = ENSEMBLES["forest"].fit(frame, y)
    np.testing.assert_array_equal(draws(model, frame).mean(), model.predict_proba(frame))
    with pytest.raises(ValueError, match="feature names"):
        draws(model, frame[list("edcba")])
    model = ENSEMBLES["bagging"].fit(X, y)
    np.testing.assert_array_equal(draws(model, csr_matrix(X)).probs, draws(model, X).probs)


def test_it_is_public(points):
    X, y = points
    assert rue.adapters.sklearn.draws is draws
    people = rue.Annotations((y[:, None] == NAMES).astype(int))
    row = rue.evaluate(people, draws(ENSEMBLES["forest"].fit(X, y), X), "brier")
    assert 0 < row.regret < 1
    with pytest.raises(AttributeError, match="no attribute 'keras'"):
        _ = rue.adapters.keras


BEE = DummyClassifier().fit([[0]], ["bee"])
BAD = [
    (
        RandomForestClassifier(),
        {},
        InputError,
        "must be fitted, got an unfitted RandomFor",
    ),
    ([RandomForestClassifier()], {}, InputError, "must be fitted"),
    ([LinearSVC()], {}, InputError, "model 0 must have predict_proba, got LinearSVC"),
    (GradientBoostingClassifier(), {}, InputError, "list of classifiers, got GradientBoosting"),
    ("forest", {}, InputError, "list of classifiers, got str"),
    ([], {}, InputError, "at least one classifier"),
    (RandomForestClassifier, {}, InputError, "list of classifiers, got ABCMeta"),
    ([RandomForestClassifier], {}, InputError, "model 0 must have predict_proba, got ABCMeta"),
    ([GaussianMixture().fit([[0], [1]])], {}, InputError, "must have classes_, got GaussianM"),
    ([BEE, DummyClassifier().fit([[0]], [3])], {}, InputError, "one type.*got int and str"),
    ([BEE], {}, ShapeError, r"classes must be at least 2, got \['bee'\]"),
    ([BEE], {"classes": ["ant", "cat"]}, InputError, "'bee' is missing"),
    ([BEE], {"classes": ["bee", "bee"]}, InputError, "must not repeat, got 'bee' twice"),
    ([BEE], {"classes": [["bee", "cat"]]}, ShapeError, r"shape \(n_classes,\), got \(1, 2\)"),
]


@pytest.mark.parametrize(("models", "options", "error", "message"), BAD)
def test_bad_input(models, options, error, message):
    with pytest.raises(error, match=message):
        draws(models, [[0]], **options)


def test_several_outcomes_are_refused(points):
    X, y = points
    model = RandomForestClassifier(2).fit(X, np.stack([y, y], axis=1))
    for models in (model, [model], model.estimators_):
        with pytest.raises(InputError, match=r"one output, got a \w+ with several"):
            draws(models, X)


def test_a_vote_with_weights_is_no_mean_of_draws(points):
    X, y = points
    vote = VotingClassifier([("nb", GaussianNB()), ("lr", LogisticRegression())], voting="soft")
    vote.set_params(weights=[2, 2]).fit(X, y)
    np.testing.assert_allclose(draws(vote, X).mean(), vote.predict_proba(X), atol=1e-12)
    with pytest.raises(InputError, match=r"must have equal weights, because.*got \[5, 1\]"):
        draws(vote.set_params(weights=[5, 1]).fit(X, y), X)


class Bare:
    """Not scikit-learn's, but with all that is asked of a member."""

    classes_ = ("ant", "bee")

    def predict_proba(self, X):
        return np.tile([0.25, 0.75], (len(X), 1))


def test_a_classifier_need_not_be_scikit_learns():
    assert draws([Bare(), BEE], [[0]]).probs.tolist() == [[[0.25, 0.75], [0, 1]]]


@pytest.fixture
def scored():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(6)
    X = pd.DataFrame(rng.normal(size=(90, 2)), index=[f"x{i}" for i in range(90)])
    X.columns = ["u", "v"]
    p = np.stack([np.exp(X.u), np.ones(90), np.exp(X.v)], axis=1)
    counts = rng.multinomial(9, p / p.sum(axis=1, keepdims=True))
    names = np.array(["a", "b", "c"])
    return X, names[counts.argmax(axis=1)], counts, names


def test_a_scorer_in_cross_validation_takes_answers_by_the_index(scored):
    X, y, counts, names = scored
    truth = rue.Annotations(counts[::-1], ids=X.index[::-1], classes=names.tolist())
    forest = RandomForestClassifier(8, random_state=0)
    folds = KFold(3)
    scores = cross_val_score(
        forest, X, y, cv=folds, scoring=scorer("n_aurec", loss="brier", truth=truth)
    )
    expected = []
    for train, test in folds.split(X):
        fitted = clone(forest).fit(X.iloc[train], y[train])
        belief = draws(fitted, X.iloc[test], classes=names)
        row = rue.evaluate(rue.Annotations(counts[test]), belief, loss="brier", gap=False)
        expected.append(-row.n_aurec)
    assert scores == pytest.approx(expected, rel=1e-12)


def test_a_scorer_without_answers_takes_labels_or_counts(scored):
    X, y, counts, _ = scored
    model = LogisticRegression().fit(X, y)
    probs = model.predict_proba(X)[:, None]
    one = scorer("risk", loss="zero_one")(model, X, y)
    assert one == pytest.approx(-np.mean(model.predict(X) != y))
    row = rue.evaluate(rue.Annotations(counts), rue.Draws(probs), loss="brier", gap=False)
    assert scorer("regret", loss="brier")(model, X, counts) == pytest.approx(-row.regret)


def test_a_scorer_refuses_what_it_cannot_match(scored):
    X, y, counts, names = scored
    model = LogisticRegression().fit(X, y)
    with pytest.raises(InputError, match="column must be one of"):
        scorer("accuracy")
    with pytest.raises(InputError, match="truth must have ids"):
        scorer(truth=rue.Annotations(counts))
    truth = rue.Annotations(counts, ids=X.index, classes=names.tolist())
    with pytest.raises(InputError, match="X must be a data frame"):
        scorer(truth=truth)(LogisticRegression().fit(X.to_numpy(), y), X.to_numpy(), y)
    with pytest.raises(InputError, match="y must hold classes of the estimator, got 'z'"):
        scorer()(model, X[:2], ["a", "z"])
