# goc: make demo shows it, make test proves it. Both fetch the crates they need; Rust itself must be there.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.PHONY: demo test test-browser test-python docs test-docs lint lint-python dependencies dist release-check faults fuzz foreign limits deny miri bench benchmark-real benchmark-missing benchmark-rivals reproduce toolchain clean

export CARGO_TERM_COLOR ?= auto
DATA := $(or $(GOC_DATA),../shared/data)
# Where cargo builds.
TARGET := $(or $(CARGO_TARGET_DIR),target)
VENV := .venv/bench
PYTHON := .venv/test/bin/python
SITE := $(TARGET)/site
TOOLS := .venv/tools

demo: toolchain ## simulate stars, make candidates, cluster, score, a page to look at: into ./goc-demo/
	cargo build --release --locked -p goc-cli
	$(TARGET)/release/goc demo

test: toolchain ## format, lints, every test, the documentation, the page in a browser, the Python package
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo test --workspace --locked
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
	$(MAKE) --no-print-directory dependencies
	python3 tests/faults/faults.py $(TARGET)/debug/goc --trials 50
	tests/browser/run
	$(MAKE) --no-print-directory test-python
	$(MAKE) --no-print-directory test-docs

test-browser: toolchain ## the report page in a real Chromium, which it installs if there is none
	cargo test --workspace --locked --test command --no-run
	tests/browser/run

