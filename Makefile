# Two commands do all: `make run` (a search over recordings) and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
JOBS ?= 2

.PHONY: run snapshot test check format bench eval docs conformance bundle soak clean
.DELETE_ON_ERROR:

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install pip==26.3

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install -c constraints.txt -e '.[all]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) install -c constraints.txt --group dev
	touch $@

run: $(VENV)/.installed
	$(BIN)/consilience search "javascript tutorial" --replay

# Tests start the program a hundred times: let Python keep what it compiled.
test: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/.installed-dev
	rm -f .coverage .coverage.*
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --cov --cov-report= -q
	mkdir -p build
	$(BIN)/coverage report --fail-under=95 --skip-covered > build/coverage.txt || gate=$$?; \
	tail -n 40 build/coverage.txt; exit $${gate:-0}

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/consilience engines check

# The official MCP suite; needs npm for its runner, which lands in the ignored folder .tools.
conformance: $(VENV)/.installed-dev
	tests/mcp_conformance/run.sh

# What the server says before any call, for the instant start; again after every change of a tool.
snapshot: $(VENV)/.installed
	$(BIN)/python -m server.snapshot

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed-dev
	$(BIN)/python -m server.reference docs
	$(BIN)/python -m server.install.guide docs/clients.md
	$(BIN)/python -m framework.authoring.reference docs/engines.md
	$(BIN)/zensical build --strict --clean --config-file mkdocs.yml

# One file that desktop clients install by a double click.
bundle: $(VENV)/.installed
	$(BIN)/python -m server.install.bundle build/consilience.mcpb

bench: $(VENV)/.installed-dev
	$(PIP) install -c constraints.txt --group bench
	$(PIP) install --no-deps readability-lxml==0.9
	$(BIN)/python benchmarks/run.py

# Memory, files and tasks must stay flat; CI takes 20,000, about a minute of two idle cores.
SEARCHES ?= 200000
soak: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/soak.py --searches $(SEARCHES)

# Relevance cases and a stress run over the recorded pages; the report lies in build/evaluation.
eval: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/evaluate.py
	$(BIN)/python benchmarks/evidence.py

# The pins: every package with ==, no addresses; with digests for the image.
COMPILE := $(BIN)/uv pip compile --quiet --no-emit-index-url --no-header --no-annotate \
	--all-extras --python-version 3.11 -c constraints.txt pyproject.toml
pins: $(VENV)/bin/python
	$(PIP) install uv
	$(COMPILE) --group dev --group bench -o constraints.txt
	$(COMPILE) --generate-hashes -o constraints-hashes.txt

clean:
	rm -rf $(VENV) .coverage .coverage.* .mypy_cache .ruff_cache build dist site
