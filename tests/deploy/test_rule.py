"""Rules: what they say, their JSON, and what they refuse."""

import json
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from rue import (
    Annotations,
    Components,
    CostMatrix,
    Dirichlet,
    Draws,
    Log,
    Rule,
    Scored,
    decompose,
    fit_selector,
    realize,
)
from rue.cli.rule import rule_lines
from rue.deploy import Kind, attained, budgets_kept, compare_rules
from rue.deploy.candidates import directions, total_weights
from rue.errors import FileError, InputError, ShapeError
from rue.losses import get_loss
from rue.selectors import Problem

N = 120


def components(aleatoric, epistemic):
    a, e = np.asarray(aleatoric, float), np.asarray(epistemic, float)
    return Components(a + e, a, e)


@pytest.fixture
def world(rng):
    a, e = rng.uniform(0, 1, N), rng.uniform(0, 1, N)
    return components(0.1 * a, 0.5 * e**4), components(a, e)


RULES = {
    "learned": {"risk_max": 0.2, "regret_max": 0.1},
    "promised": {"risk_max": 0.3, "delta": 0.1, "bound": 0.6},
    "everything": {"risk_max": 0.6, "delta": 0.1, "bound": 0.6},
    "nothing": {"risk_max": 0.001, "delta": 0.1, "bound": 0.6},
    "normalized": {"risk_max": 0.25, "normalized": True, "delta": 0.2, "bound": 0.6},
    "nothing normalized": {"risk_max": 0.01, "normalized": True, "delta": 0.1, "bound": 0.6},
}


@pytest.mark.parametrize("name", RULES)
def test_json_keeps_every_bit(world, tmp_path, name):
    star, hat = world
    kind = Kind.of(Draws(np.full((1, 3, 4), 0.25)), get_loss("absolute", values=[0, 1, 2, 4]))
    rule = fit_selector(star, hat, maximize="coverage", kind=kind, seed=3, **RULES[name])
    rule.save(tmp_path / "rule.json")
    again = Rule.load(tmp_path / "rule.json")
    same = json.dumps(again.to_dict()) == json.dumps(rule.to_dict())  # NaN is not itself
    assert same
    assert (again.weights, again.tau, again.kind) == (rule.weights, rule.tau, rule.kind)
    assert (again.accept(hat) == rule.accept(hat)).all()
    assert str(again) == str(rule)
    known = json.loads((tmp_path / "rule.json").read_text())
    assert known["made_for"]["values"] == [0, 1, 2, 4]
    assert (known["promise"] is None) == (rule.delta is None)


def test_what_it_says():
    def said(weights, tau):
        estimate = attained(components([0.0], [0.0]), [True])
        return Rule(weights, tau, Problem(maximize="coverage", risk_max=0.1), estimate, 1, 1).rule

    # The threshold that is printed is the one that is stored, whatever the weights.
    assert said((1.0, 1.0), 0.25) == "Accept where total uncertainty is at most 0.25"
    assert (
        said((0.5, 0.5), 0.25)  # of a file that an earlier version wrote
        == "Accept where 0.5 aleatoric + 0.5 epistemic uncertainty is at most 0.25"
    )
    assert said((0.0, 1.0), 0.25) == "Accept where epistemic uncertainty is at most 0.25"
    assert (
        said((0.25, -1.0), 2) == "Accept where 0.25 aleatoric - epistemic uncertainty is at most 2"
    )
    assert said((1.0, 0.0), math.inf) == "Accept everything"
    assert said((1.0, 0.0), -math.inf) == "Accept nothing"


