"""The public API is visible to tools: names, types of arguments and results, documentation."""

import ast
import inspect
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import rue

SOURCE = Path(rue.__file__).parent
PACKAGES = [getattr(rue, name) for name in rue._PACKAGES]
LAZY = [rue] + [package for package in PACKAGES if hasattr(package, "_PUBLIC")]


def public():
    """Yield the public name and the object of everything that a user may call."""
    for name in rue._PUBLIC:
        yield f"rue.{name}", getattr(rue, name)
    for package in PACKAGES:
        for name in package.__all__:
            if not inspect.ismodule(getattr(package, name)):
                yield f"{package.__name__}.{name}", getattr(package, name)


def distinct(kind):
    """Return the public objects of a kind, each once, under its shortest name."""
    found = {}
    for name, item in sorted(public(), key=lambda pair: (pair[0].count("."), pair[0])):
        if kind(item) and id(item) not in found:
            found[id(item)] = (name, item)
    return [pytest.param(item, id=name) for name, item in found.values()]


@pytest.mark.parametrize("package", LAZY, ids=lambda package: package.__name__)
def test_type_checkers_and_python_see_the_same_names(package):
    tree = ast.parse(Path(package.__file__).read_text())
    (block,) = (
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    seen = {}
    for node in block.body:
        for alias in node.names:
            assert alias.name == alias.asname, "explicit re-export: import X as X"
            seen[alias.name] = node.module
    lazy = dict(package._PUBLIC)
    if package is rue:
        lazy |= dict.fromkeys((*rue._PACKAGES, *rue._NEEDS_TORCH), "rue")
    if package is rue.adapters:
        lazy = {
            k: v if v.rpartition(".")[0] != "rue.adapters" else "rue.adapters"
            for k, v in lazy.items()
        }
    assert seen == lazy


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_a_package_has_the_names_that_it_lists(package):
    assert package.__all__ == sorted(set(package.__all__), key=_case_order)
    for name in package.__all__:
        assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'regrets'"):
        _ = package.regrets


def _case_order(name):
    """Order constants, then classes, then functions, as ruff sorts __all__."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def test_one_name_is_one_thing():
    found = {}
    for name, item in public():
        found.setdefault(name.rpartition(".")[2], {})[id(item)] = name
    assert {name: [*where.values()] for name, where in found.items() if len(where) > 1} == {}


def types_in(annotation):
    """Yield the classes that an annotation mentions."""
    if inspect.isclass(annotation):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from types_in(argument)


def signatures(item):
    """Yield the functions whose signature belongs to a public item."""
    if inspect.isfunction(item):
        yield item
    elif inspect.isclass(item) and item.__module__.startswith("rue"):
        for name, member in inspect.getmembers_static(item):
            function = getattr(member, "__func__", getattr(member, "fget", member))
            if inspect.isfunction(function) and (name == "__init__" or not name.startswith("_")):
                yield function


def namespace(module):
    """Return the names of a module, those imported for type checkers only too."""
    names = dict(vars(module))
    for node in ast.parse(Path(module.__file__).read_text()).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            exec(ast.unparse(node.body), names)
    return names


def test_everything_a_signature_mentions_has_a_public_name():
    named = {id(item) for _, item in public()}
    hidden = {}
    for name, item in public():
        for function in signatures(item):
            if not function.__module__.startswith("rue"):
                continue
            known = namespace(sys.modules[function.__module__])
            for argument, hint in typing.get_type_hints(function, known).items():
                for found in () if argument.startswith("_") else types_in(hint):
                    if found.__module__.startswith("rue") and id(found) not in named:
                        hidden.setdefault(f"{found.__module__}.{found.__name__}", name)
    assert hidden == {}


RIGHT_AND_WRONG = """
import numpy as np
import rue
truth, belief = rue.Annotations([[3, 1]]), rue.Draws(np.full((1, 2, 2), 0.5))
row: rue.Evaluation = rue.evaluate(truth, belief, loss="log")
rue.evaluate("x", 3, los=4)  # wrong
rue.evaluate(truth, belief, los="log")  # wrong
rue.evaluate(belief, truth, loss="log")  # wrong
rue.evalute_typo()  # wrong
aurec: float = row.aurec
row.aurecs  # wrong
hat: rue.Components = rue.decompose(belief, "brier")
rue.decompose(belief, 3)  # wrong
rue.optimal_selector(hat, maximize="coverage", risk_max=0.1).lam
rue.optimal_selector(hat, maximize="coverages")  # wrong
curve: rue.Curve = rue.regret_coverage_curve(hat.epistemic, hat.epistemic)
rue.plots.plot_curves
rue.plots.plot_curvs  # wrong
rue.inference.compare
rue.metrics.curves.aurec(hat.epistemic, hat.epistemic)
rue.adapters.sklearn.draws
rue.adapters.keras  # wrong
rue.methods.ensemble.fit
rue.metods  # wrong
from rue import aurec_typo  # wrong
"""


def test_mypy_rejects_wrong_calls_and_accepts_right_ones(tmp_path):
    lines = RIGHT_AND_WRONG.splitlines()
    script = tmp_path / "calls.py"
    script.write_text(RIGHT_AND_WRONG)
    root = SOURCE.parents[1]  # its cache is warm: `make test` runs mypy first
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", script],
        cwd=root,
        capture_output=True,
        text=True,
    )
    rejected = {int(n) for n in re.findall(r"calls\.py:(\d+): error", done.stdout)}
    expected = {i for i, line in enumerate(lines, start=1) if line.endswith("# wrong")}
    assert rejected == expected, done.stdout + done.stderr
