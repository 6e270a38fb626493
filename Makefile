# Everything here makes its own virtual environment; nothing needs to be installed first but
# Python 3.11 or newer, a C++20 compiler and make.
#
#   make demo            build, install and run `mixwood demo`
#   make test            lint, types, tests, doctests
#   make test-long       the long statistical runs, with fresh printed seeds (SHARE=0.1: a tenth)
#   make test-minimums   tests with the oldest versions of other packages that are declared
#   make test-clang      the core's tests with the core built by Clang, warnings being errors
#   make test-aarch64    the core cross-compiled for 64-bit ARM, its tests under QEMU
#   make test-sanitize   the core's tests under address and undefined-behaviour sanitizers
#   make test-kills      work on run folders, killed at KILLS random moments
#   make fuzz            odd arguments and damaged files, for FUZZ_SECONDS and FUZZ_EXAMPLES
#   make fuzz-states     damaged states of chains, under sanitizers, for FUZZ_SECONDS
#   make dist-check      source distribution, wheels, and what a user does with them
#   make docs            the documentation, into docs/_build/html
#   make bench           the benchmarks, one JSON record each; make bench-compare shows changes
#   make bench-peers     mixwood next to what a user would pick instead, on the same data
#   make lint format stubs clean

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SOURCES := $(shell find cpp src -name '*.hpp' -o -name '*.cpp' -o -name '*.inc' -o -name '*.py' -o -name '*.pyi') \
           CMakeLists.txt pyproject.toml
PYTEST := $(BIN)/python -m pytest -q
ISA_TESTS := tests/unit/core/test_core.py tests/unit/core/test_kernels.py tests/unit/core/test_predictive_table.py \
             tests/statistical/test_twin.py tests/statistical/test_tree_sampler_twin.py

.PHONY: demo test test-python test-arviz test-long test-aarch64 test-clang test-core test-minimums test-kills test-sanitize fuzz fuzz-states dist-check docs bench bench-compare bench-peers lint format stubs clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Groups of packages need a new pip; installing mixwood does not.
$(VENV)/.pip: $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	touch $@

$(VENV)/.installed: $(BIN)/python $(SOURCES) .ci/install
	@$(BIN)/python .ci/install $(PIP_OPTIONS)
	@touch $@

$(VENV)/.test: $(VENV)/.pip pyproject.toml
	$(BIN)/python -m pip install --quiet --group test --group lint
	touch $@

$(VENV)/.docs: $(VENV)/.pip pyproject.toml
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

demo: $(VENV)/.installed
	$(BIN)/mixwood demo

test: lint test-python

test-python: $(VENV)/.installed $(VENV)/.test
	$(PYTEST) -n auto -m 'not long' --durations=10 --doctest-modules --doctest-glob='*.md' --pyargs mixwood tests docs
	MIXWOOD_ISA=baseline $(PYTEST) -n auto $(ISA_TESTS)

# What touches ArviZ, for another Python: make test-arviz VENV=.venv-new PYTHON=python3.13
test-arviz: $(VENV)/.installed $(VENV)/.test
	$(PYTEST) -n auto tests/unit/posterior/test_arviz.py tests/unit/posterior/test_summary.py tests/unit/posterior/test_posterior.py \
	  tests/unit/store/test_save.py tests/unit/sampling/test_sample.py

# All of them take an hour or two of two cores; SHARE=0.1 runs a tenth, drawn by LONG_SEED, which
# also says which samplers have their turn with which priors.
SHARE ?= 1
LONG_SEED ?= $(shell date +%s)
test-long: $(VENV)/.installed $(VENV)/.test
	MIXWOOD_LONG_SHARE=$(SHARE) MIXWOOD_LONG_SEED=$(LONG_SEED) $(PYTEST) -n auto -m long -rP tests

# The core as Clang builds it, without a warning.
test-clang:
	$(MAKE) test-core VENV=.venv-clang PIP_OPTIONS="-Cbuild-dir=build/clang \
	  -Ccmake.define.CMAKE_CXX_COMPILER=clang++ -Ccmake.define.MIXWOOD_WERROR=ON"

test-core: $(VENV)/.installed $(VENV)/.test
	$(PYTEST) -n auto $(ISA_TESTS)

# On Debian or Ubuntu with a cross-compiler and QEMU: says what is missing, installs nothing.
test-aarch64: $(VENV)/.pip
	.ci/aarch64 $(BIN)/python

test-minimums:
	.ci/minimums $(PYTHON)

test-sanitize: $(VENV)/.installed $(VENV)/.test
	.ci/sanitize $(BIN)/python

FUZZ_SECONDS ?= 1800
FUZZ_EXAMPLES ?= 1000
fuzz: $(VENV)/.installed $(VENV)/.test
	$(BIN)/python -m pip install --quiet --group fuzz
	MIXWOOD_FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(PYTEST) -n auto tests/fuzz
	$(BIN)/python tests/fuzz/files.py $(FUZZ_SECONDS)

# Damaged states of chains, under sanitizers; FUZZ_SECONDS of CPU.
fuzz-states: $(VENV)/.installed $(VENV)/.test
	.ci/sanitize $(BIN)/python tests/fuzz/states.py $(FUZZ_SECONDS)

# Work on run folders, killed so often at random moments: each time it ends as if undisturbed.
KILLS ?= 1000
test-kills: $(VENV)/.installed $(VENV)/.test
	place=$$(mktemp -d) && $(BIN)/python tests/fuzz/kills.py $$place $(KILLS) && rm -r $$place

dist-check:
	$(PYTHON) .ci/dist-check

lint: $(VENV)/.test $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $$(git ls-files 'cpp/*.hpp' 'cpp/*.cpp' 'cpp/*.inc')

format: $(VENV)/.test
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(git ls-files 'cpp/*.hpp' 'cpp/*.cpp' 'cpp/*.inc')

stubs: $(VENV)/.installed $(VENV)/.test
	$(BIN)/python -m nanobind.stubgen -m mixwood._core -o src/mixwood/_core.pyi

docs: $(VENV)/.installed $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "documentation: docs/_build/html/index.html"

bench: $(VENV)/.installed $(VENV)/.test
	$(BIN)/python -m benchmarks

bench-compare: $(VENV)/.installed
	$(BIN)/python -m benchmarks compare

bench-peers: $(VENV)/.installed $(VENV)/.pip
	$(BIN)/python -m pip install --quiet --group peers
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.peers

clean:
	rm -rf build $(VENV) .venv-* docs/_build docs/_made