def test_attained_by_hand():
    # Accepted: losses 0.2 and 0.4 of four points: risk 0.6/4; per accepted point 0.3.
    star = components([0.2, 0.3, 0.0, 0.0], [0.0, 0.1, 0.5, 0.0])
    found = attained(star, [True, True, False, False])
    assert (found.coverage, found.risk, found.regret) == pytest.approx((0.5, 0.15, 0.025))
    # Mean square of 0.2, 0.4, 0, 0 is 0.05; 0.05 - 0.15^2 = 0.0275; over 4 points.
    assert found.risk_error == pytest.approx(math.sqrt(0.0275 / 4))
    found = attained(star, [True, True, False, False], normalized=True)
    assert (found.risk, found.regret) == pytest.approx((0.3, 0.05))
    # C (loss - 0.3) = -0.1, 0.1, 0, 0: mean square 0.005, over 4 points, over coverage 0.5.
    assert found.risk_error == pytest.approx(math.sqrt(0.005 / 4) / 0.5)
    none = attained(star, [False] * 4, normalized=True)
    assert none.coverage == 0
    assert math.isnan(none.risk)
    with pytest.raises(ShapeError, match="accepted must have shape"):
        attained(star, [True])


def test_budgets_kept_by_hand():
    # Risk 0.15 over all points and 0.3 per accepted point, regret 0.025 and 0.05, as above.
    star = components([0.2, 0.3, 0.0, 0.0], [0.0, 0.1, 0.5, 0.0])
    budgets = {"maximize": "coverage", "risk_max": 0.15, "regret_max": 0.02}
    found = attained(star, [True, True, False, False])
    assert budgets_kept(found, Problem(**budgets)) == {"risk": True, "regret": False}
    per = attained(star, [True, True, False, False], normalized=True)
    problem = Problem(**{**budgets, "regret_max": 0.06}, normalized=True)
    assert budgets_kept(per, problem) == {"risk": False, "regret": True}
    nothing = attained(star, [False] * 4, normalized=True)
    assert budgets_kept(nothing, problem) == {"risk": True, "regret": True}
    assert budgets_kept(found, Problem(maximize="coverage")) == {}


DRAWS = Draws(np.full((2, 5, 3), 1 / 3))
ABSOLUTE = get_loss("absolute")


@pytest.mark.parametrize(
    ("belief", "loss", "method", "words"),
    [
        (
            Draws(np.full((2, 20, 3), 1 / 3)),
            ABSOLUTE,
            None,
            "per point is 5 in the rule and 20",
        ),
        (Draws(np.full((2, 5, 4), 1 / 4)), ABSOLUTE, None, "classes is 3 in the rule and 4 in new"),
        (Dirichlet(np.ones((2, 3))), ABSOLUTE, None, "belief is draws in the rule and dirichlet"),
        (Scored(np.full((2, 3), 1 / 3), [1, 2]), ABSOLUTE, None, "draws in the rule and scored"),
        (DRAWS, get_loss("squared"), None, "the loss is absolute in the rule and squared in new"),
        (
            DRAWS,
            get_loss("absolute", values=[-1, 0, 1]),
            None,
            r"2\] in the rule and \[-1,",
        ),
        (DRAWS, ABSOLUTE, "ddu", "the method is ensemble in the rule and ddu in new"),
    ],
)
def test_other_kinds_are_refused_by_name(belief, loss, method, words):
    kind = Kind.of(DRAWS, ABSOLUTE, method="ensemble")
    kind.require(Kind.of(DRAWS, ABSOLUTE), "new")  # what is not known is no difference
    with pytest.raises(InputError, match=words):
        kind.require(Kind.of(belief, loss, method=method), "new")


