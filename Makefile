# A fresh machine needs Go, Python 3.11 or newer, and make. Everything else is
# pinned in go.mod, tools/go.mod and requirements/dev.txt, and fetched on first use.

.DEFAULT_GOAL := help
# The sections print in order, and two cores are enough for one of them.
.NOTPARALLEL:
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

VENV     := .venv
PY       := $(VENV)/bin/python
BUF      := $(VENV)/bin/buf
GO_READY := .cache/go-ready
PLUGIN   := bin/protoc-gen-ameide-agent
EXAMPLE  := examples/research
SERVER   := $(EXAMPLE)/toolserver

# Tests find the pinned buf and protoc, and the plugin, before any other.
export PATH := $(CURDIR)/bin:$(CURDIR)/$(VENV)/bin:$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# The race detector needs cgo, and cgo a C compiler.
RACE = $(shell [ "$$(go env CGO_ENABLED)" = 1 ] && command -v "$$(go env CC)" >/dev/null && echo -race)

section = @printf '\n=== %s ===\n' '$(1)'

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# --- set-up -----------------------------------------------------------------

.PHONY: setup
setup: $(GO_READY) $(VENV)/.installed plugin ## Fetch the tools and build the plugin.

$(GO_READY): go.mod go.sum scripts/go.sh
	$(call section,Set-up: Go modules)
	@scripts/go.sh
	go mod download
	@mkdir -p $(@D) && touch $@

$(VENV)/.installed: requirements/dev.txt scripts/venv.sh scripts/python.sh
	$(call section,Set-up: Python environment)
	@scripts/venv.sh
	@touch $@

# go build knows better than make whether there is anything to do.
.PHONY: plugin
plugin: $(GO_READY) ## Build bin/protoc-gen-ameide-agent.
	@mkdir -p bin
	go build -trimpath -buildvcs=false -o $(PLUGIN) ./cmd/protoc-gen-ameide-agent

# --- the example --------------------------------------------------------------

.PHONY: demo
demo: setup ## Generate the example agent, start its tools and run it.
	@scripts/demo.sh

# --- tests --------------------------------------------------------------------

.PHONY: test
test: setup lint drift test-go test-python red-green test-demo ## Run every check and every test.
	$(call section,All checks and tests passed)

.PHONY: lint
lint: lint-go lint-proto lint-python ## Run the linters.

.PHONY: lint-go
lint-go: $(GO_READY)
	$(call section,Go: gofmt)
	@unformatted="$$(gofmt -l $(wildcard annotations bench cmd examples internal))"; \
	if [ -n "$$unformatted" ]; then echo "run gofmt -w on:"; echo "$$unformatted"; exit 1; fi
	$(call section,Go: vet)
	go vet ./...
	cd $(SERVER) && go vet ./...
	$(call section,Go: staticcheck)
	@go build -modfile=tools/go.mod -o .cache/bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	.cache/bin/staticcheck ./...
	cd $(SERVER) && $(CURDIR)/.cache/bin/staticcheck ./...

.PHONY: lint-proto
lint-proto: $(VENV)/.installed
	$(call section,Annotations: buf format and lint and breaking)
	$(BUF) format --diff --exit-code
	$(BUF) lint
	$(BUF) breaking annotations --against annotations/baseline.binpb

.PHONY: lint-python
lint-python: setup
	$(call section,Python: ruff)
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(call section,Python: mypy)
	$(PY) scripts/typecheck.py

.PHONY: drift
drift: setup
	$(call section,Committed generated code is current)
	@scripts/drift.sh

.PHONY: test-go
test-go: setup
	$(call section,Go tests $(if $(RACE),with,without) the race detector)
	REQUIRE_TOOLS=1 go test $(RACE) ./...
	$(call section,Go tests of the example tool server)
	cd $(SERVER) && go test $(RACE) ./...

.PHONY: test-python
test-python: setup
	$(call section,Python tests)
	$(PY) -m pytest

.PHONY: red-green
red-green: setup
	$(call section,Red and then green: every example agent)
	$(PY) scripts/red_green.py

.PHONY: test-demo
test-demo: setup
	$(call section,The demo runs)
	@mkdir -p .cache && scripts/demo.sh > .cache/demo.log || { cat .cache/demo.log; exit 1; }
	@grep -A1 '=== The answer ===' .cache/demo.log

# --- what is generated and committed ------------------------------------------

.PHONY: generate
generate: setup ## Regenerate the committed code: annotations, tool server.
	$(BUF) generate --template buf.gen.annotations.yaml
	cd $(SERVER) && $(CURDIR)/$(BUF) generate

.PHONY: golden
golden: setup ## Refresh the descriptor sets and the goldens; fails, so CI cannot do it.
	scripts/images.sh
	UPDATE_GOLDEN=1 go test ./internal/gen/... || true
	@git status --short -- golden testdata internal
	@echo "The goldens are refreshed. Read the diff, then run make test."; exit 1

.PHONY: bench
bench: setup ## Measure the generator and the generated code.
	$(PY) bench/run.py

.PHONY: corpora
corpora: setup ## Generate from published protos, import, type-check, compare.
	$(PY) scripts/corpora.py --types --page

.PHONY: conformance
conformance: setup ## Run the suites for ProtoJSON and protovalidate on generated models.
	$(PY) conformance/run.py
	$(PY) conformance/validate/run.py

.PHONY: lock
lock: $(VENV)/.installed ## Pin requirements/dev.in again; UPGRADE=1 for the newest.
	scripts/lock.sh

.PHONY: dist
dist: $(GO_READY) ## Build static release binaries into dist/.
	scripts/dist.sh

.PHONY: clean
clean: ## Remove what was built; .venv and .cache stay.
	rm -rf bin dist
