"""Every code block of README and docs runs, or says why not and is checked by name."""

import os
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import rue
from rue.bench.suite import parse_suite
from studies import DOCS, ROOT, blocks, examples, gallery

PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
PAGES = [page for page in PAGES if page.parent != gallery.PAGES]  # test_gallery.py runs its scripts
N, DRAWS, K = 60, 4, 3


@pytest.fixture
def names(tmp_path, monkeypatch):
    """What pages take for granted: arrays of the reader's own, and files of the same."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.full(K, 0.6), N)
    counts = np.array([rng.multinomial(12, p) for p in truth])
    probs = np.array([rng.dirichlet(0.3 + 4 * p, DRAWS) for p in truth])
    np.save("counts.npy", counts)
    for name in ("ensemble", "mine", "model"):
        np.savez(f"{name}.npz", probs=probs if name != "mine" else probs[:, ::2])
    np.savez("evidential.npz", alpha=1 + 5 * probs[:, 0])
    np.savez("ddu.npz", probs=probs[:, 0], epistemic=probs[:, 0].min(axis=1))
    for name in ("cal", "new"):
        np.savez(f"{name}.npz", probs=probs, counts=counts)
    people, belief = rue.Annotations(counts), rue.Draws(probs)
    star, hat = rue.realize(people, belief, "zero_one"), rue.decompose(belief, "zero_one")
    other = rue.Draws(probs[:, :2])
    return {
        "rue": rue,
        "counts": counts,
        "probs": probs,
        "annotations": people,
        "belief": belief,
        "new_belief": belief,
        "star": star,
        "hat": hat,
        "belief_2": other,
    }


def found(page):
    return blocks.blocks(page.read_text())


WITH_CODE = [
    page
    for page in PAGES
    if any(b.language in blocks.RUN for b in found(page))
    and page not in (*examples.MARKED, *examples.PAIRED)
]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_block_runs(page, names):
    for block in found(page):
        if block.language in blocks.RUN and not block.reason:
            printed = blocks.run(block, names)
            says = block.language == "sh" or "print(" in block.text
            assert bool(printed.strip()) == says, block.text


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_block_that_is_not_run_is_checked(page):
    for block in found(page):
        if block.language in blocks.RUN and block.reason:
            assert blocks.check(block), f"nothing is checked in {block.text}"
            assert len(block.reason.split()) > 2, f"no reason: {block.reason}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_block_has_a_language_that_is_run_or_only_shown(page):
    for block in found(page):
        assert block.language in (*blocks.RUN, *blocks.SHOWN), block.text
    fences = len(re.findall(r"^```", page.read_text(), re.M))
    assert fences == 2 * len(found(page))  # none is overlooked


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_suite_can_be_read(page):
    for block in found(page):
        if block.language == "toml":
            table = tomllib.loads(block.text)
            if page.parent.name == "results" and "network" not in table:
                continue  # recorded as it was run, before suites had that key
            if "datasets" in table:
                assert parse_suite(block.text).name == table["name"]
            else:
                assert table["project"]["entry-points"].keys() <= {"rue.methods", "rue.datasets"}


def test_a_check_finds_what_is_not_there():
    check = [
        ("python", "from rue.data import lode", ImportError, "lode"),
        ("python", "rue.evaluat(1)", AttributeError, "evaluat"),
        ("python", "rue.evaluate(", SyntaxError, "never closed"),
        ("sh", "rue evaluate a.npz --los log", Exception, "(?i)no such option"),
        ("sh", "rue evalute a.npz", KeyError, "evalute"),
        ("sh", "make demos", ValueError, "no make demos"),
        ("sh", "curl here", ValueError, "curl is not known"),
    ]
    for language, text, error, message in check:
        with pytest.raises(error, match=message):
            blocks.check(blocks.Block(language, text, "a test"))
    shell = blocks.Block("sh", "rue evaluate a.npz \\\n --loss log  # x\nmake demo", "")
    assert blocks.check(shell) == ["rue evaluate a.npz --loss log", "make demo"]
    assert "rue.data.load" in blocks.check(blocks.Block("python", "rue.data.load('letter')", ""))


def test_a_command_that_fails_fails(names, capsys):
    with pytest.raises(RuntimeError, match="ended with 2"):
        blocks.run(blocks.Block("sh", "rue evaluate none.npz", ""), names)
    assert "none.npz" in capsys.readouterr().err


def test_marks_are_read():
    page = "<!-- not run: slow -->\n```sh\na\n```\n\n```sh\nb\n```\n"
    page += "<!-- python not run: no -->\n```python\nc\n```\n"
    assert [b.reason for b in blocks.blocks(page)] == ["slow", "", "no"]


@pytest.mark.parametrize("path", examples.MARKED, ids=lambda p: p.name)
def test_a_page_that_shows_what_it_prints_runs_and_prints_it(path):
    assert examples.filled(path) == path.read_text()


@pytest.mark.parametrize("path", examples.PAIRED, ids=lambda p: p.name)
def test_a_page_shows_below_each_block_what_it_prints(path, monkeypatch):
    page = path.read_text()
    root = Path(os.environ.get("RUE_DATA") or ROOT.parent / "shared" / "data")
    if root.is_dir():
        monkeypatch.setenv("RUE_DATA", str(root))
    else:  # what follows needs images
        page = page.partition("## 9. ")[0]
    assert examples.paired(page) == page


@pytest.mark.slow
@pytest.mark.parametrize(("name", "language"), [("data.md", "python"), ("bench.md", "sh")])
def test_what_takes_data_or_a_minute_runs_too(name, language, data_root, tmp_path, monkeypatch):
    monkeypatch.setenv("RUE_DATA", str(data_root))
    monkeypatch.chdir(tmp_path)
    ours = {"probs": np.full((10_000, 2, 10), 0.1)}
    printed = []
    for block in found(DOCS / name):
        if block.language == "toml":
            Path("ours.toml").write_text(block.text)
        elif block.language == language and (language == "python" or "test-slow" in block.reason):
            printed.append(blocks.run(block, ours))
    assert "".join(printed).strip() if language == "sh" else "data" in ours
