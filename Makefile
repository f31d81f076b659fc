# Everything sets itself up: Python 3.10 or later, Rust and a C compiler are all that is needed.
VENV := .venv
PYTHON ?= python3
BIN := $(VENV)/bin
DEMO := floatgate-demo

.PHONY: help setup module build demo test test-rust test-python test-long lint bench instructions fuzz mutants docs pictures release-tools wheel sbom licenses deny \
	lock clean

help:
	@echo "make demo       set up, compare the five systems with their rivals, write an HTML page"
	@echo "make test       set up, run every test but the long ones"
	@echo "make test-long  the long ones too"
	@echo "make lint       formatters, linters, type checker"
	@echo "make bench      page programs/s, bytes/page; maps, buffers, log blocks; trace reading"
	@echo "make instructions  instructions per page along nine paths, held against a table (valgrind)"
	@echo "make fuzz       TARGET=config|image|operations|nvme_pdu|nvme_commands for SECONDS=3600 (nightly Rust, cargo-fuzz)"
	@echo "make mutants    FILES='a.rs b.py' or CHANGED=REVISION; SHARD=0/10 for one in ten, MINUTES=10"
	@echo "make docs       the documentation as a site, in site/"
	@echo "make pictures   renew the pictures and the reference pages of the documentation"
	@echo "make wheel      a wheel for many Linuxes and a source distribution, in dist/; docs/release.md has the rest"
	@echo "make sbom       what is in them and in an environment where they are installed, in dist/"
	@echo "make licenses   renew third-party/: the licences of the crates that a wheel holds"
	@echo "make deny       licences, sources and known holes of all crates, against deny.toml"
	@echo "make lock       renew requirements.lock and those of the build, mutants, docs and release"

# Python compiles a module when it is first imported: most of what pip would compile never is.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

# What builds and runs Floatgate, then what tests and linters need in addition.
$(VENV)/build-ready: requirements-build.lock
	$(PYTHON) -m venv $(VENV)
	$(PIP) -r requirements-build.lock
	touch $@

$(VENV)/ready: requirements.lock $(VENV)/build-ready
	$(PIP) -r requirements.lock
	touch $@

setup: $(VENV)/ready

# Where cargo builds, if something else than target/ is asked of it.
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)

# The compiled module, built in place. Cargo knows what is up to date.
module: $(VENV)/build-ready
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --quiet --locked

# The module and, on Linux, the plugin of nbdkit for live drives. The module is named again so that both
# are built with the same features, on one build of floatgate-lab.
PLUGIN := libfloatgate_nbdkit.so
build: module
ifeq ($(shell uname),Linux)
	cargo build --release --quiet --locked -p floatgate-py -p floatgate-nbdkit
	cmp -s $(TARGET_DIR)/release/$(PLUGIN) python/floatgate/$(PLUGIN) \
		|| (cp $(TARGET_DIR)/release/$(PLUGIN) python/floatgate/$(PLUGIN).part \
			&& mv python/floatgate/$(PLUGIN).part python/floatgate/$(PLUGIN))
endif

demo: module
	$(BIN)/floatgate tour --out $(DEMO) --force

test: test-rust test-python

test-rust:
	cargo test --quiet --locked -p floatgate-ftl -p floatgate-lab -p floatgate-nvme -p floatgate-fuzz

test-python: setup build
	$(BIN)/python -m pytest -q -n 2 -m "not long"

# Examples are drawn at random here alone: a failure prints the one to add to its test as @example.
# The wheel is built first: it is installed in a fresh environment of each Python. The site is built
# by a test, which needs what `make docs` does.
test-long: setup build wheel $(VENV)/docs-ready
	cargo test --locked --release -p floatgate-ftl -p floatgate-lab -p floatgate-nvme -p floatgate-fuzz -- --include-ignored
	FLOATGATE_EXAMPLES=random $(BIN)/python -m pytest -q -n 2 --dist worksteal

lint: setup
	cargo fmt --all --check
	cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --workspace --no-deps

bench: build
	cargo bench --locked -p floatgate-ftl
	cargo bench --locked -p floatgate-lab
	$(BIN)/python benches/trace_reading.py
	$(BIN)/python benches/billion.py

instructions:
	$(PYTHON) tools/instructions.py

# What is kept is the smallest set of inputs that reaches what all reached; see docs/testing.md.
TARGET ?= operations
SECONDS ?= 3600
FUZZED := $(TARGET_DIR)/fuzz/$(TARGET)
CORPUS := cargo run --quiet --locked --release -p floatgate-fuzz --example corpus
FUZZ := cargo +nightly fuzz
UNCHECKED := --sanitizer none --no-trace-compares
fuzz:
	rm -rf $(FUZZED) && mkdir -p $(FUZZED)/kept $(FUZZED)/found
	$(CORPUS) unpack fuzz/corpus/$(TARGET).hex $(FUZZED)/corpus
	$(FUZZ) run $(UNCHECKED) $(TARGET) $(FUZZED)/corpus -- -max_total_time=$(SECONDS) \
		-max_len=4096 -timeout=300 -rss_limit_mb=4096 -artifact_prefix=$(FUZZED)/found/
	$(FUZZ) run $(UNCHECKED) $(TARGET) $(FUZZED)/kept $(FUZZED)/corpus -- -merge=1 -use_counters=0
	$(CORPUS) pack fuzz/corpus/$(TARGET).hex $(FUZZED)/kept

$(VENV)/mutants-ready: requirements-mutants.lock $(VENV)/ready
	$(PIP) -r requirements-mutants.lock
	touch $@

