# Every target sets up what it needs on a machine with Python 3.11, git and make.
PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
READY := $(VENV)/.ready

.PHONY: help demo lab docs picture pictures test quick deep lint bench corpora clean

help: ## what each target does
	@grep -hE '^[a-z]+:.*## ' Makefile | sed 's/:.*## /\t/'

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(READY)

demo: $(READY) ## replay a bundled chat, with a hand edit, an undo and a second chat
	$(BIN)/python tests/demo/demo.py

lab: $(READY) ## open the tour in JupyterLab
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[lab]'
	$(BIN)/python -m jupyter lab --allow-root notebooks/01-tour.ipynb

test: $(READY) ## all tests
	$(BIN)/python -m pytest -n auto --dist worksteal

quick: $(READY) ## tests that take a moment
	$(BIN)/python -m pytest -n auto --dist worksteal -m 'not slow'

deep: $(READY) ## property tests with ten times the examples
	HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest tests/property

docs: $(READY) ## build the pages into build/docs, warnings as errors
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs

lint: $(READY) ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY) ## measure speed as ratios, write docs/benchmarks.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m tests.bench

picture: $(READY) ## draw the README's picture from what the demo prints now
	$(BIN)/python tests/demo/picture.py

pictures: $(READY) ## take the pictures of the panel anew (needs Chromium)
	PYTHONPATH=tests $(BIN)/python -m browser.pictures

corpora: $(READY) ## make the editors' fixtures again with the real tools (needs node >= 20)
	$(BIN)/python -m tests.corpora

clean:
	rm -rf $(VENV) build node_modules lmstudio_plugin/node_modules lmstudio_plugin/build .pytest_cache .mypy_cache .ruff_cache