test-python: toolchain ## the wheel and files of other programs, in a virtual environment of its own
	rm -rf .venv/test .venv/wheels
	python3 -m venv .venv/test
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r python/requirements-test.txt
	cargo test --workspace --locked --test command --no-run
	cd python && ../.venv/test/bin/maturin build --quiet --profile dev --locked --interpreter ../$(PYTHON) -o ../.venv/wheels
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps .venv/wheels/*.whl
	cargo build --workspace --locked --quiet --example convert
	$(PYTHON) tests/foreign/foreign.py $(TARGET)/debug/examples/convert
	$(PYTHON) -m pytest -q --import-mode=importlib -p no:cacheprovider python/tests
	$(MAKE) --no-print-directory lint-python

lint: toolchain ## what a commit must pass: rustfmt, clippy, ruff, mypy --strict
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	@test -x $(PYTHON) || { python3 -m venv .venv/test && $(PYTHON) -m pip install --quiet -r python/requirements-test.txt; }
	$(MAKE) --no-print-directory lint-python dependencies

lint-python:
	.venv/test/bin/ruff check --config python/pyproject.toml .
	cd python && ../.venv/test/bin/mypy --strict goc

dependencies: toolchain ## Rust version, licences, bans and sources of all dependencies, without cargo-deny
	python3 tests/release/dependencies.py

dist: toolchain ## what a release consists of, into dist/: archive of the command, wheel, sdist, checksums; then installed and used
	rm -rf dist && mkdir dist
	@test -x $(TOOLS)/maturin/bin/maturin || python3 -m venv $(TOOLS)/maturin
	$(TOOLS)/maturin/bin/pip install --quiet --disable-pip-version-check $$(grep '^maturin==' python/requirements-test.txt)
	cargo build --release --locked -p goc-cli
	cd python && ../$(TOOLS)/maturin/bin/maturin build --release --locked --quiet -o ../dist
	cd python && ../$(TOOLS)/maturin/bin/maturin sdist --quiet -o ../dist
	python3 tests/release/dist.py archive $(TARGET)/release/goc dist
	python3 tests/release/dist.py check dist

release-check: toolchain ## RELEASING.md as far as a machine can follow it (VERSION=x.y.z; without: a rehearsal)
	python3 tests/release/ready.py $(VERSION)
	cargo publish --workspace --dry-run --locked --allow-dirty
	$(MAKE) --no-print-directory dist

docs: toolchain ## the documentation site, its notebooks run, into target/site
	@test -x $(PYTHON) || python3 -m venv .venv/test
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r docs/requirements.txt
	cargo test --workspace --locked --quiet --test command --no-run
	cargo doc --workspace --no-deps --locked --quiet
	rm -rf .venv/wheels $(SITE) docs/reference/python
	cd python && ../.venv/test/bin/maturin build --quiet --profile dev --locked --interpreter ../$(PYTHON) -o ../.venv/wheels
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall .venv/wheels/*.whl
	$(PYTHON) docs/command_reference.py $(TARGET)/debug/goc docs/reference/command
	$(PYTHON) -m sphinx -q -W --keep-going -b html -d $(TARGET)/site-work docs $(SITE)
	cp -r $(TARGET)/doc $(SITE)/rust
	@echo "the site is in $(SITE)/index.html"

test-docs: docs ## the site in a real Chromium: links, console, search, equations
	SITE="$(abspath $(SITE))" tests/browser/run site.test.mjs

faults: toolchain ## every command killed, starved and denied (TRIALS=1000): the old or the new file, nothing else
	cargo build --release --locked --quiet -p goc-cli
	python3 tests/faults/faults.py $(TARGET)/release/goc --trials $(or $(TRIALS),1000) --seed $(or $(SEED),1)

fuzz: toolchain ## all that reads, fuzzed for SECONDS=60 each, led by coverage; prints executions and edges
	python3 fuzz/run.py --seconds $(or $(SECONDS),60) --seed $(or $(SEED),1)

foreign: toolchain ## every table below DIR (none: odd variants made here) read by goc and by astropy or pyarrow, compared
	cargo build --workspace --locked --quiet --example convert
	@test -x .venv/foreign/bin/python || python3 -m venv .venv/foreign
	.venv/foreign/bin/pip install --quiet --disable-pip-version-check $$(grep -E '^(astropy|numpy|pyarrow)==' python/requirements-test.txt)
	.venv/foreign/bin/python tests/foreign/foreign.py $(TARGET)/debug/examples/convert $(DIR)

limits: toolchain ## how long every method takes at 1e3, 1e4 and 1e5 objects of 3, 10 and 30 features (SECONDS=60 each)
	cargo build --release --locked --quiet -p goc-cli
	python3 tests/limits/limits.py $(TARGET)/release/goc --seconds $(or $(SECONDS),60)

deny: toolchain ## licences, bans and sources of all dependencies, by cargo-deny (installed here if there is none)
	@command -v cargo-deny >/dev/null || test -x $(TOOLS)/bin/cargo-deny || cargo install --quiet --locked --root $(TOOLS) cargo-deny
	export PATH="$$PATH:$(CURDIR)/$(TOOLS)/bin"; cargo deny --locked check licenses bans sources; \
	if cargo deny --locked fetch db >/dev/null 2>&1; then cargo deny --locked check advisories; \
	else echo "advisories: not checked, their database cannot be reached"; fi

miri: toolchain ## the command's own tests under Miri, for the unsafe code there is: needs a nightly toolchain with miri
	CARGO_TARGET_DIR="$(TARGET)/miri" cargo +nightly miri test --locked -p goc-cli --bin goc

bench: toolchain ## every hot path beside its rival, as ratios
	@test -x $(VENV)/bin/python || python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r bench/requirements.txt
	$(VENV)/bin/python bench/compare.py

benchmark-real: toolchain ## the mixture on real catalogues and on sets with a field, beside HDBSCAN (REAL=--quick: fewer seeds)
	cargo build --release --locked --quiet -p goc-cli
	@test -x $(VENV)/bin/python || python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r bench/requirements.txt
	GOC="$(TARGET)/release/goc" GOC_DATA="$(DATA)" $(VENV)/bin/python bench/real_sky.py $(REAL)

benchmark-missing: toolchain ## stars without a velocity or a metallicity, on mocks (MISSING=velocity: a part of it)
	cargo build --release --locked --quiet -p goc-cli
	@test -x $(VENV)/bin/python || python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r bench/requirements.txt
	GOC="$(TARGET)/release/goc" $(VENV)/bin/python bench/missing_values.py $(or $(MISSING),all)

benchmark-rivals: toolchain ## scores and cost of the methods that astronomers use (RIVALS=scores: a part of it)
	cargo build --release --locked --quiet -p goc-cli
	@test -x $(VENV)/bin/python || python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r bench/requirements.txt
	GOC="$(TARGET)/release/goc" GOC_DATA="$(DATA)" $(VENV)/bin/python bench/rivals.py $(or $(RIVALS),all)

reproduce: toolchain ## the paper's tables beside the published numbers, its figures, with both presets; then the marginal mixture
	cargo build --release --locked --quiet -p goc-cli
	@if [ -d "$(DATA)/paper" ]; then set -x; \
	  $(TARGET)/release/goc reproduce --data "$(DATA)" --preset authors --seeds 20 --figures -o goc-reproduce/authors; \
	  $(TARGET)/release/goc reproduce --data "$(DATA)" --preset paper --seeds 1 --figures -o goc-reproduce/paper; \
	  $(TARGET)/release/goc compare "$(DATA)"/paper/seed*.fits --k 50 --only marginal --feature-map actions --scale robust; \
	  cargo run --release --locked --quiet -p goc-galaxy --example mock_against_authors; \
	else echo "no data in $(DATA) (set GOC_DATA): sets made here instead"; \
	  $(TARGET)/release/goc reproduce --figures -o goc-reproduce/made; fi

toolchain:
	@command -v cargo >/dev/null || { echo "cargo is missing: install Rust 1.89 or later (https://rustup.rs)"; exit 1; }

clean:
	cargo clean
	rm -rf goc-demo goc-reproduce .venv tests/browser/node_modules
