#!/usr/bin/env bash
# Packs the server, installs it as a user would with `npm i -g`, and runs the `toolcrib` command: on Node 24, and on an older Node,
# which must say what to do. Then packs the other packages, and installs the LangChain package into a project that uses each of its entry points.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
work=$(mktemp -d)
server=
finish() { [[ -z $server ]] || kill -KILL "$server" 2>/dev/null || true; rm -rf "$work"; }
trap finish EXIT
fail() { echo "installed-package: $*" >&2; exit 1; }

pack() { npm pack --silent --workspace "$1" --pack-destination "$work" >"$work/packed" || fail "$1 could not be packed: $(cat "$work/packed")"; }

pack toolcrib
npm install --silent --global --prefix "$work/prefix" "$work"/toolcrib-*.tgz
toolcrib=$work/prefix/bin/toolcrib
node24=$root/node_modules/.bin

PATH=$node24:$PATH "$toolcrib" --version
PATH=$node24:$PATH "$toolcrib" serve --port 7392 --data "$work/state" >"$work/banner" 2>"$work/log" &
server=$!
for _ in {1..150}; do grep -q curl "$work/banner" && break; kill -0 "$server" || fail "$(cat "$work/log")"; sleep 0.2; done
answer=$(PATH=$node24:$PATH "$toolcrib" call builtin:calculator '{"expression":"6*7"}' --url http://127.0.0.1:7392 --as alice --json)
grep -q '"success": *true' <<<"$answer" || fail "call answered: $answer"
for _ in {1..100}; do
  answer=$(PATH=$node24:$PATH "$toolcrib" call demo:price_order '{"items":[{"pizza":"funghi","count":2}]}' --url http://127.0.0.1:7392 --json 2>&1) && break
  sleep 0.2
done
grep -q '"total": *19' <<<"$answer" || fail "the demo answered: $answer"
# A separate process reads its document. It has to find its program and packages where npm put them.
for _ in {1..100}; do
  answer=$(PATH=$node24:$PATH "$toolcrib" call pizzeria:get_menu --url http://127.0.0.1:7392 --json 2>&1) && break
  sleep 0.2
done
grep -q '"pizzas"' <<<"$answer" || fail "the pizzeria answered: $answer"
kill -TERM "$server"; wait "$server" || fail 'SIGTERM did not end it cleanly'
server=

# Search by meaning is a separate package: without it the option says what to install, with it a search finds other words.
if message=$(PATH=$node24:$PATH "$toolcrib" serve --port 7393 --data "$work/meaning" --embeddings 2>&1); then fail 'embeddings ran without their package'; fi
grep -q 'npm install @toolcrib/embeddings' <<<"$message" || fail "without its package --embeddings said only: $message"
pack @toolcrib/embeddings
npm install --silent --global --prefix "$work/prefix" "$work"/toolcrib-embeddings-*.tgz
PATH=$node24:$PATH "$toolcrib" serve --port 7393 --data "$work/meaning" --embeddings >"$work/banner" 2>"$work/log" &
server=$!
for _ in {1..150}; do grep -q curl "$work/banner" && break; kill -0 "$server" || fail "$(cat "$work/log")"; sleep 0.2; done
answer=$(PATH=$node24:$PATH "$toolcrib" tools mathematics --url http://127.0.0.1:7393 --as alice)
grep -q builtin:calculator <<<"$answer" || fail "the search by meaning answered: $answer"
kill -TERM "$server"; wait "$server" || fail 'SIGTERM did not end it cleanly'
server=

pack @toolcrib/langchain
mkdir "$work/agent"
cp .ci/installed-agent.ts "$work/agent/agent.ts"
core=$(node -p 'require("./packages/langchain/package.json").devDependencies["@langchain/core"]')
(
  cd "$work/agent"
  printf '{"type":"module","private":true}\n' >package.json
  npm install --silent "$work"/toolcrib-[0-9]*.tgz "$work"/toolcrib-langchain-*.tgz "@langchain/core@$core" "@types/node@24"
  PATH=$node24:$PATH
  tsc --noEmit --strict --skipLibCheck --module nodenext --target es2024 --lib es2024,esnext.disposable --types node agent.ts
  node agent.ts "$root/packages/toolcrib/dist/demo/demo-server.js"
) || fail 'the agent that uses the installed packages failed'

# The older Node is the one the machine had before the project brought its own.
if node -e 'process.exit(process.versions.node.split(".")[0] < 24 ? 0 : 1)'; then
  if message=$("$toolcrib" --version 2>&1); then fail "an old Node ran it: $message"; fi
  grep -q 'Node' <<<"$message" || fail "an old Node said only: $message"
  printf '%s\n' "$message"
fi
echo 'installed-package: ok'
