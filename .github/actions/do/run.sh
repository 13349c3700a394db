#!/usr/bin/env bash
# run.sh: does the task of the issue in the event, in the repository here, and leaves the
# receipt and the work in a folder. It ends with 0 whenever there is a receipt: the exit
# code of belay do is an output. What somebody wrote into the issue stays in files.
set -euo pipefail
belay=${DO_BELAY:-belay}
temp=${RUNNER_TEMP:-${TMPDIR:-/tmp}}
folder=$temp/belay-do
export BELAY_STATE=${BELAY_STATE:-$temp/belay-state}
mkdir -p "$folder"

number=$(jq -er '.issue.number | numbers' "$GITHUB_EVENT_PATH")
jq -r '.issue | "\(.title)\n\n\(.body // "")"' "$GITHUB_EVENT_PATH" > "$folder/task.md"
id=issue-$number-${GITHUB_RUN_ID:-0}-${GITHUB_RUN_ATTEMPT:-1}
before=$(git rev-parse HEAD)

code=0
"$belay" do --file "$folder/task.md" --id "$id" --agent "$DO_AGENT" --rounds "$DO_ROUNDS" \
  --max-agents "$DO_MAX_AGENTS" --max-usd "$DO_MAX_USD" --publish none || code=$?

# --json gives the same as facts, for programs
if ! "$belay" receipt "$id" > "$folder/receipt.md"; then
  printf 'belay do ended with %d before there was a run; the log of the job says why.\n' "$code" > "$folder/receipt.md"
else
  "$belay" receipt "$id" --json > "$folder/receipt.json"
fi

# the branches that came, without what was there before
mapfile -t branches < <(git for-each-ref --no-merged "$before" --format='%(refname)' refs/heads/belay refs/heads/feat)
if [ "${#branches[@]}" -gt 0 ]; then
  git bundle create -q "$folder/work.bundle" "${branches[@]}" --not "$before"
fi

if [ -n "${GITHUB_OUTPUT:-}" ]; then
  printf 'code=%d\nfolder=%s\n' "$code" "$folder" >> "$GITHUB_OUTPUT"
fi
