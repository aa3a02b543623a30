"""The house is in order: imports go one way, names are public on purpose, loading is light."""

import ast
import builtins
import doctest
import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
import typing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import rue
from rue.cli import main
from studies.architecture import FLOORS, PAGE, trace

SOURCE = Path(rue.__file__).parent

PLACE = {name: place for place, name in enumerate(name for floor in FLOORS for name in floor)}


def modules():
    return sorted(p for p in SOURCE.rglob("*.py") if p != SOURCE / "__init__.py")


def walk(path):
    """Every node that runs; what is there for types only may point anywhere."""
    waiting = [ast.parse(path.read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        waiting += ast.iter_child_nodes(node)


def part(path):
    return path.relative_to(SOURCE).with_suffix("").parts[0]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    for node in walk(path):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] + [f"{node.module}.{a.name}" for a in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            pieces = name.split(".")
            if pieces[0] == "rue" and len(pieces) > 1 and pieces[1] in PLACE:
                assert PLACE[pieces[1]] <= PLACE[part(path)], f"{part(path)} imports {name}"


def test_every_module_has_its_place():
    assert {part(path) for path in modules()} <= set(PLACE)


def test_public_names_exist_and_are_listed():
    for name in rue.__all__:
        assert getattr(rue, name) is not None
    assert dir(rue) == sorted(rue.__all__)
    with pytest.raises(AttributeError, match="no attribute 'regrets'"):
        _ = rue.regrets


def loaded(code):
    probe = f"import sys; {code}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_packages_that_pages_name_are_there_at_once():
    code = "import rue; rue.errors.RueError, rue.losses.Loss, rue.adapters.sklearn.draws"
    assert "torch" not in loaded(code)
    assert "torch" not in loaded("import rue; rue.methods.METHODS['ensemble'].Config()")


def test_importing_rue_is_light():
    beyond_python = {name.split(".")[0] for name in loaded("import rue") - loaded("pass")}
    assert beyond_python <= {"rue", "importlib", "warnings"}  # not even typing: 10 ms
    everything = "import rue; [getattr(rue, name) for name in rue.__all__]"
    heavy = {"torch", "matplotlib", "pandas", "sklearn", "scipy.stats", "numba"}
    assert not loaded(everything) & heavy


def test_evaluating_loads_no_more_than_it_needs(tmp_path):
    code = (
        "import numpy as np, rue; "
        "rue.evaluate(rue.Annotations([[3, 1], [1, 3], [4, 0]]), "
        "rue.Draws(np.full((3, 2, 2), 0.5)), 'log')"
    )
    assert not loaded(code) & {"torch", "matplotlib", "pandas", "sklearn", "scipy.stats"}
    if sys.platform == "linux":  # the first process stored the machine code of its kernels
        assert "numba" not in loaded(code)


def test_only_kernels_import_numba_and_only_plots_matplotlib():
    allowed = {"numba": {"_kernels"}, "matplotlib": {"plots"}, "torch": {"methods", "adapters"}}
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                place = allowed.get(name.split(".")[0])
                assert place is None or part(path) in place, f"{path} imports {name}"


PACKAGES = [getattr(rue, name) for name in rue.__all__ if rue._LAZY.get(name) == "rue"]
LAZY = [rue] + [package for package in PACKAGES if hasattr(package, "_LAZY")]


def public():
    """Yield the public name and the object of everything that a user may call."""
    for name, module in rue._LAZY.items():
        if module != "rue":
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
def test_every_line_of_a_stub_is_read(package):
    """A stub is the one list of lazy names: ``from MODULE import NAME as NAME``, one a line."""
    lines = [f"from {module} import {name} as {name}" for name, module in package._LAZY.items()]
    stub = Path(package.__file__).with_suffix(".pyi").read_text().splitlines()
    assert sorted(lines) == sorted(line for line in stub if line.startswith("from"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_a_package_has_the_names_that_it_lists(package):
    assert package.__all__ == sorted(set(package.__all__), key=_case_order)
    for name in package.__all__:
        assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'regrets'"):
        _ = package.regrets


@pytest.mark.parametrize("package", LAZY, ids=lambda package: package.__name__)
def test_no_file_hides_a_name_of_its_package(package):
    """Importing metrics/x.py sets rue.metrics.x, whatever a lazy package meant by x."""
    for name in package.__all__:
        if not inspect.ismodule(getattr(package, name)):
            assert importlib.util.find_spec(f"{package.__name__}.{name}") is None, name


def _case_order(name):
    """Order constants, then classes, then functions, as ruff sorts __all__."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


# What changes: a benchmark that runs, its processes, the check of submissions, an estimator.
CHANGING = {"Progress", "_Running", "References", "DeployableSelector"}


def test_dataclasses_are_frozen():
    decorated = {
        node.name: {ast.unparse(decorator) for decorator in node.decorator_list}
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    }
    kinds = {
        name: [word for word in words if word.startswith("dataclass")]
        for name, words in decorated.items()
    }
    loose = {name for name, words in kinds.items() if words and "frozen=True" not in words[0]}
    assert loose == CHANGING


def test_one_name_is_one_thing():
    found = {}
    for name, item in public():
        found.setdefault(name.rpartition(".")[2], {})[id(item)] = name
        for alias, value in aliases(item):
            found.setdefault(alias, {})[id(value)] = f"{alias} in the signature of {name}"
    doubles = {name: [*where.values()] for name, where in found.items() if len(where) > 1}
    assert not doubles, doubles


def in_library(module):
    return getattr(module, "__name__", "").partition(".")[0] == "rue"


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


def aliases(item):
    """Yield the name and value of each alias of a Literal in the annotations of a public item."""
    module = sys.modules.get(getattr(item, "__module__", ""))
    if not (inspect.isfunction(item) or inspect.isclass(item)) or not in_library(module):
        return
    body = ast.parse(Path(module.__file__).read_text()).body
    (own,) = (node for node in body if getattr(node, "name", None) == item.__name__)
    known = namespace(module)
    for part in [own] if inspect.isfunction(item) else own.body:
        found = [getattr(part, "annotation", None), getattr(part, "returns", None)]
        if isinstance(part, ast.FunctionDef) and (part is own or not part.name.startswith("_")):
            found += [a.annotation for a in ast.walk(part.args) if isinstance(a, ast.arg)]
        for word in re.findall(r"\w+", " ".join(ast.unparse(each) for each in found if each)):
            options = (known.get(word), *typing.get_args(known.get(word)))
            if typing.Literal in map(typing.get_origin, options):
                yield word, known[word]


def test_everything_a_signature_mentions_has_a_public_name():
    named = {id(item) for _, item in public()}
    hidden = {}
    for name, item in public():
        for alias, value in aliases(item):
            if id(value) not in named:
                hidden.setdefault(alias, name)
        for function in signatures(item):
            if not function.__module__.startswith("rue"):
                continue
            known = namespace(sys.modules[function.__module__])
            for argument, hint in typing.get_type_hints(function, known).items():
                for found in () if argument.startswith("_") else types_in(hint):
                    if found.__module__.startswith("rue") and id(found) not in named:
                        hidden.setdefault(f"{found.__module__}.{found.__name__}", name)
    assert hidden == {}


# Names that stand for the same part of each thing of a kind, and in which room they do.
SYMMETRIC = {
    "methods": {"Config", "fit", "joint", "predict"},
    "data": {"ENTRIES", "fetch", "load"},
    "adapters": {"draws"},
    "_kernels": {"crps", "distances", "pinball", "quantile"},
}


def top_names(path):
    """Yield the names that a module defines, without those that start with an underscore."""
    for node in ast.parse(path.read_text()).body:
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        names += [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
        yield from (name for name in names if not name.startswith("_"))


def imported_names():
    """Return the module and name of everything that one file of the package takes from another."""
    nodes = (
        node for path in SOURCE.rglob("*.py") for node in ast.walk(ast.parse(path.read_text()))
    )
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return {(node.module, alias.name) for node in imports for alias in node.names}


def test_no_two_shared_things_have_one_name():
    shared, places = imported_names(), {}
    for path in modules():
        place = path.relative_to(SOURCE).with_suffix("").parts
        for name in set(top_names(path)) - SYMMETRIC.get(place[0], set()):
            if (".".join(("rue", *place)), name) in shared and path.name != "__init__.py":
                places.setdefault(name, []).append("/".join(place))
    doubles = {name: where for name, where in places.items() if len(where) > 1}
    assert not doubles, doubles


KINDS = {"Annotations", "Ratings", "Draws", "Dirichlet", "Scored", "Gaussians", "Samples"}
KINDS |= {"NormalInverseGamma", "ClassBelief", "RealBelief", "ClassAnswers", "RatingAnswers"}
KINDS |= {"Classes", "RealNumbers"}


def asked_kinds(path):
    """Return how often a file tells kinds of truths, beliefs, answers or outcomes apart."""
    found = 0
    for node in ast.walk(ast.parse(path.read_text())):
        tests = []
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            tests = [node.args[1]]
        elif isinstance(node, ast.MatchClass):
            tests = [node.cls]
        names = {getattr(n, "id", "") for test in tests for n in ast.walk(test)}
        found += bool(names & KINDS)
    return found


def test_kinds_of_outcomes_are_told_apart_by_their_methods():
    rooms = ("truth", "beliefs", "losses", "_kernels")
    files = [path for path in modules() if part(path) not in rooms]
    counts = {str(path.relative_to(SOURCE)): asked_kinds(path) for path in files}
    assert {name: n for name, n in counts.items() if n} == {}


def called_files(work):
    """Return the files of the library whose functions run, without what importing them runs."""
    return {step.file for step in trace(work)}


@pytest.mark.parametrize("own_counts", [True, False], ids=["counts", "truth"])
def test_a_prediction_becomes_a_row_in_few_files(tmp_path, capsys, own_counts):
    """Count the files with a function that is called between the command and its printed row.

    All files of the package count but kernels, the command line too; what runs at import does
    not. If this fails, a reader has one more file to open: merge what was split too far.
    """
    rng = np.random.default_rng(0)
    file = tmp_path / "ensemble.npz"
    counts = rng.multinomial(9, rng.dirichlet(np.ones(3), 30))
    ids = np.arange(30).astype(np.str_)
    probs = rng.dirichlet(np.ones(3), (30, 4))
    np.savez(file, probs=probs, ids=ids, **({"counts": counts} if own_counts else {}))
    np.savez(tmp_path / "truth.npz", counts=counts[::-1], ids=ids[::-1])

    truth = [] if own_counts else ["--truth", str(tmp_path / "truth.npz")]

    def work(*options):
        with pytest.raises(SystemExit):
            main(["evaluate", str(file), *truth, *options])

    # 22 were wanted; since then there are the columns that say what a number is measured against:
    # references, pairs, person, corrected, floor, and values read off at limits.
    for options, most in ((["--quick"], 32), (["--ci", "0.95", "--corrected"], 36)):
        work(*options)  # kernels that are compiled for the first time call more
        files = {f for f in called_files(partial(work, *options)) if f.parts[0] != "_kernels"}
        assert "ensemble" in capsys.readouterr().out
        assert {Path("cli/evaluate.py"), Path("metrics/table.py"), Path("pareto/gap.py")} <= files
        assert len(files) <= most, sorted(map(str, files))


def test_a_rule_is_fitted_and_applied_in_few_files(tmp_path):
    """Count the files that are crossed between the command and its answer, as above."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3) / 3, 300)
    points = {"probs": 0.7 * p[:, None] + 0.3 * rng.dirichlet(np.ones(3), (300, 4))}
    np.savez(tmp_path / "cal.npz", **points, counts=rng.multinomial(9, p))
    np.savez(tmp_path / "new.npz", **points, ids=np.arange(300).astype(np.str_))
    asked = ["--loss", "zero_one", "--risk-max", "0.2", "--delta", "0.1"]

    def run(*words):
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in ("rule", *words)])
        assert end.value.code == 0

    rule = tmp_path / "rule.json"
    fitted = called_files(lambda: run("fit", tmp_path / "cal.npz", *asked, "--save", rule))
    applied = called_files(lambda: run("apply", rule, tmp_path / "new.npz"))
    for files, most, own in ((fitted, 34, 8), (applied, 21, 4)):
        files = {file for file in files if file.parts[0] != "_kernels"}  # some run once per process
        assert sum(file.parts[0] == "deploy" for file in files) <= own, sorted(map(str, files))
        # otherwise those that read predictions and form their components, as in rue evaluate
        assert len(files) <= most, sorted(map(str, files))


# Their functions take files and folders of a benchmark, or load data: an example is not required.
WITHOUT_EXAMPLES = ("rue.bench", "rue.data", "rue.io")


@pytest.mark.parametrize("function", distinct(inspect.isfunction))
def test_public_functions_are_documented(function):
    text = inspect.getdoc(function) or ""
    lacking = []
    signature = inspect.signature(function)
    parameters, returned = signature.parameters, signature.return_annotation
    sections = ("Parameters",) * bool(parameters) + ("Returns",) * (returned is not None)
    if not function.__module__.startswith(WITHOUT_EXAMPLES):
        sections += ("Examples",)
    lacking += [name for name in sections if f"{name}\n{'-' * len(name)}\n" not in text]
    described = re.findall(r"^\*{0,2}(\w+(?:, \w+)*)(?: : .*)?$", text, re.MULTILINE)
    named = {name for line in described for name in line.split(", ")}
    lacking += [name for name in parameters if name not in named]
    returns = text.partition("Returns\n-------\n")[2].partition("\n\n")[0]
    if "ndarray" in str(returned):
        lacking += [] if "shape" in returns else ["the shape of what it returns"]
    assert text[:1].isupper()
    assert not lacking


def test_the_help_of_a_function_begins_with_at_most_ten_lines():
    """Its signature: a default or a type that is written out in full hides the parameters."""
    lengths = {
        f"{name}: {function.__qualname__}": len(str(inspect.signature(function)))
        for name, item in public()
        for function in signatures(item)
    }
    assert {name: length for name, length in lengths.items() if length > 800} == {}


def examples():
    """Return the public functions, classes and their public methods that have an example."""
    found = {}
    for name, item in sorted(public(), key=lambda pair: (pair[0].count("."), pair[0])):
        if (inspect.isfunction(item) or inspect.isclass(item)) and item.__module__[:3] == "rue":
            found.setdefault(id(item), (name, item))
            for key, member in vars(item).items() if inspect.isclass(item) else ():
                function = getattr(member, "__func__", getattr(member, "fget", member))
                if inspect.isfunction(function) and not key.startswith("_"):
                    found.setdefault(id(function), (f"{name}.{key}", function))
    return [pytest.param(x, id=name) for name, x in found.values() if ">>>" in str(x.__doc__)]


def missing_names(item):
    """Return the names in an example that are neither bound in it nor built in, nor np."""
    parsed = doctest.DocTestParser().get_examples(item.__doc__)
    nodes = list(ast.walk(ast.parse("".join(example.source for example in parsed))))
    imports = [alias for node in nodes for alias in getattr(node, "names", ())]
    bound = {alias.asname or alias.name.partition(".")[0] for alias in imports}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    bound |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return sorted({node.id for node in names} - bound - set(dir(builtins)) - {"np"})


@pytest.mark.parametrize("item", examples())
def test_an_example_imports_what_it_uses(item):
    """With the doctests, which run every example, this lets a reader paste any of them."""
    assert missing_names(item) == []


# Longer than 400 lines: kernels, the registry of columns, and what is still to be split.
LONG = {
    "pareto/gap.py",
    *(
        f"metrics/{name}.py"
        for name in ("columns", "evaluation", "measures", "statistics", "table")
    ),
}


def code_lines(path):
    """Count the lines of a module that are neither blank, comment nor docstring."""
    text = path.read_text()
    prose = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            prose |= set(range(node.lineno, node.end_lineno + 1))
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    return sum(bool(line) and line[0] != "#" and number not in prose for number, line in lines)


def test_the_house_does_not_grow():
    """Hold the numbers that were reached: lower them when you delete, and say what raises one."""
    files = list(SOURCE.rglob("*.py"))
    assert len(files) <= 250
    assert sum(len(path.read_text().splitlines()) for path in files) <= 50_213
    assert sum(map(code_lines, files)) <= 33_132
    assert len([path for path in SOURCE.iterdir() if path.name != "__pycache__"]) <= 32
    for path in files:
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith("_kernels/") and name not in LONG:
            assert len(path.read_text().splitlines()) <= 400, f"split {name}"


# Free-form on purpose: keyword arguments of matplotlib and torch, checkpoints, pickling.
FREE_FORM = {
    *("beliefs/base.py", "truth/ratings.py"),
    *("deploy/estimator.py", "methods/_training/weights.py", "methods/_training/checkpoints.py"),
    *(
        "_kernels/__init__.py",
        "_kernels/machine_code.py",
        "_schema.py",
        "io/arrow.py",
        "io/saving.py",
    ),
}


def test_no_free_form_mapping_crosses_a_room():
    """A signature or field has a dataclass, a mapping of one type, or JsonObject at the door."""
    for path in modules():
        tree = ast.parse(path.read_text())
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        arguments = [a for f in functions for a in ast.walk(f.args) if isinstance(a, ast.arg)]
        hints = [f.returns for f in functions] + [a.annotation for a in arguments]
        fields = [n for c in ast.walk(tree) if isinstance(c, ast.ClassDef) for n in c.body]
        hints += [node.annotation for node in fields if isinstance(node, ast.AnnAssign)]
        free = any("dict[str, Any]" in ast.unparse(hint) for hint in hints if hint is not None)
        assert free == (path.relative_to(SOURCE).as_posix() in FREE_FORM), path


def test_the_page_about_the_house_has_every_room():
    page = PAGE.read_text()
    for room in PLACE:
        assert f"| `{room}` |" in page, "run python -m studies architecture"
    named = set(re.findall(r"^\| \d+ \| `([\w/]+\.py)`", page, re.MULTILINE))
    assert len(named) > 40
    gone = [name for name in sorted(named) if not (SOURCE / name).is_file()]
    assert not gone, "run python -m studies architecture"
