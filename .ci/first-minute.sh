#!/usr/bin/env bash
# Follows the first minute of the README to the letter: `npm start`, paste the printed curl, stop with Ctrl-C.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
data=$(mktemp -d)
export TOOLCRIB_PORT=${TOOLCRIB_PORT:-7391} TOOLCRIB_DATA=$data/state
# In its own process group, so that the signal reaches npm and the server, as Ctrl-C at a terminal does.
set -m
npm start >"$data/banner" 2>"$data/log" &
server=$!
set +m
finish() { kill -KILL -- "-$server" 2>/dev/null || true; rm -rf "$data"; }
trap finish EXIT
fail() { echo "first-minute: $*" >&2; cat "$data/banner" "$data/log" >&2; exit 1; }

for _ in {1..150}; do
  grep -q 'curl' "$data/banner" && break
  kill -0 "$server" 2>/dev/null || fail 'npm start ended'
  sleep 0.2
done
# From the line with curl, as long as lines end with a backslash.
awk '/curl/ { on = 1 } on { print } on && !/\\$/ { exit }' "$data/banner" >"$data/paste"
grep -q curl "$data/paste" || fail 'no curl was printed'
answer=$(bash "$data/paste") || fail 'the printed curl failed'
grep -q '"success":true' <<<"$answer" || fail "the printed curl was answered with: $answer"

# The commands of the README; the demo may still be starting.
toolcrib() { npm run --silent toolcrib -- "$@" --url "http://127.0.0.1:$TOOLCRIB_PORT"; }
for _ in {1..100}; do toolcrib tools 2>/dev/null | grep -q 'demo:bake_pizza' && break; sleep 0.2; done
toolcrib call demo:bake_pizza --arg pizza=diavola --stream | grep -q 'is ready' || fail 'the demo baked nothing'
toolcrib call demo:price_order '{"items":[{"pizza":"funghi","count":2}]}' | grep -q '19' || fail 'the demo priced nothing'
for _ in {1..100}; do toolcrib tools 2>/dev/null | grep -q 'pizzeria:place_order' && break; sleep 0.2; done
toolcrib call pizzeria:place_order --arg 'body={"pizza":"funghi"}' --stream 2>"$data/progress" | grep -q 'ready' || fail 'the pizzeria baked nothing'
grep -q 'baking' "$data/progress" || fail 'nobody told how far the pizza was'
toolcrib call pizzeria:list_orders | grep -q 'funghi' || fail 'the pizzeria has forgotten an order'
toolcrib sources remove demo --yes || fail 'the demo could not be removed'
toolcrib sources remove pizzeria --yes || fail 'the pizzeria could not be removed'

kill -INT -- "-$server"
wait "$server" && code=0 || code=$?
[[ $code == 0 || $code == 130 ]] || fail "Ctrl-C ended it with $code"
echo "first-minute: ok: $answer"
