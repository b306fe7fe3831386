#!/usr/bin/env bash
# under-load.sh [RUNS] - runs the whole suite several times (10 by default) while other programs keep every core busy, and says for each run
# how long it took and what failed. It finds tests that pass only on a quiet machine. Exits with 1 if any run failed.
#
# Settings (environment):
#   BURNERS   how many busy programs run beside it   (one per core)
#   LOGS      where the output of each run is kept   (a new temporary folder)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
runs=${1:-10}
logs=${LOGS:-$(mktemp -d "${TMPDIR:-/tmp}/toolcrib-under-load.XXXXXX")}
source .ci/parts-up.sh

burners=()
stop_all() {
  kill "${burners[@]}" 2>/dev/null || true
  stop_parts
}
trap stop_all EXIT
for ((i = 0; i < ${BURNERS:-$(nproc)}; i++)); do
  (while :; do :; done) &
  burners+=($!)
done

say "$runs runs beside ${#burners[@]} busy programs; output in $logs"
failed=0
for ((run = 1; run <= runs; run++)); do
  log=$logs/run-$run.log
  began=$SECONDS
  npm test >"$log" 2>&1 && outcome=passed || { outcome=FAILED; failed=$((failed + 1)); }
  printf 'run %d: %s in %d s\n' "$run" "$outcome" $((SECONDS - began))
  # Without the colours, which some settings keep even in files.
  sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -E '^ *(FAIL|Tests|Test Files) ' | sort -u || true
done
printf '%d of %d runs failed\n' "$failed" "$runs"
[[ $failed == 0 ]]
