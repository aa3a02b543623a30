"""The page on files and faults: its figures are of its run, and its tests are there."""

import re

from studies import ROOT
from studies.reliability import PAGE, fuzz_text, mutants_text
from studies.rows import read_rows


def test_mutants_that_change_behaviour_are_killed_by_tests_that_exist():
    runs = read_rows("mutants")["runs"]
    results = [result for run in runs for result in run["mutants"].values()]
    tests = [result["killed_by"] or result["killed_since"] for result in results]
    changing = [
        test for test, result in zip(tests, results, strict=True) if not result["judgement"]
    ]
    assert sum(map(bool, changing)) >= 0.95 * len(changing)
    for result in results:
        file, _, name = result["killed_since"].partition("::")
        assert not name or f"def {name}(" in (ROOT / file).read_text(), result["killed_since"]


def test_mutants_are_counted_by_what_became_of_them():
    results = [
        {"killed_by": "tests/io", "judgement": "", "killed_since": ""},
        {"killed_by": None, "judgement": "", "killed_since": "tests/io/test_a.py::test_b"},
        {"killed_by": None, "judgement": "It only grows.", "killed_since": ""},
        {"killed_by": None, "judgement": "", "killed_since": ""},
    ]
    named = {f"io/a.py:{line} 1 -> 2": result for line, result in enumerate(results)}
    run = {"date": "2026-01-01", "drawn": 9, "mutants": named}
    text = mutants_text({"runs": [run]})
    assert text.startswith("4 random mutants of 1 packages were tried: on 2026-01-01 4 of 9 that")
    assert "Of the 3 that change it, 33 % were noticed at first and 67 % (2) are now" in text
    assert "| io | 4 | 1 | 1 | 1 | 1 |" in text


def test_the_run_was_a_whole_one_and_what_it_found_is_mended():
    first, *later = read_rows("fuzz")["runs"]
    assert first["tried"] == first["cases"] == 100_000
    assert first["results"] + first["errors"] + len(first["failures"]) == 100_000
    for run in (first, *later):
        assert run["peak_memory_mib"] < 1024
        assert run["slowest_case"][0] < 10
    if later:
        assert not later[-1]["failures"]
        assert {each["kind"] for each in first["failures"]} <= set(later[-1]["by_kind"])


def test_no_case_that_failed_fails_now():
    from fuzz import cases

    for each in read_rows("fuzz")["runs"][0]["failures"]:
        assert cases.kind_of(each["case"]) == each["kind"]
        found = cases.run(each["case"])
        assert found.kind != "failure", (each["case"], found.text)


def test_failures_are_listed():
    first, *_ = read_rows("fuzz")["runs"]
    broken = first | {"failures": [{"case": 7, "kind": "own data", "text": "KeyError: 1 (a:1)"}]}
    text = fuzz_text([broken])
    assert "and 1 failure. The slowest" in text
    assert "- Case 7 (own data): `KeyError: 1`" in text


def test_every_test_that_the_page_names_exists():
    named = set(re.findall(r"`(test_\w+)`", PAGE.read_text()))
    assert len(named) > 20
    source = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert not [name for name in sorted(named) if f"def {name}(" not in source]
    for file in re.findall(r"`(tests/[\w/]+\.py)`", PAGE.read_text()):
        assert (ROOT / file).is_file(), file


def test_the_page_is_in_the_menu():
    assert "reliability.md" in (ROOT / "mkdocs.yml").read_text()