def test_losses_come_back(rng):
    for loss in (Log(0.01), Log(), CostMatrix([[0, 1, 5], [2, 0, 1]]), ABSOLUTE, get_loss("brier")):
        kind = Kind.from_dict(json.loads(json.dumps(Kind.of(DRAWS, loss).to_dict())))
        assert kind == Kind.of(DRAWS, loss)
        probs = rng.dirichlet(np.ones(3), 4)
        assert (kind.get_loss().bayes_risk(probs) == loss.bayes_risk(probs)).all()
        assert kind.get_loss().bound(3) == loss.bound(3)
    with pytest.raises(InputError, match=r"floor of probabilities is 0\.01 in the rule and 0\.1"):
        Kind.of_loss(Log(0.01)).require(Kind.of_loss(Log(0.1)), "new")
    with pytest.raises(InputError, match=r"floor of probabilities is 0 in the rule and 0\.1"):
        Kind.of_loss(Log()).require(Kind.of_loss(Log(0.1)), "new")
    two, one = CostMatrix([[0, 1], [1, 0]]), CostMatrix([[0, 1]])
    with pytest.raises(InputError, match="the cost matrix is 2 rows in the rule and 1 rows"):
        Kind.of_loss(two).require(Kind.of_loss(one), "new")
    with pytest.raises(InputError, match="does not say which loss"):
        Kind().get_loss()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.update(format="rue rule 9"), "format must be"),
        (lambda d: d.pop("weights"), "the field weights is missing"),
        (lambda d: d.update(tau="high"), "tau must be a finite number"),
        (lambda d: d.update(tau=None), "tau contradicts"),
        (
            lambda d: d["weights"].update(aleatoric=float("nan")),
            "weights.aleatoric must be a finite",
        ),
        (lambda d: d["made_for"].update(colour="red"), "colour"),
        (lambda d: d["asked"].update(speed=1), "speed"),
        (
            lambda d: d["asked"].update(risk_max="low"),
            "risk_max must be a finite number or null, got 'low'",
        ),
        (lambda d: d["asked"].update(risk_max=math.nan), "risk_max must be a finite number"),
        (
            lambda d: d["asked"].update(maximize="risk"),
            "maximize must be coverage or null, got 'risk'",
        ),
        (lambda d: d["asked"].update(normalized=1), "normalized must be true or false, got 1"),
        (lambda d: d["promise"].update(delta=2), "delta must be between 0 and 1, got 2"),
        (lambda d: d["promise"].update(delta="0.1"), "delta must be between 0 and 1, got '0.1'"),
        (
            lambda d: d["promise"].update(test="hope"),
            "test must be one of betting, hoeffding_bentkus",
        ),
        (
            lambda d: d["promise"].update(test=None),
            "test must be one of betting, hoeffding_bentkus",
        ),
        (lambda d: d["promise"].pop("test"), "the field promise.test is missing"),
        (lambda d: d["promise"].update(bound=math.inf), "bound must be a finite number, got inf"),
        (
            lambda d: d["promise"].update(holds_for=["coverage"]),
            "holds_for must be the budgets, risk",
        ),
        (lambda d: d["promise"].pop("delta"), "promise.delta is missing"),
        (lambda d: d["calibration"].update(n_points=None), "n_points must be a whole number"),
        (lambda d: d["calibration"].update(n_tested=1.5), "n_tested must be a whole number"),
        (lambda d: d["estimate"].update(risk="x"), "risk must be a finite number or null, got 'x'"),
        (lambda d: d["estimate"].update(risk=math.nan), "estimate.risk must be a finite number"),
        (lambda d: d["estimate"].update(n_accepted=True), "n_accepted must be a whole number"),
        (lambda d: d.update(accepts="sometimes"), "accepts must be one of"),
        (lambda d: d.update(accepts="everything"), "tau contradicts"),
        (lambda d: d.update(tau=math.inf), "tau must be a finite"),
        (
            lambda d: d.update(weights={"aleatoric": 0, "epistemic": 0}),
            "must not be 0 if epistemic is",
        ),
        (lambda d: d.update(notes="text"), "notes must be a list of text"),
    ],
)
def test_damaged_rules_are_one_line(world, tmp_path, change, words):
    star, hat = world
    promise = {"delta": 0.1, "bound": 0.6}
    known = fit_selector(star, hat, maximize="coverage", risk_max=0.15, **promise).to_dict()
    assert known["accepts"] == "score<=tau"
    change(known)
    path = tmp_path / "rule.json"
    path.write_text(json.dumps(known))
    with pytest.raises(FileError, match=words) as error:
        Rule.load(path)
    assert "\n" not in str(error.value)


