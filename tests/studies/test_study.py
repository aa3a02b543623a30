"""Every study: its pages are those of its stored record, and no picture is stale."""

import inspect
import json

import pytest

from studies import FIGURES, ROOT, pictures, rows, study
from studies.__main__ import NAMES, NUMBERS
from studies.pages import fill


def has(name, function):
    return callable(getattr(study.module_of(name), function, None))


def with_function(function):
    return [name for name in NAMES if has(name, function)]


def test_the_runner_knows_every_study():
    kinds = ("compute", "pages", "figures", "run")
    files = [path.stem for path in (ROOT / "studies").glob("*.py") if path.stem[0] != "_"]
    files = [name for name in files if name not in ("study", "blocks")]  # blocks.run runs code
    does = {name for name in files for kind in kinds if has(name, kind)}
    assert does == set(NAMES)
    assert set(NUMBERS) < set(NAMES)
    numbers = (ROOT / "Makefile").read_text().partition("\nnumbers:")[2].partition("\n\n")[0]
    assert numbers.count("-m studies") == numbers.count("-m studies --numbers") == 1


@pytest.mark.parametrize("name", NAMES)
def test_what_a_study_runs_takes_the_options_alone(name):
    """A function ``run`` that a study imports would be taken for its own."""
    for function, n_given in (("run", 1), ("compute", 2)):
        if has(name, function):
            own = getattr(study.module_of(name), function)
            assert len(inspect.signature(own).parameters) == n_given
            assert own.__module__ == f"studies.{name}"


@pytest.mark.parametrize("name", with_function("pages"))
def test_pages_are_those_of_the_record(name):
    pages = study.module_of(name).pages(study.record_of(name))
    assert pages
    for path, text in pages.items():
        page = path.read_text()
        assert page == (text if isinstance(text, str) else fill(page, text)), path


def sources():
    """What each picture is drawn from."""
    found = {}
    for name in with_function("figures"):
        drawn = study.module_of(name).figures(study.record_of(name))
        found |= {key: pictures.shown_in(figure) for key, figure in drawn.items()}
    for name in with_function("sources"):
        found |= study.module_of(name).sources()
    return found


def test_no_picture_is_stale():
    stamps = json.loads(pictures.STAMPS.read_text())
    drawn = {path.stem for path in FIGURES.glob("*.png")}
    assert drawn == stamps.keys(), "keep_figure, keep_file and keep_image stamp pictures"
    computed = {name: pictures.stamp_of(source) for name, source in sources().items()}
    stale = [name for name in stamps.keys() & computed.keys() if stamps[name] != computed[name]]
    assert stale == [], "make numbers draws these pictures again"
    assert stamps.keys() - computed.keys() == NEED_PREDICTIONS


NEED_PREDICTIONS = {"agreement", "chaosnli", "data", "regret_calibration"}
"""Pictures that no record is enough for; the next test draws all but the first."""


@pytest.mark.slow
@pytest.mark.parametrize("name", with_function("drawn"))
def test_no_picture_of_data_is_stale(name, data_root):
    stamps = json.loads(pictures.STAMPS.read_text())
    for picture, figure in study.module_of(name).drawn(str(data_root)).items():
        assert picture in NEED_PREDICTIONS
        assert stamps[picture] == pictures.stamp_of(pictures.shown_in(figure)), picture


def test_a_study_is_computed_stored_and_filled(tmp_path, monkeypatch):
    """A study in two steps: the second run has the record of the first, --again has none."""
    page = tmp_path / "page.md"
    page.write_text("<!-- begin n -->\n<!-- end n -->\n")
    monkeypatch.setattr(rows, "ROWS", tmp_path / "rows")

    class Counter:
        @staticmethod
        def compute(record, options):
            for _ in options.words:
                record = record | {"n": record.get("n", 0) + 1}
                yield record

        @staticmethod
        def pages(record):
            return {page: {"n": f"{record['n']}"}}

    monkeypatch.setattr(study, "module_of", lambda _: Counter)
    study.compute("a_counter", study.Options(words=("x", "y")))
    assert page.read_text() == "<!-- begin n -->\n2\n<!-- end n -->\n"
    assert json.loads((tmp_path / "rows" / "a-counter.json").read_text())["n"] == 2
    assert "numpy" in study.record_of("a_counter")["versions"]
    study.compute("a_counter", study.Options(words=("x",)))
    assert study.record_of("a_counter")["n"] == 3
    study.compute("a_counter", study.Options(words=("x",), again=True))
    assert study.record_of("a_counter")["n"] == 1
