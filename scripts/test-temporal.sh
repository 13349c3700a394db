#!/usr/bin/env bash
# Runs the tests of the driver on Temporal against a real server, which is built from
# its Go module. Says why when something cannot be had, and ends with 0 only if the
# tests ran: a missing module is no success. At the end are the figures that the tests
# measured, and the tests that this machine cannot make, with the reason.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0

began=$SECONDS
last=$SECONDS
said() { # since the last one, and in all
  printf '== %s: %ss (%ss in all)\n' "$1" "$((SECONDS - last))" "$((SECONDS - began))"
  last=$SECONDS
}

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

fetch() { # a registry may refuse for a while
  local n
  for n in 1 2 3 4; do
    if (cd "$1" && go mod download) 2>"$out/fetch"; then return 0; fi
    sleep $((n * 5))
  done
  printf 'test-temporal: the modules of %s could not be fetched:\n' "$1" >&2
  cat "$out/fetch" >&2
  return 1
}

fetch temporal
fetch temporal/devserver
fetch temporal/deploy
said 'modules are there'
if ! (cd temporal/devserver && go build -o "$out/devserver" .); then
  echo 'test-temporal: the Temporal server could not be built' >&2
  exit 1
fi
said 'server is built'
(cd temporal && go vet ./... && go build -o "$out/belay-temporal" ./cmd/belay-temporal)
said 'belay-temporal is built'
scripts/install-agents.sh >"$out/agents" 2>&1 || { cat "$out/agents" >&2; exit 1; }
agents=$PWD/e2e/agents/node_modules
said 'real agents are installed'
cd temporal
export BELAY_TEMPORAL_AGENTS=$agents BELAY_TEMPORAL_SERVER=$out/devserver BELAY_TEMPORAL_PROGRAM=$out/belay-temporal
export BELAY_FIGURES=$out/figures
: >"$BELAY_FIGURES"
(cd deploy && go vet . && go test -count=1 ${RUN:+-run "$RUN"} ${VERBOSE:+-v} .)
code=0
go test -count=1 -timeout 30m ${RUN:+-run "$RUN"} ${VERBOSE:+-v} ./... || code=$?
said 'tests are done'
# What was measured, and what cannot be shown on this machine: who does not read the
# logs of the tests has it here.
printf '== figures\n'
grep -v '^not shown: ' "$BELAY_FIGURES" || echo none
printf '== not shown\n'
grep '^not shown: ' "$BELAY_FIGURES" || echo nothing
exit "$code"