def test_rules_of_the_first_format_are_read(world, tmp_path):
    # It did not name the test, which was Hoeffding-Bentkus, and weights added up to 1.
    star, hat = world
    options = {"risk_max": 0.15, "delta": 0.1, "bound": 0.6, "weights": (1, 1)}
    rule = fit_selector(star, hat, maximize="coverage", **options)
    known = rule.to_dict()
    known["format"] = "rue rule 1"
    known["weights"] = {"aleatoric": 0.5, "epistemic": 0.5}
    known["tau"] /= 2
    del known["promise"]["test"]
    (tmp_path / "rule.json").write_text(json.dumps(known))
    again = Rule.load(tmp_path / "rule.json")
    assert again.test == "hoeffding_bentkus"
    assert (again.accept(hat) == rule.accept(hat)).all()
    assert again.rule.startswith("Accept where 0.5 aleatoric + 0.5 epistemic uncertainty")
    plain = fit_selector(star, hat, maximize="coverage", risk_max=0.15).to_dict()
    (tmp_path / "plain.json").write_text(json.dumps({**plain, "format": "rue rule 1"}))
    assert Rule.load(tmp_path / "plain.json").test is None


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"format": 1}'])
def test_what_is_no_rule(tmp_path, text):
    path = tmp_path / "rule.json"
    path.write_text(text)
    with pytest.raises(FileError, match="is not a rule"):
        Rule.load(path)
    with pytest.raises(FileError, match="cannot be read"):
        Rule.load(tmp_path / "none.json")
    with pytest.raises(FileError, match="cannot be written"):
        fit_selector(
            components([0.1, 0.2], [0, 0]), components([0, 1], [0, 1]), maximize="coverage"
        ).save(tmp_path / "no" / "rule.json")


def test_accept_takes_components_or_a_belief(rng, tmp_path):
    probs = rng.dirichlet(np.ones(3), (N, 5))
    belief, loss = Draws(probs), get_loss("brier")
    star = realize(Annotations(rng.multinomial(9, probs.mean(axis=1))), belief, loss)
    hat = decompose(belief, loss)
    options = {"maximize": "coverage", "risk_max": 0.3}
    fit_selector(star, hat, kind=Kind.of(belief, loss), **options).save(tmp_path / "rule.json")
    rule = Rule.load(tmp_path / "rule.json")
    assert 0 < rule.accept(belief).sum() < N
    assert (rule.accept(belief) == rule.accept(hat)).all()
    assert (rule.score(belief) == rule.score(hat)).all()
    with pytest.raises(InputError, match="draws per point is 5 in the rule and 2 in the belief"):
        rule.accept(Draws(probs[:, :2]))
    with pytest.raises(InputError, match="hat must be Components or a belief, got list"):
        rule.accept([1, 2])
    with pytest.raises(InputError, match="which loss it is made for: pass components, or fit it"):
        fit_selector(star, hat, **options).accept(belief)


@pytest.mark.parametrize("weights", [None, (1, 1), (0, 3), (2, -0.5)])
def test_one_scale_of_the_score(world, weights):
    # What is printed, what JSON holds and what score gives are the same number.
    star, hat = world
    rule = fit_selector(star, hat, maximize="coverage", risk_max=0.1, weights=weights)
    known = rule.to_dict()
    assert max(abs(w) for w in known["weights"].values()) == 1
    assert known["rule"].endswith(f"is at most {known['tau']:.6g}")
    by_hand = sum(known["weights"][k] * getattr(hat, k) for k in known["weights"])
    assert rule.score(hat) == pytest.approx(by_hand, abs=1e-15)
    assert (rule.accept(hat) == (by_hand <= known["tau"])).all()
    if weights == (1, 1):
        assert rule.score(hat) == pytest.approx(hat.total)


