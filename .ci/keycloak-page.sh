#!/usr/bin/env bash
# Follows docs/keycloak.md to the letter: runs its `sh` blocks in order in one shell, those marked `sh background` in terminals of their own,
# and looks for the lines of each `text` block in the output of the block before it. Only the ports differ, to avoid conflicts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
data=$(mktemp -d)
export TOOLCRIB_DATA=$data/state TOOLCRIB_PORT=7392 TOOLCRIB_LOG_LEVEL=warn
terminals=()
finish() {
  local code=$?
  [[ $code == 0 ]] || tail -n 40 "$data"/out* >&2
  for terminal in "${terminals[@]}"; do kill -KILL -- "-$terminal" 2>/dev/null || true; done
  rm -rf "$data"
}
trap finish EXIT
fail() { echo "keycloak-page: $*" >&2; exit 1; }

# Its first line says that it is open.
background() {
  local out
  out=$data/out.${#terminals[@]}
  cat >"$out.sh"
  : >"$out"
  set -m
  bash -eu "$out.sh" >"$out" 2>&1 &
  terminals+=($!)
  disown
  set +m
  for _ in {1..150}; do
    ! grep -q 'is open' "$out" || return 0
    kill -0 $! 2>/dev/null || fail 'a program ended'
    sleep 0.2
  done
  fail 'a program did not start'
}
expect() { while IFS= read -r line; do grep -qF -- "$line" "$data/out" || fail "this was not printed: $line"; done; }

awk -v out="$data/out" '
  /^```sh background$/ { print "background <<\"END_OF_BLOCK\""; inside = "END_OF_BLOCK"; next }
  /^```sh$/ { print "{"; inside = "} >" out " 2>&1"; next }
  /^```text$/ { print "expect <<\"END_OF_BLOCK\""; inside = "END_OF_BLOCK"; next }
  /^```/ { if (inside != "") print inside; inside = ""; next }
  inside != "" { gsub(/7300/, "7392"); gsub(/7410/, "7393"); print }
' docs/keycloak.md >"$data/page.sh"
source "$data/page.sh"
echo 'keycloak-page: ok'
