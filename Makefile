# Belay: what can be made. `make` alone lists it.
# Everything works offline once the Go modules are in the cache.

SHELL      := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS  += --no-print-directory
.DEFAULT_GOAL := help

GO       ?= go
export CGO_ENABLED := 0

VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS  := -s -w -X main.version=$(VERSION)
TOOL     := $(GO) tool -modfile=tools/go.mod
GOFILES   = $(shell git ls-files --cached --others --exclude-standard '*.go' 2>/dev/null)

# Passed on to the tests; empty means the test's own default.
SEED  ?=
SEEDS ?=
KILLS ?=
TIME  ?= 30s
AGENTS ?=

# What runs with the race detector: the rooms that start goroutines, or are used
# by many processes and goroutines at once, and the scripts in which several
# things happen at the same time, with a binary that watches itself. Left out are
# the pure rooms and the simulator, which have no goroutine at all, tests of one
# goroutine and much data, and the long tests, which make long runs. make race
# ALL=1 leaves out nothing.
RACE_ROOMS   := ./engine ./internal/hand ./proc ./journal ./internal/supervise ./internal/doctor ./internal/rehearse \
                ./internal/demo ./internal/notify ./internal/cli ./internal/tui ./internal/step ./client ./belaytest ./belaytest/model
RACE_SKIP    := ^(TestPowerCuts.*|TestNoHalfSecrets)$$
RACE_SCRIPTS := ^TestScript$$/^(cancel|parallel|together|answer|signals|subrecipe|follow|queued|recover-split)$$|^TestAgentKilled$$
# A program that watches itself waits a second before it exits, which is longer
# than some agents are given to leave.
GORACE       := atexit_sleep_ms=10

say = @printf '%s\n' "== $(1)"

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/belay, with the flags of go run and go test: nothing is compiled twice
	$(call say,build bin/belay $(VERSION))
	@$(GO) build -ldflags '$(LDFLAGS)' -o bin/belay ./cmd/belay

.PHONY: manual
manual: ## write manual pages and completions to bin/release
	$(call say,manual)
	@cd tools/manual && SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(GO) run . ../../bin/release

# goreleaser and cyclonedx-gomod, built once from the versions of tools/release/go.mod.
bin/tools/goreleaser: tools/release/go.mod
	$(call say,build the tools of a release: some minutes, once)
	@cd tools/release && $(GO) build -trimpath -buildvcs=false -o ../../bin/tools/ tool

.PHONY: release-dry
release-dry: bin/tools/goreleaser ## build all of a release in dist, and publish nothing
	$(call say,release-dry)
	@PATH="$(CURDIR)/bin/tools:$$PATH" goreleaser release --snapshot --clean

.PHONY: release-check
release-check: ## make it twice, and run the demo out of the archive
	$(call say,release-check)
	@GO='$(GO)' scripts/release-check

.PHONY: test
test: ## run the tests
	$(call say,test)
	@$(GO) test -timeout 30m ./...

.PHONY: race
race: ## run what is concurrent with the race detector, shuffled; ALL=1: everything (needs a C compiler)
	$(call say,race)
	@cc=$$($(GO) env CC); command -v "$${cc%% *}" >/dev/null 2>&1 || { \
	  echo "make race: no C compiler ($$cc): the race detector needs cgo; install gcc or clang, or set CC" >&2; exit 1; }
ifdef ALL
	@BELAY_LONG=1 GORACE=$(GORACE) CGO_ENABLED=1 $(GO) test -race -shuffle=on -timeout 60m ./...
else
	@GORACE=$(GORACE) CGO_ENABLED=1 $(GO) test -race -shuffle=on -timeout 20m -skip '$(RACE_SKIP)' $(RACE_ROOMS)
	@GORACE=$(GORACE) CGO_ENABLED=1 $(GO) test -race -shuffle=on -timeout 20m ./cmd/belay -run '$(RACE_SCRIPTS)'
endif

# What tests between two edits leave out: the tests that are named so.
.PHONY: long
long: ## the long tests and scripts, which go test leaves out
	$(call say,long)
	@BELAY_LONG=1 $(GO) test -run '^TestLong' -timeout 30m \
	  $$(grep -rl --include='*_test.go' 'scratch\.Long(t)' . | xargs -n 1 dirname | sort -u)

