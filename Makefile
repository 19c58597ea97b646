# `make help` lists what there is. Everything that is made lives in .venv, build and node_modules; `make clean` deletes it.

PYTHON ?= python3
ROUTERD_CYTHON ?= auto
# Tests run on the object that is there. Without one they need no training, which takes most of the time of a build.
ifneq ($(filter test test-%,$(MAKECMDGOALS)),)
ROUTERD_TRAINING ?= $(if $(wildcard .venv/.built-*-auto-*),auto,off)
endif
ROUTERD_TRAINING ?= auto
ROUTERD_RETURN_CODES ?= auto
export PYTHON ROUTERD_CYTHON ROUTERD_TRAINING ROUTERD_RETURN_CODES

BIN := .venv/bin
PIP := $(BIN)/pip --disable-pip-version-check install --quiet --constraint constraints.txt
# Installs the project where it stands; its modules are compiled by a step of their own, whose words pip would hide.
PIP_PROJECT := ROUTERD_CYTHON=off $(PIP) --no-build-isolation --editable
# Most tests wait for a router more than they work, so that more processes than cores are done sooner. A module of tests
# stays in one of them, with the routers that it started.
PYTEST_PROCESSES ?= 4
# Each of the two long runs of topics with failures takes that long, and some two minutes for its start and its end.
SOAK_MINUTES ?= 10
PYTEST := -m pytest --numprocesses=$(PYTEST_PROCESSES) --dist=loadscope --durations=30 --durations-min=10
PURE := build/uncompiled
PURE_TESTS := tests/unit/wire tests/unit/core tests/unit/mesh tests/conformance
COMPILING := setup.py $(wildcard compiling/*.py)
SOURCES := $(shell find routerd actors bench -name '*.py' -o -name '*.pxd' -o -name '*.c')

ENVIRONMENT := .venv/.environment
BUILT := .venv/.built-$(ROUTERD_CYTHON)-$(ROUTERD_TRAINING)-$(ROUTERD_RETURN_CODES)
TEST_TOOLS := .venv/.test-tools
FUZZ_TOOLS := .venv/.fuzz-tools
ANALYTICS := .venv/.analytics
RHEA := tests/interop/rhea
RHEA_INSTALLED := $(RHEA)/node_modules/.package-lock.json
CONSOLE_TOOLS := tests/browser
CONSOLE_TOOLS_INSTALLED := $(CONSOLE_TOOLS)/node_modules/.package-lock.json
DRIVER_BIN := driver/.venv/bin
DRIVER_ENVIRONMENT := driver/.venv/.environment
CLIENT := .venv/.client

.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help setup analytics clients run console-images demo-mesh demo-brokers demo-exactly-once demo-analytics demo-nova test soak bench fuzz lint clean system-packages proton test-tools test-built test-browser test-uncompiled driver-setup test-driver client-setup test-client

help:  ## list the targets
	@sed -nE 's/^([a-z-]+):.*  ## (.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

setup: $(BUILT)  ## make .venv with the router in it, and compile its compiled modules

analytics: setup $(ANALYTICS)  ## add what routeranalyze needs to .venv

clients: setup $(RHEA_INSTALLED)  ## add what the programs of README.md need, python-qpid-proton and rhea
	@tests/interop/install-proton.sh $(BIN)/python

run: setup  ## start a router that clients on this host can connect to, at port 5672, with its console at port 8672
	$(BIN)/routerd -c configs/standalone.conf --record-directory records $(ROUTERD_ARGUMENTS)

demo-mesh: setup  ## run four joined routers with RPC between them, while a server, a trunk and a router fail
	$(BIN)/python -m bench.demo_mesh $(DEMO_ARGUMENTS)

demo-brokers: setup  ## run two RabbitMQ behind three routers, with a sharded queue and a routed link, while a broker fails
	$(BIN)/python -m bench.demo_brokers $(DEMO_ARGUMENTS)

demo-exactly-once: setup client-setup  ## run three routers with a topic, while clients, a router, and in the end all routers are killed
	$(BIN)/python -m bench.demo_exactly_once $(DEMO_ARGUMENTS)

demo-analytics: setup analytics  ## run three routers with load, a slow consumer and a trunk that is cut; the report is demo/report.html
	$(BIN)/python -m bench.demo_analytics $(DEMO_ARGUMENTS)

demo-nova: setup driver-setup  ## run a Nova in small with the driver over three joined routers, while a router fails
	cd driver && MOBULA_PYTHON=$(CURDIR)/$(BIN)/python .venv/bin/python -m examples.nova $(DEMO_ARGUMENTS)

test: system-packages lint test-built test-browser test-uncompiled test-driver test-client  ## check everything: lint, types, all tests, and wire, core and mesh again uncompiled

soak: test-tools setup client-setup  ## run the tests that take minutes: 2 GiB messages, 10 000 connections, deaths of actors, 100 000 routed links, 1000 meshes, 10 000 runs of topics, topics with failures
	$(BIN)/python -m pytest -m soak $(PYTEST_ARGUMENTS)
	$(BIN)/python -m tests.sim.mesh_messages --first 1001 --seeds 1000 --go-on
	$(BIN)/python -m tests.sim.mesh_links --first 1001 --seeds 1000 --go-on
	$(BIN)/python -m tests.sim.mesh_protocol --first 1001 --seeds 1000
	$(BIN)/python -m tests.sim.topics --first 1001 --seeds 10000 --go-on
	$(BIN)/python -m bench.demo_exactly_once --minutes $(SOAK_MINUTES)
	$(BIN)/python -m bench.demo_exactly_once --minutes $(SOAK_MINUTES) --delivery at-least-once

console-images: test-tools setup  ## write the pictures of the console into docs/images
	$(BIN)/python -m tests.browser.screenshots

bench: setup analytics driver-setup  ## run every benchmark and put the figures into bench/RESULTS.md
	@set -e; for name in $$($(BIN)/python -m bench --list); do echo "$$ python -m bench $$name"; $(BIN)/python -m bench $$name --record; done

fuzz: setup $(FUZZ_TOOLS)  ## run the coverage-guided fuzzer
	$(BIN)/python -m tests.fuzz $(FUZZ_ARGUMENTS)

lint: setup $(TEST_TOOLS)  ## ruff, mypy strict and cython-lint
	$(BIN)/ruff check .
	$(BIN)/mypy
	cd driver && ../$(BIN)/mypy
	cd client && ../$(BIN)/mypy
	PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint $(shell find routerd bench -name '*.pxd')

clean:  ## delete everything that was made
	rm -rf driver/.venv driver/*.egg-info client/build client/*.egg-info
	rm -rf .venv build dist *.egg-info .coverage .hypothesis .pytest_cache .mypy_cache .ruff_cache $(RHEA)/node_modules $(CONSOLE_TOOLS)/node_modules
	find actors routerd bench -name '*.so' -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps: each names what it depends on, so that nothing is made again that did not change.

$(ENVIRONMENT): pyproject.toml setup.py constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "$(PYTHON) is too old: 3.11 or newer is needed")'
	@# An environment that is there keeps its Python; `make clean` comes before a change of it.
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) setuptools Cython
	$(PIP_PROJECT) .
	@touch $@

$(BUILT): $(ENVIRONMENT) $(COMPILING) $(SOURCES)
	@rm -f .venv/.built-*
	$(BIN)/python setup.py --quiet build_ext --inplace
	@touch $@

$(TEST_TOOLS): $(ENVIRONMENT)
	$(PIP_PROJECT) '.[tests,analytics]'
	@touch $@

$(ANALYTICS): $(ENVIRONMENT)
	$(PIP_PROJECT) '.[analytics]'
	@touch $@

$(FUZZ_TOOLS): $(ENVIRONMENT)
	$(PIP_PROJECT) '.[fuzz]'
	@touch $@

# What the tests need from elsewhere. These look first and are quick when nothing is missing.

system-packages:
	@tests/interop/system-packages.sh

proton: $(TEST_TOOLS) system-packages
	@tests/interop/install-proton.sh $(BIN)/python

$(RHEA_INSTALLED): $(RHEA)/package.json $(RHEA)/package-lock.json
	@if command -v npm >/dev/null; then npm ci --prefix $(RHEA) --no-audit --no-fund --loglevel=error && touch $@; \
	else echo "npm is not installed, so that rhea is not, either: what needs it is skipped"; fi

$(CONSOLE_TOOLS_INSTALLED): $(CONSOLE_TOOLS)/package.json $(CONSOLE_TOOLS)/package-lock.json
	@if command -v npm >/dev/null; then npm ci --prefix $(CONSOLE_TOOLS) --no-audit --no-fund --loglevel=error && touch $@; \
	else echo "npm is not installed: what checks the files of the console is skipped"; fi

# In this order: npm may be among the packages.
test-tools: $(TEST_TOOLS) proton $(RHEA_INSTALLED) $(CONSOLE_TOOLS_INSTALLED)

driver-setup: $(DRIVER_ENVIRONMENT)  ## make driver/.venv with the oslo.messaging driver in it

$(DRIVER_ENVIRONMENT): driver/pyproject.toml driver/constraints.txt | system-packages
	test -x $(DRIVER_BIN)/python || $(PYTHON) -m venv driver/.venv
	@tests/interop/install-proton.sh $(DRIVER_BIN)/python
	$(DRIVER_BIN)/pip --disable-pip-version-check install --quiet --constraint driver/constraints.txt --editable './driver[tests]'
	@touch $@

# Routers are started from the tree, in its own environment.
test-driver: setup driver-setup  ## test the oslo.messaging driver, alone and against routers
	cd driver && MOBULA_PYTHON=$(CURDIR)/$(BIN)/python .venv/bin/python $(PYTEST) $(DRIVER_PYTEST_ARGUMENTS)

client-setup: setup $(CLIENT)  ## add the client library to .venv

$(CLIENT): client/pyproject.toml client/setup.py $(ENVIRONMENT)
	$(PIP) --no-build-isolation --editable ./client
	@touch $@

test-client: client-setup $(TEST_TOOLS)  ## test the client library, alone and against routers
	$(BIN)/python $(PYTEST) $(CLIENT_PYTEST_ARGUMENTS) client/tests

test-built: setup test-tools
	ROUTERD_FORM_UNDER_TEST=$$($(BIN)/python -m compiling.build_ext) $(BIN)/python $(PYTEST) $(PYTEST_ARGUMENTS)

test-browser: setup test-tools  ## test the console in a browser
	ROUTERD_FORM_UNDER_TEST=$$($(BIN)/python -m compiling.build_ext) $(BIN)/python $(PYTEST) tests/browser

# A copy without compiled modules, so that nothing but the sources can be imported; coverage can only see into these.
test-uncompiled: setup $(TEST_TOOLS)
	@rm -rf $(PURE) && mkdir -p $(PURE)
	@tar -c --exclude=node_modules --exclude=__pycache__ --exclude='*.so' routerd tests pyproject.toml compiling \
	| tar -x -C $(PURE)
	cd $(PURE) && ROUTERD_FORM_UNDER_TEST=uncompiled $(CURDIR)/$(BIN)/python -m coverage run $(PYTEST) $(PURE_TESTS)
	cd $(PURE) && $(CURDIR)/$(BIN)/python -m coverage combine --quiet
	cd $(PURE) && $(CURDIR)/$(BIN)/python -m coverage report --include='routerd/wire/*' --fail-under=100
	cd $(PURE) && $(CURDIR)/$(BIN)/python -m coverage report --include='routerd/core/*' --fail-under=95
	cd $(PURE) && $(CURDIR)/$(BIN)/python -m coverage report --include='routerd/mesh/*' --fail-under=95