def test_applying_a_rule_loads_little(world, tmp_path):
    star, hat = world
    fit_selector(star, hat, maximize="coverage", risk_max=0.2).save(tmp_path / "rule.json")
    code = (
        "import sys, rue; "
        f"rule = rue.Rule.load({str(tmp_path / 'rule.json')!r}); "
        "rule.accept(rue.Components([0.2], [0.1], [0.1])); "
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"torch", "matplotlib", "pandas", "sklearn", "scipy.stats", "numba"}
    assert not set(done.stdout.split()) & heavy


@pytest.mark.parametrize("weight", [10**400, float("inf"), "1e400"])
def test_a_weight_that_no_float_holds_is_one_line(tmp_path, weight):
    rng = np.random.default_rng(0)
    people, belief = Annotations(rng.multinomial(9, [0.5, 0.5], N)), Draws(np.full((N, 2, 2), 0.5))
    star, hat = realize(people, belief, "log"), decompose(belief, "log")
    known = fit_selector(star, hat, maximize="coverage", risk_max=2.0).to_dict()
    known["weights"]["epistemic"] = weight
    path = tmp_path / "rule.json"
    path.write_text(json.dumps(known))
    with pytest.raises(FileError, match=r"rule.json: is not a rule: [^\n]*$"):
        Rule.load(path)


def test_a_rule_nested_too_deeply_is_one_line(tmp_path):
    path = tmp_path / "rule.json"
    path.write_text('{"a":' + "[" * 200_000 + "]" * 200_000 + "}")
    with pytest.raises(FileError, match="is not a rule: it is nested too deeply"):
        Rule.load(path)


def test_the_total_of_an_outside_score_is_the_bayes_risk(rng):
    """A rule of two components looked better than it was, because its rival added a score."""
    probs, score = rng.dirichlet(np.ones(3), N), 50 * rng.normal(size=N)
    belief, truth = Scored(probs, score), Annotations(rng.multinomial(9, probs))
    star, hat = realize(truth, belief, "brier"), decompose(belief, "brier")
    assert total_weights(hat) == (1.0, 0.0)
    assert directions(hat)[0] == (1.0, 0.0)
    assert len(set(directions(hat))) == len(directions(hat))
    problem = Problem(maximize="coverage", risk_max=0.2)
    outcomes = {o.name: o for o in compare_rules(star, hat, star, hat, problem)}
    assert outcomes["total"].rule.weights == (1.0, 0.0)
    plain = decompose(Draws(probs[:, None]), "brier")
    accepted = fit_selector(star, plain, maximize="coverage", risk_max=0.2, weights=(1, 1))
    assert outcomes["total"].rule.tau == accepted.tau


def test_a_stored_rule_of_a_sum_with_an_outside_score_keeps_its_decisions(rng, tmp_path):
    probs = rng.dirichlet(np.ones(3), N)
    belief = Scored(probs, rng.normal(size=N))
    star = realize(Annotations(rng.multinomial(9, probs)), belief, "brier")
    hat, kind = decompose(belief, "brier"), Kind.of(belief, get_loss("brier"))
    rule = fit_selector(star, hat, maximize="coverage", risk_max=0.2, weights=(1.0, 1.0), kind=kind)
    rule.save(tmp_path / "rule.json")
    stored = Rule.load(tmp_path / "rule.json")
    assert stored.accept(belief).tolist() == (hat.aleatoric + hat.epistemic <= rule.tau).tolist()
    assert stored.rule.startswith("Accept where aleatoric + epistemic uncertainty is at most")
    assert any("(1, 1)" in line for line in rule_lines(stored, "rule"))
    assert not any("(1, 1)" in line for line in rule_lines(replace(stored, kind=Kind()), "rule"))