.PHONY: script
script: ## run the end-to-end scripts only
	$(call say,script)
	@BELAY_LONG=1 $(GO) test ./cmd/belay -run Script -count=1

.PHONY: crash
crash: ## kill and resume the real binary; KILLS=n how often, SEED=n repeats one
	$(call say,crash)
	@$(if $(SEED),SEED='$(SEED)') $(if $(KILLS),KILLS='$(KILLS)') $(GO) test ./cmd/belay -tags failpoints -run Crash -count=1 -v

.PHONY: matrix
matrix: ## rehearse every fault at every step of every example
	$(call say,matrix)
	@BELAY_LONG=1 MATRIX=all $(GO) test ./cmd/belay -run TestLongMatrixOfExamples -count=1 -v

.PHONY: e2e
e2e: ## run real agent CLIs against the scripted model; AGENTS=all: all that Belay knows
	$(call say,e2e)
	@AGENTS='$(AGENTS)' scripts/install-agents.sh
	@AGENTS='$(AGENTS)' $(GO) test ./e2e/... -tags e2e -count=1 -parallel 4 -timeout 60m -v

.PHONY: test-temporal
test-temporal: ## test the driver on Temporal against a real server; RUN=pattern picks, VERBOSE=1 tells more
	$(call say,test-temporal)
	@RUN='$(RUN)' VERBOSE='$(VERBOSE)' scripts/test-temporal.sh

.PHONY: sim
sim: ## simulate many runs with faults, without and with agents; SEEDS=n how many, SEED=n repeats one without
	$(call say,sim)
	@$(if $(SEEDS),BELAY_SIM_SEEDS='$(SEEDS)') $(if $(SEED),BELAY_SIM_SEED='$(SEED)') $(GO) test ./belaytest/sim -run Seeds -count=1 -timeout 60m -v
ifndef SEED
	@$(if $(SEEDS),BELAY_HISTORIES='$(SEEDS)') $(GO) test ./flow -run Histories -count=1 -timeout 60m -v
endif

.PHONY: fuzz
fuzz: ## run every fuzz target for TIME (30s)
	@grep -rlE '^func Fuzz[A-Za-z0-9_]+\(' --include='*_test.go' . | while read -r file; do \
	  for target in $$(sed -nE 's/^func (Fuzz[A-Za-z0-9_]+)\(.*/\1/p' "$$file"); do \
	    echo "== fuzz $$(dirname "$$file") $$target $(TIME)"; \
	    $(GO) test "$$(dirname "$$file")" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(TIME) -fuzzminimizetime 10x; \
	  done; done

.PHONY: bench
bench: ## measure: time per step, size, start-up, memory
	$(call say,bench)
	@cd bench && $(GO) run . $(ARGS)

.PHONY: fmt
fmt: ## format the sources (gofumpt, the stricter gofmt)
	@$(TOOL) gofumpt -w $(GOFILES)

.PHONY: fmt-check
fmt-check: ## fail when gofmt would change a source
	$(call say,fmt-check)
	@bad=$$(gofmt -l $(GOFILES)); [ -z "$$bad" ] || { printf 'not formatted (make fmt):\n%s\n' "$$bad" >&2; exit 1; }

# The linter vets the main module as it is here. These are what it does not see; all of
# it is built for macOS, and the rooms that have files for one system are vetted there.
.PHONY: vet
vet: ## go vet of what the linter does not see: macOS, build tags, the module of the manual
	$(call say,vet)
	@cd tools/manual && $(GO) vet ./...
	@GOOS=darwin $(GO) build ./...
	@GOOS=darwin $(GO) vet $$(git ls-files '*_linux*.go' '*_darwin*.go' ':!tools' ':!bench' ':!temporal' | xargs -n 1 dirname | sort -u | sed 's,^,./,')
	@$(GO) vet -tags failpoints $$(git grep -l --full-name 'go:build.*failpoints' -- '*.go' | xargs -n 1 dirname | sort -u | sed 's,^,./,')
	@$(GO) vet -tags e2e ./e2e/...

.PHONY: arch
arch: ## the house rules, the promises and the generated pages
	$(call say,arch)
	@$(GO) test . -count=1

