#!/usr/bin/env bash
# comment.sh FOLDER: puts the receipt under the issue of the event. A comment has room for
# 65536 characters.
set -euo pipefail
number=$(jq -er '.issue.number | numbers' "$GITHUB_EVENT_PATH")
comment=$(mktemp)
head -c 60000 "$1/receipt.md" | iconv -c -f utf-8 -t utf-8 > "$comment"
if [ "$(wc -c < "$1/receipt.md")" -gt 60000 ]; then
  printf '\n\n(The rest is in the files of the job.)\n' >> "$comment"
fi
gh issue comment "$number" --repo "$GITHUB_REPOSITORY" --body-file "$comment"
rm -f "$comment"
