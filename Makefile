# Bare "make" lists the targets.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS := -s -w -X github.com/moqmesh/moqmesh/relay/conf.Build=$(VERSION)
FUZZTIME ?= 20s
GO ?= go

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | sort

build: ## build the programs into bin/
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...

demo: build ## one relay, one publisher and a page that watches it
	./bin/moqmesh demo

test: ## vet and test everything; what is missing on this machine is skipped with a line
	$(GO) vet ./...
	$(GO) test ./...

race: ## test with the race detector, without the peers
	$(GO) test -race $$($(GO) list ./... | grep -v /interop)

fuzz: ## run each fuzz target for FUZZTIME
	@for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
	  done; done

lint: ## format and vet
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...

cover: ## coverage by package
	$(GO) test -cover $$($(GO) list ./... | grep -v /interop)

interop: ## with other implementations, browsers and media files; MOQ_PEERS names their folder
	$(GO) test -count=1 ./interop

bench: build ## compare with other relays, into bench/results
	./bin/moqmesh bench compare

dist: ## static programs for amd64 and arm64 into dist/
	for arch in amd64 arm64; do \
	  CGO_ENABLED=0 GOOS=linux GOARCH=$$arch $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o dist/linux-$$arch/ ./cmd/... || exit 1; done
	cd dist && sha256sum linux-*/* > SHA256SUMS

ci: lint test race interop ## what must stay green

.PHONY: help build demo test race fuzz lint cover interop bench dist ci
