# Every target makes and uses .venv by itself: `make demo` and `make test` work on a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO_STAMP := $(VENV)/.installed-demo
# The real data that tests and the demo use where it is there; RUE_DATA overrides it.
RUE_DATA ?= $(wildcard $(CURDIR)/../shared/data)
export RUE_DATA
# Tests start many processes: each would compile all modules again that are not kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: results help demo test fuzz mutants test-slow test-peers test-matrix dist test-browser browser lint format speed docs numbers clean
help:            ## this list
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /  make \1\t/' | expand -t 20

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

$(DEMO_STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing rue and torch into $(VENV) (about a minute) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[torch]"
	touch $@

lint: $(STAMP)   ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP) ## let ruff put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: lint       ## lint, types and the whole suite
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not browser"

fuzz: $(STAMP)   ## 100,000 changed files through every reader; resumes, and writes out/fuzz.json
	PYTHONPATH=tests $(BIN)/python -m fuzz --cases 100000 --workers 2 --out out/fuzz.json

mutants: $(STAMP) ## 300 random changes of the core against its tests (hours); resumes, and writes out/mutants.json
	PYTHONPATH=tests $(BIN)/python -m mutants --number 300 --out out/mutants.json

test-slow: $(STAMP) ## the tests that take minutes, Ray's among them
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[ray]"
	$(BIN)/python -m pytest -m slow

test-peers:      ## probly and torch-uncertainty for real, in .venv-peers: it fetches gigabytes
	test -x $(VENV)-peers/bin/python || $(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip install --quiet --disable-pip-version-check \
	  -r tests/adapters/peers.txt -e .
	$(VENV)-peers/bin/python -m pytest tests/adapters/test_peers.py tests/methods/test_other_libraries.py

test-matrix:     ## the core suite on Python 3.11 to 3.13, and with the lowest versions: gigabytes
	.ci/matrix

dist: $(STAMP)   ## build wheel and sdist, check them, and try the wheel in an empty environment
	$(BIN)/python .ci/dist

browser:         ## Debian's chromium and its driver, installed if they are missing
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || \
	  { sudo=; test "$$(id -u)" = 0 || sudo="sudo -n"; \
	    $$sudo apt-get update -qq && $$sudo apt-get install -qq -y chromium chromium-driver; }

test-browser: $(STAMP) browser ## the report in a real browser
	$(BIN)/python -m pytest -m browser tests/browser

# The demo needs no tools of developers: it installs less, unless they are there already.
demo: $(if $(wildcard $(STAMP)),$(STAMP),$(DEMO_STAMP)) ## the main job on real data: fetch, fit, evaluate, draw
	$(BIN)/rue demo --out out/demo

docs: $(STAMP)   ## build the documentation site into site/, strict; it needs no network
	$(BIN)/python -m studies.site

numbers: $(STAMP) ## make every figure and number in docs/ and README anew, by running them
	$(BIN)/rue demo --out out/demo
	$(BIN)/rue report out/demo --out out/demo.html
	$(BIN)/rue bench run cifar10h-probe --out out/cifar --only seed=0
	$(BIN)/rue report out/cifar --out out/cifar10h.html
	$(BIN)/python -m studies --numbers
	$(MAKE) docs

results: $(STAMP) ## run the suites behind docs/results (an hour or more), and write their pages
	$(BIN)/rue bench run cifar10h-probe --out out/cifar10h-probe
	$(BIN)/rue bench run sentiment --out out/sentiment-movies --only dataset=sentiment-movies
	$(BIN)/rue bench run studies/conventions.toml --out out/conventions
	$(BIN)/rue bench run studies/conventions_short.toml --out out/conventions-short
	$(BIN)/python -m studies results out/cifar10h-probe out/sentiment-movies
	$(BIN)/python -m studies conventions out/conventions out/conventions-short
	$(BIN)/python -m studies published
	$(BIN)/rue bench run cifar10h-images --out out/cifar10h-images
	$(BIN)/rue bench run ferplus-images --out out/ferplus-images
	$(BIN)/rue bench run openml-6 --out out/openml-6
	$(BIN)/rue bench run openml-156-generated --out out/openml-156-generated
	$(BIN)/python -m studies results out/cifar10h-images out/ferplus-images
	$(BIN)/python -m studies cifar10h_images out/openml-6 out/openml-156-generated
	$(BIN)/rue bench run atlas --out out/atlas
	$(BIN)/rue bench run atlas-paper --out out/atlas-paper
	$(BIN)/rue bench run atlas-active --out out/atlas-active
	$(BIN)/rue bench run atlas-single-tuned --out out/atlas-single-tuned
	$(BIN)/rue bench run atlas-single-paper --out out/atlas-single-paper
	$(BIN)/rue bench run atlas-images --out out/atlas-images
	$(BIN)/python -m studies results out/atlas-images
	$(BIN)/rue bench run atlas-baselines --out out/atlas-baselines
	$(BIN)/rue bench run atlas-baselines-paper --out out/atlas-baselines-paper
	$(BIN)/rue bench run atlas-twenty --out out/atlas-twenty
	$(BIN)/rue bench run atlas-twenty-paper --out out/atlas-twenty-paper
	$(BIN)/rue bench run atlas-temperature --out out/atlas-temperature
	$(BIN)/python -m studies atlas_checks out/atlas
	$(BIN)/python -m studies atlas out/atlas out/atlas-paper out/atlas-active \
	  out/atlas-single-tuned out/atlas-single-paper out/atlas-baselines out/atlas-baselines-paper \
	  out/atlas-twenty out/atlas-twenty-paper out/atlas-temperature

speed: $(STAMP)  ## measure speed as ratios to peers, and write docs/speed.md
	$(BIN)/python -m speed

clean:           ## remove the environment and what was built
	rm -rf $(VENV) $(VENV)-* build dist site out
