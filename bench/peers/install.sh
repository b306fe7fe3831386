#!/usr/bin/env bash
# install.sh [FOLDER]: installs the programs that `npm run bench:mcp` measures beside Toolcrib, each at the version written here, into a
# folder outside this repository. It leaves existing ones alone. It records programs that cannot be installed in FOLDER/absent with the
# reason, and the report names them; they never make this script fail.
set -uo pipefail
folder=${1:-${TOOLCRIB_BENCH_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/toolcrib-bench-peers}}
mkdir -p "$folder/absent"

# attempt NAME VERSION PROGRAM COMMAND...: runs COMMAND unless PROGRAM exists, and records the outcome.
attempt() {
  local name=$1 version=$2 program=$folder/$3 absent=$folder/absent/$1
  shift 3
  [[ -e $program ]] || "$@" >"$folder/$name.log" 2>&1
  if [[ -e $program ]]; then
    rm -f "$absent"
    printf '%s %s\n' "$name" "$version"
    return
  fi
  # The first useful line; addresses of a registry say nothing about the peer.
  grep -iE 'not found|not available|no matching|error' "$folder/$name.log" | head -1 | sed -E 's#https?://[^ ]+##g; s#^\s+##' >"$absent"
  [[ -s $absent ]] || echo 'it could not be installed' >"$absent"
  printf '%s %s: absent: %s\n' "$name" "$version" "$(cat "$absent")"
}

npm_peer() { npm install --prefix "$folder/$1" --no-audit --no-fund --loglevel error "$2@$3"; }
python_peer() { python3 -m venv "$folder/$1" && "$folder/$1/bin/pip" install --quiet --disable-pip-version-check "${@:2}"; }
# Not `go install`, which also requests every other version of the module: a build needs only one.
go_peer() (
  mkdir -p "$folder/$1/build" && cd "$folder/$1/build" || exit
  printf 'module peer\n\ngo 1.24\n\nrequire %s %s\n' "$2" "$3" >go.mod
  go build -mod=mod -o "$folder/$1/bin/" "$2"
)
# As the main module, for a module that replaces one of its own dependencies: builds of others ignore that.
go_main_peer() (
  source=$(go mod download -json "$2@$3" | sed -nE 's/^\s*"Dir": "(.*)",$/\1/p')
  [[ -n $source ]] || exit
  rm -rf "$folder/$1/build" && mkdir -p "$folder/$1" && cp -r "$source" "$folder/$1/build" && chmod -R u+w "$folder/$1/build" || exit
  cd "$folder/$1/build" && go build -o "$folder/$1/bin/" "$4"
)
# Release mode is the default of `cargo install`; it takes ten minutes on two cores. With the versions its authors locked.
rust_peer() { nice -n 19 cargo install "$2" --version "$3" --locked --root "$folder/$1"; }

# It accepts any version of its dependencies, but does not run with later ones than these.
attempt mcpo 0.0.20 mcpo/bin/mcpo python_peer mcpo mcpo==0.0.20 mcp==1.30.0 fastapi==0.129.2
attempt mcp-hub 4.2.1 mcp-hub/node_modules/mcp-hub/dist/cli.js npm_peer mcp-hub mcp-hub 4.2.1
attempt supergateway 4.0.0 supergateway/node_modules/supergateway/dist/index.js npm_peer supergateway supergateway 4.0.0
attempt mcphub latest mcphub/node_modules/@samanhappy/mcphub/bin/cli.js npm_peer mcphub @samanhappy/mcphub latest
attempt tbxark 0.43.2 tbxark/bin/mcp-proxy go_peer tbxark github.com/TBXark/mcp-proxy v0.43.2
attempt rust-mcp-proxy 0.6.0 rust-mcp-proxy/bin/mcp-proxy rust_peer rust-mcp-proxy mcp-proxy 0.6.0
attempt docker 0.28.0 docker/bin/docker-mcp go_main_peer docker github.com/docker/mcp-gateway v0.28.0 ./cmd/docker-mcp