.PHONY: lint
lint: ## golangci-lint; actionlint and hadolint of the action and the container files
	$(call say,lint)
	@GO='$(GO)' scripts/lint-deploy
	@GOLANGCI_LINT_CACHE=$(CURDIR)/bin/.lint $(TOOL) golangci-lint run ./...

.PHONY: lint-temporal
lint-temporal: ## golangci-lint of the driver on Temporal, which is a module of its own
	$(call say,lint-temporal)
	@cd temporal && GOLANGCI_LINT_CACHE=$(CURDIR)/bin/.lint $(GO) tool -modfile=../tools/go.mod golangci-lint run --config ../.golangci.yml ./...

.PHONY: vuln
vuln: ## govulncheck, when its database can be reached
	$(call say,vuln)
	@scripts/vuln

.PHONY: house
house: ## print what the house looks like: rooms, imports, names, lines, switches; BEFORE=commit: and what it was
	@cd tools && $(GO) run ./house
ifdef BEFORE
	@old=$$(mktemp -d); trap 'rm -rf "$$old"' EXIT; git archive '$(BEFORE)' | tar -x -C "$$old"; \
	  printf '\n== as it was at %s\n' '$(BEFORE)'; cd tools && $(GO) run ./house "$$old"
endif

.PHONY: gen
gen: ## write the reference pages that come from the sources
	$(call say,gen)
	@$(GO) test . -run 'ReferenceIsCurrent|PromisesAreShown|EventsDecode' -count=1 -update
	@$(GO) test ./cmd/belay -run OlderRunnerPage -count=1 -update
	@cd examples/library && $(GO) mod tidy

.PHONY: picture
picture: ## draw the picture of the README from a real run
	$(call say,picture)
	@scripts/picture

.PHONY: screens
screens: ## write what people see most to bin/screens, for a reader who knows nothing of Belay
	$(call say,screens)
	@scripts/screens bin/screens

.PHONY: gen-check
gen-check: ## fail when a generated page is stale
	$(call say,gen-check)
	@$(GO) test . -run 'ReferenceIsCurrent|PromisesAreShown|EventsDecode' -count=1
	@$(GO) test ./cmd/belay -run OlderRunnerPage -count=1

.PHONY: check
check: ## everything that must hold before a commit to main
	@$(MAKE) fmt-check
	@$(MAKE) test
	@$(MAKE) long
	@$(MAKE) vet
	@$(MAKE) lint
	@$(MAKE) vuln
	@$(MAKE) race
	@$(MAKE) crash
	@echo "== check: all good"

# What a change is held against in part, whole: every hostile value in every place,
# more histories and seeds, every fault at every step of every example, more kills,
# and the race detector in every room.
.PHONY: nightly
nightly: ## the long sweeps, whole: what a change runs in part (an hour and more)
	$(call say,nightly)
	@BELAY_LONG=1 BELAY_SWEEPS=all $(GO) test -count=1 -timeout 90m ./recipe ./internal/output ./worktree ./proc ./internal/supervise ./cmd/belay -run 'Hostile|Bounded|Deaths|ParallelEquals|Flood|LongAnswer|Rows|Lies|Matrix|Escapes|Issue|Watch|ExitCodes|Hint|DoKilled'
	@BELAY_HISTORIES=20000 BELAY_SIM_SEEDS=20000 $(GO) test -count=1 -timeout 60m ./flow ./belaytest/sim
	@BELAY_LONG=1 BELAY_SIM_DEEP=1 $(GO) test -count=1 -timeout 60m ./belaytest/sim -run Exhaustive
	@$(MAKE) matrix
	@$(MAKE) crash KILLS=200
	@$(MAKE) long
	@$(MAKE) race ALL=1
	@$(MAKE) release-check
	@echo "== nightly: all good"

.PHONY: hooks
hooks: ## install the pre-commit hook into this clone
	@mkdir -p "$$(git rev-parse --git-path hooks)" && install -m 755 scripts/pre-commit "$$(git rev-parse --git-path hooks)/pre-commit"
	@echo "installed: pre-commit"

.PHONY: clean
clean: ## remove what was built
	@rm -rf bin dist coverage.out
