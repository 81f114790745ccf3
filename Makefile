# Everything here installs what it needs: Python 3.13 or uv is enough to start from.
.DEFAULT_GOAL := help
.PHONY: help dev chat ingest migrate-index site member token pseudonym test test-opensearch check invoke bench build deploy requirements clean

UV := local/uv
PYTHON := .venv/bin/python
SAM := .venvs/sam/bin/sam
PROFILE ?= dev
ADVICE := "The tools could not be installed; see above. If a compiler is missing, install one (on Debian: build-essential)."
ARCHITECTURE ?= arm64

export PYTHONPATH := layers/core/python:.
export SAM_CLI_TELEMETRY := 0
export ARCHITECTURE EMBEDDER EVENT FUNCTION ID KEY KIND M ORG ORIGINS PORT ROLE SITE SRC

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

dev: .venv/.synced ## Start the local cloud on http://127.0.0.1:8787 (PORT=, FENCEPOST_STATE_DIR=)
	@$(PYTHON) -m local.up

chat: .venv/.synced ## Send one message to it: make chat M="How do I get started?"
	@$(PYTHON) -m local.chat

ingest: .venv/.synced ## Let it answer from documents: make ingest SRC=docs/ (a file or an address, too; ORG=, SITE=, PROFILE=)
	@$(PYTHON) -m local.ingest

migrate-index: .venv/.synced ## Make or move the index on OpenSearch: make migrate-index PROFILE=prod (EMBEDDER=)
	@$(PYTHON) -m local.migrate_index

site: .venv/.synced ## Make or change a site: make site ORG=acme SITE=docs ORIGINS=https://acme.example (KEY=, PROFILE=)
	@$(PYTHON) -m local.site

# The shell's own USER is whoever is logged in, and never meant.
member token: export MEMBER := $(if $(filter command%,$(origin USER)),$(USER))

# The default profile is what `make deploy` deploys; a stack on AWS is changed only where one is named.
ingest member migrate-index site: export DEPLOYED := $(if $(filter command%,$(origin PROFILE)),$(PROFILE))

member: .venv/.synced ## Set a membership: make member ORG=acme USER=u1 ROLE=member (admin, none; PROFILE=)
	@$(PYTHON) -m local.member

token: .venv/.synced ## Print a member's token: make -s token USER=u1 (ORG=acme)
	@$(PYTHON) -m local.token

pseudonym: .venv/.synced ## Print what logs call something: make -s pseudonym KIND=conv ORG=acme ID=0198…
	@$(PYTHON) -m local.pseudonym

test: .venv/.synced ## Run all tests
	@$(PYTHON) -m local.prepare
	@$(PYTHON) -m pytest -m cloud tests/e2e tests/integration & cloud=$$!; \
		$(PYTHON) -m pytest -m "not cloud" tests/integration & stores=$$!; \
		$(PYTHON) -m pytest tests/unit tests/infrastructure; rest=$$?; \
		wait $$stores && wait $$cloud && exit $$rest

test-opensearch: .venv/.synced ## Run the index's tests on a real OpenSearch: OPENSEARCH_URL, a container or a node of our own
	@$(PYTHON) -m local.opensearch_node

check: .venv/.synced $(SAM) ## Lint, type-check and validate everything
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/vulture
	$(SAM) validate --lint

invoke: .venv/.synced ## Run one function: make invoke FUNCTION=chat EVENT=events/chat.json
	@$(PYTHON) -m local.invoke

bench: .venv/.synced ## Run the benchmarks, or one: make bench NAME=screening
	@$(PYTHON) -m benchmarks $(NAME)

build: .venv/.synced ## Build functions and layers into .aws-sam/build (ARCHITECTURE=arm64 or x86_64)
	@$(PYTHON) -m local.build

# The template's functions are arm64; a layer built for another processor would not load in them.
deploy: override ARCHITECTURE := arm64
deploy: build $(SAM) ## Deploy to AWS: make deploy PROFILE=prod
	$(SAM) deploy --config-env $(PROFILE)
	@$(PYTHON) -m local.release $(PROFILE)

requirements: ## Export the dependency layer's requirements from uv.lock
	$(UV) export --quiet --frozen --no-dev --no-emit-project --no-annotate --no-header \
		--prune boto3 --prune botocore --prune pycparser --prune opensearch-protobufs --prune python-dateutil --prune urllib3 \
		--output-file layers/deps/requirements.txt

clean: ## Remove what was built and installed, but no data
	rm -rf .aws-sam .venv .venvs .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# The scripts of an environment name the folder that it was made in: a copied or moved one is made anew.
ifneq ($(shell cat .venv/.synced 2>/dev/null),$(CURDIR))
.PHONY: .venv/.synced
endif

.venv/.synced: uv.lock
	@echo "Installing the development tools …" >&2
	@[ "$$(cat $@ 2>/dev/null)" = "$(CURDIR)" ] || rm -rf .venv
	@$(UV) sync --quiet --frozen --compile-bytecode || { echo $(ADVICE) >&2; exit 1; }
	@echo "$(CURDIR)" > $@

# Always asked for: what may be wrong with an environment is more than a date can tell.
.PHONY: $(SAM)
$(SAM): .venv/.synced
	@$(PYTHON) -c 'from local.environments import binary; binary("sam", "sam")'
