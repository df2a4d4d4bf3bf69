# Two commands to know: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
WARM   := $(VENV)/.warm

# The reference data sets, where a copy lies beside the checkout.
ifndef VORONYM_DATA
ifneq ($(wildcard ../shared/data/census.csv),)
export VORONYM_DATA := $(abspath ../shared/data)
endif
endif

.PHONY: help install demo test test-all test-stores test-lowest test-pythons lint style docs pictures papers-table bench dist sbom audit clean

help:            ## list the commands
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 12

install: $(WARM)   ## make .venv with everything in it, kernels compiled

$(STAMP): pyproject.toml location/pyproject.toml papers/pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "voronym needs Python 3.11 or newer; set PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV) || { echo "no venv module: on Debian or Ubuntu, apt-get install python3-venv"; exit 1; }
	HATCH_BUILD_NO_HOOKS=true $(BIN)/python -m pip install --quiet --editable '.[test,docs]' --editable location --editable papers
	@touch $(STAMP)

# Kernels are compiled once, so that nobody's first run waits for it. Tests compile what they need.
$(WARM): $(STAMP) $(wildcard src/voronym/_kernels/*.py src/voronym/_kernels/signatures.txt)
	$(BIN)/python -m voronym._kernels.warm
	@touch $(WARM)

demo: install    ## anonymize a table of patients and write a report
	$(BIN)/voronym demo

lint: style      ## style, layers, types
	$(BIN)/mypy

style: $(STAMP)  ## style and layers alone
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

# Processes are the threads: BLAS would have two more, which wait for each other. A third process works while tests
# of the others wait. Commands that tests start as processes of their own find the package compiled. Types are
# checked meanwhile; what is wrong with them is told last. Loops that did not come compiled take most of a first
# run's time: they are compiled with little optimisation, which changes no result, and kept apart from those of
# users. Polars' threads only wait for each other, too, in tables of a few rows; `make test-all` has them, as users do.
LOOPS  := NUMBA_OPT=1 NUMBA_CACHE_DIR=$(abspath $(VENV))/.loops
PYTEST := env -u PYTHONDONTWRITEBYTECODE OPENBLAS_NUM_THREADS=1 $(LOOPS) $(BIN)/python -m pytest -n 3 --dist worksteal
TYPES  := $(VENV)/.types

define both
	@nice $(BIN)/mypy > $(TYPES) 2>&1 & types=$$!; $(1); tests=$$?; \
	wait $$types; types=$$?; cat $(TYPES); exit $$((tests > types ? tests : types))
endef

test: style $(WARM)  ## the whole test suite, six minutes on two cores
	$(call both,POLARS_MAX_THREADS=1 $(PYTEST) -m "not slow")

test-all: style $(WARM)  ## everything, the slow tests included
	$(call both,$(PYTEST) --hypothesis-profile=thorough)

test-stores: $(WARM)  ## sources and sinks in object stores, Delta and Iceberg, which a plain install skips
	$(BIN)/python -m pip install --quiet --editable '.[test-stores]'
	if command -v npm > /dev/null; then npm install --silent --no-save --prefix $(VENV) azurite; fi
	$(PYTEST) -m "not slow" tests/table/test_matrix.py tests/table/test_s3.py tests/table/test_clouds.py \
		tests/table/test_sinks.py tests/scale/test_afar.py

# Without extras, in environments of their own: the oldest version that each dependency declares, and the newest
# ones on every Python that uv finds on this machine.
define fresh
	uv venv --quiet --clear --python $(1) $(VENV)-$(2)
	uv pip install --quiet --python $(VENV)-$(2)/bin/python --resolution $(3) . 'pytest>=8.0'
	rm -rf $(VENV)-$(2)/demo && $(VENV)-$(2)/bin/voronym demo --folder $(VENV)-$(2)/demo
	$(VENV)-$(2)/bin/python -m pytest -q -p no:cacheprovider --noconftest -o addopts= -o filterwarnings= tests/smoke
endef

test-lowest:     ## the demo and a smoke test with the lowest declared versions
	$(call fresh,$(PYTHON),lowest,lowest-direct)

PYTHONS := 3.11 3.12 3.13 3.14
test-%:
	$(call fresh,$*,$*,highest)

test-pythons:    ## the same on every Python from 3.11 on that is there
	@for python in $(PYTHONS); do \
		uv python find --quiet --no-python-downloads $$python > /dev/null 2>&1 || { echo "no Python $$python here"; continue; }; \
		$(MAKE) test-$$python || exit 1; done

dist: $(STAMP)   ## build sdists and wheels into dist/, the same bytes each time
	$(BIN)/python packaging/build.py dist

sbom: $(STAMP)   ## write dist/voronym.cdx.json, the bill of materials
	$(BIN)/python -m pip install --quiet cyclonedx-bom
	mkdir -p dist
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --of JSON -o dist/voronym.cdx.json $(BIN)/python
	$(BIN)/python packaging/sbom.py dist/voronym.cdx.json

# Strict: what cannot be looked up, as without a network, is a failure and no clean bill.
audit: $(STAMP)  ## look for known vulnerabilities in what is installed
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/python -m pip freeze --exclude-editable > $(VENV)/frozen.txt
	$(BIN)/pip-audit --strict --no-deps --disable-pip --requirement $(VENV)/frozen.txt

docs: $(STAMP)   ## build the documentation into docs/_build/html
	$(BIN)/sphinx-build -q -W -b html docs docs/_build/html

pictures: install ## draw the README's picture and table again
	$(BIN)/python docs/_ext/pictures.py

papers-table: install ## write the documentation's table of the papers again
	$(BIN)/python docs/_ext/papers_table.py

bench: install   ## speed, memory and loss, as ratios against a baseline in the same run
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m benchmarks

clean:           ## remove what the other commands made
	rm -rf $(VENV) $(VENV)-* dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
