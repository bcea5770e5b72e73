# Bare "make" lists the targets.
GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
BUILD    := -trimpath -buildvcs=auto -ldflags '-s -w -X github.com/moqmesh/moqmesh/relay/conf.Build=$(VERSION)'
UNITS     = $(shell $(GO) list ./... | grep -v /interop)
FUZZTIME ?= 20s
LINTER   := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

build: ## programs for this machine, into bin/
	$(GO) build $(BUILD) -o bin/ ./cmd/...

demo: build ## a relay, a publisher and a page that watches it; ends with Ctrl-C
	./bin/moqmesh demo

test: ## everything; what this machine lacks is skipped with a line
	$(GO) vet ./...
	$(GO) test -timeout 12m $(UNITS)
	$(GO) test ./interop

race: ## all but the tests with other implementations, with the race detector
	$(GO) test -race -timeout 12m $(UNITS)

fuzz: ## each fuzz target for FUZZTIME
	.ci/fuzz $(FUZZTIME)

lint: ## format, import rules and mistakes, as .golangci.yml says
	$(GO) run $(LINTER) run ./...

cover: ## statements covered by tests, by package; details in cover.out
	$(GO) test -coverprofile cover.out -coverpkg ./... $(UNITS)
	$(GO) tool cover -func cover.out | tail -1

interop: ## with other implementations, browsers and files; MOQ_PEERS names their folder
	$(GO) test -count=1 -timeout 15m ./interop

bench: build ## compare with the relays in MOQ_PEERS, into bench/results/
	./bin/moqmesh bench compare

soak: build ## 1,000 viewers, some of them stopped, and 5,000 idle sessions, into bench/results/
	taskset -c 1 ./bin/moqmesh bench soak --relay-cpus 0 --out bench/results

dist: ## static programs for amd64 and arm64, into dist/
	for arch in amd64 arm64; do CGO_ENABLED=0 GOOS=linux GOARCH=$$arch $(GO) build $(BUILD) -o dist/linux-$$arch/ ./cmd/... || exit 1; done
	cd dist && sha256sum linux-*/* >SHA256SUMS

ci: lint test race ## what must stay green; test includes interop, which MOQMESH_STRICT=1 keeps from skipping

.PHONY: help build demo test race fuzz lint cover interop bench soak dist ci
