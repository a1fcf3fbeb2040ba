PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: bench test check gallery figures perf lock clean

bench: $(VENV)/installed  ## measure the shipped models on the shipped recordings
	$(BIN)/python -m pytest benchmarks

test: $(VENV)/installed  ## run the tests
	$(BIN)/python -m pytest tests -n 2

check: $(VENV)/installed  ## linter, formatter and type checker
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

gallery: $(VENV)/installed  ## write docs/gallery.md and its drawings
	$(BIN)/python -m collabtax tasks --gallery docs

figures: $(VENV)/installed  ## measure all tasks and state it in docs/tasks.md; takes minutes
	$(BIN)/python -m pytest benchmarks/bench_tasks.py -q --benchmark-max-time=0.2 --benchmark-json=runs/tasks.json
	$(BIN)/python -m collabtax tasks --figures runs/tasks.json docs/tasks.md

perf: $(VENV)/installed  ## measure the suite's own speed
	$(BIN)/python benchmarks/perf.py

$(VENV)/installed: requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

lock:  ## resolve the pinned versions anew; needs uv
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-header --prerelease if-necessary-or-explicit --upgrade -o requirements.lock

clean:
	rm -rf $(VENV) runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