# See docs/testing.md.
FILES ?=
mutants: build $(VENV)/mutants-ready
	$(BIN)/python tools/mutants.py $(FILES) $(if $(CHANGED),--changed $(CHANGED)) \
		$(if $(SHARD),--shard $(SHARD)) $(if $(MINUTES),--minutes $(MINUTES))

$(VENV)/docs-ready: requirements-docs.lock $(VENV)/ready
	$(PIP) -r requirements-docs.lock
	touch $@

# mkdocs.yml says what fails it. The variable keeps an advertisement off the terminal.
docs: $(VENV)/docs-ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The pages in docs/reference/, and every picture that a program draws.
pictures: module
	for tool in tools/reference.py tools/pictures_*.py; do $(BIN)/python $$tool || exit 1; done

$(VENV)/release-ready: requirements-release.lock $(VENV)/ready
	$(PIP) -r requirements-release.lock
	touch $@

# What cargo brings of the tools below; the versions are those that docs/dependencies.md names.
release-tools: $(VENV)/release-ready
	command -v cargo-about >/dev/null || cargo install --locked --version 0.9.3 --features cli cargo-about
	command -v cargo-cyclonedx >/dev/null || cargo install --locked --version 0.5.9 cargo-cyclonedx
	command -v cargo-deny >/dev/null || cargo install --locked --version 0.20.2 cargo-deny

# Zig links against glibc 2.17, which Linux distributions since 2014 have; one wheel serves all Pythons (abi3).
WITH_ZIG := PATH="$(CURDIR)/$(BIN):$$PATH"
TRIPLE := $(shell uname -m)-unknown-linux-gnu
DIST := dist
LINKED := floatgate-py floatgate-nbdkit
# maturin takes what lies in the tree alone, so not in $(TARGET_DIR).
PARTS := target/sbom
# Panics name files of the sources: not by where they are on this machine.
CARGO_AT := $(or $(CARGO_HOME),$(HOME)/.cargo)
REMAPPED := RUSTFLAGS="$(strip $(RUSTFLAGS) --remap-path-prefix=$(CARGO_AT)=cargo --remap-path-prefix=$(CURDIR)=floatgate)"

# cargo-cyclonedx writes about every crate beside its manifest. It names our crates by their directories,
# of which the last is left, and says that they are to be had from there, which is left out.
wheel: release-tools
	rm -rf $(DIST) $(PARTS) && mkdir -p $(PARTS)
	$(WITH_ZIG) $(REMAPPED) cargo-zigbuild zigbuild --release --quiet --locked -p floatgate-nbdkit --target $(TRIPLE).2.17
	cp $(TARGET_DIR)/$(TRIPLE)/release/$(PLUGIN) python/floatgate/$(PLUGIN).part
	mv python/floatgate/$(PLUGIN).part python/floatgate/$(PLUGIN)
	cargo cyclonedx --quiet --format json --spec-version 1.5 --target $(TRIPLE) --no-build-deps \
		--override-filename sbom
	for crate in $(LINKED); do \
		sed -e 's|path+file://[^"#]*/\([^/"#]*\)#|path+\1#|g' -e 's|?download_url=file://[^"#]*||g' \
			crates/$$crate/sbom.json > $(PARTS)/$$crate.cyclonedx.json || exit 1; \
	done
	rm -f crates/*/sbom.json fuzz/sbom.json
	$(WITH_ZIG) $(REMAPPED) maturin build --release --quiet --locked --zig --compatibility manylinux2014 \
		--out $(DIST) $(LINKED:%=--sbom-include $(PARTS)/%.cyclonedx.json)
	$(BIN)/maturin sdist --out $(DIST)
	$(BIN)/twine check --strict $(DIST)/*

# A wheel brings its own; this is of the Python packages that pip takes with it today. The tool reads no
# version that is maturin's to find.
VERSION = $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' Cargo.toml)
sbom: wheel
	rm -rf $(PARTS)/venv && $(PYTHON) -m venv --without-pip $(PARTS)/venv
	$(BIN)/uv pip install --quiet --python $(PARTS)/venv/bin/python $(DIST)/*.whl
	sed 's/^dynamic = \["version"\]$$/version = "$(VERSION)"/' pyproject.toml > $(PARTS)/pyproject.toml
	$(BIN)/cyclonedx-py environment --output-reproducible --pyproject $(PARTS)/pyproject.toml \
		-o $(DIST)/floatgate-environment.cyclonedx.json $(PARTS)/venv/bin/python

ABOUT := cargo about generate --config about.toml --locked about.hbs --manifest-path
licenses: release-tools
	$(ABOUT) crates/floatgate-py/Cargo.toml -o third-party/module.txt
	$(ABOUT) crates/floatgate-nbdkit/Cargo.toml -o third-party/plugin.txt

# Known holes are asked of a database on the web.
CHECKS := advisories bans licenses sources
deny:
	cargo deny --locked check $(CHECKS)

LOCK := $(BIN)/uv pip compile --quiet pyproject.toml --universal --python-version 3.10 \
	--no-header --no-emit-index-url --no-emit-find-links
lock: setup
	$(LOCK) --group tools -o requirements.lock
	$(LOCK) --group build --constraint requirements.lock -o requirements-build.lock
	$(LOCK) --group mutants --constraint requirements.lock -o requirements-mutants.lock
	$(LOCK) --group docs --constraint requirements.lock -o requirements-docs.lock
	$(LOCK) --group release --constraint requirements.lock -o requirements-release.lock

clean:
	rm -rf $(VENV) target site dist $(DEMO)
