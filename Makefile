# rpctop: `make run` shows it, `make test` tests it, `make help` lists the rest.

GO      ?= go
ARGS    ?= demo
BIN     := bin/rpctop
PREFIX  ?= /usr/local
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)

# The race detector needs a C compiler; everything else does without.
RACE := $(shell command -v "$$($(GO) env CC)" >/dev/null 2>&1 && echo -race)
# Development tools have a module of their own, so that they stay out of the product's.
TOOL := $(GO) tool -modfile=tools/go.mod

.DEFAULT_GOAL := help
.PHONY: help run build install test check lint vuln fuzz terminal bench screenshots contracts clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build and start; ARGS="check URL" runs something other than the demo
	./$(BIN) $(ARGS)

build: ## one static binary: bin/rpctop
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/rpctop

install: build ## copy the binary to PREFIX/bin (default /usr/local)
	install -d '$(DESTDIR)$(PREFIX)/bin'
	install -m 755 $(BIN) '$(DESTDIR)$(PREFIX)/bin/rpctop'

test: ## vet and all tests that need the Go toolchain only
	@test -n '$(RACE)' || echo 'no C compiler: testing without the race detector'
	$(GO) vet ./...
	$(GO) test $(RACE) -timeout 15m ./...

check: lint vuln test fuzz terminal ## everything: test, lint, vulnerabilities, fuzz smoke, real terminals

lint: ## golangci-lint
	$(TOOL) golangci-lint run ./...

vuln: ## known vulnerabilities in what is linked
	@GO='$(GO)' bash .ci/vuln

FUZZTIME ?= 10s
fuzz: ## each fuzz target for FUZZTIME (10s)
	@grep -rn --include='*_test.go' '^func Fuzz' . | \
	sed -E 's|^\./(.*)/[^/]*_test\.go:[0-9]+:func (Fuzz[A-Za-z0-9_]*)\(.*|\1 \2|' | sort -u | \
	while read -r pkg target; do \
		echo "fuzz $$pkg $$target"; \
		out=$$($(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "./$$pkg" 2>&1) || { \
			printf '%s\n' "$$out"; \
			printf '%s\n' "$$out" | grep -q 'Failing input' && exit 1; \
			printf '%s\n' "$$out" | grep -q 'context deadline exceeded' || exit 1; \
			echo 'the time was up in the middle of an input: no finding'; \
		}; \
	done

terminal: build ## the real binary under a pty and in tmux
	RPCTOP_TMUX=1 RPCTOP_BIN='$(CURDIR)/$(BIN)' $(GO) test -count=1 -run 'Terminal|Pty|Tmux' ./cmd/... ./internal/...

bench: ## benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

screenshots: build ## screenshots/*.svg, from the demo
	$(GO) run ./internal/shot screenshots/tour.script

contracts: ## internal/devnet/contracts/Token.bin from its source; needs node and npm
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	npm install --silent --no-audit --no-fund --prefix "$$dir" solc@0.8.37 && \
	NODE_PATH="$$dir/node_modules" node internal/devnet/contracts/compile.js

clean: ## remove what was built
	rm -rf bin
