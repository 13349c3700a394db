#!/usr/bin/env bash
# Installs the agent CLIs that the end-to-end tests run into
# e2e/agents/node_modules, exactly as the lock file names them: npm checks each
# package against its hash there. No install script of a package is run.
# AGENTS=all installs the others too, and the Node that one of them needs; they
# take about 300 MB more. The second time it is quick. The overrides in
# package.json stand for packages that one CLI names and that nobody published:
# without them npm takes no lock file with that CLI in it.
set -euo pipefail
cd "$(dirname "$0")/../e2e/agents"

set=native omit=(--omit=optional --omit=dev)
[ "${AGENTS:-}" = all ] && set=all omit=(--omit=optional)

# The stamp is what was installed; all of them are more than enough for some.
stamp=node_modules/.installed
have=$(cat "$stamp" 2>/dev/null || true)
want=$(cat package.json package-lock.json)
case $have in "$want all" | "$want $set") exit 0 ;; esac

if [ "$(uname -s) $(uname -m)" != 'Linux x86_64' ]; then
  echo "install-agents: the pinned agent CLIs are programs for Linux on x86_64, not for $(uname -s) on $(uname -m)" >&2
  exit 1
fi
command -v npm >/dev/null 2>&1 || {
  echo "install-agents: npm is missing: install Node.js 20 or newer, which brings it" >&2
  exit 1
}
npm ci "${omit[@]}" --ignore-scripts --no-audit --no-fund --loglevel=error
printf '%s %s\n' "$want" "$set" >"$stamp"
