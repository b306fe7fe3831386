#!/usr/bin/env bash
# parts-up.sh - source it at the top of the workspace: installs and starts every real part that the tests use, exports their addresses,
# and stops what it started when the shell ends. It needs only Node (20 is enough), npm and Debian with its packages.

say() { printf '\n== %s (%s)\n' "$*" "$(date +%T)"; }

export STATE_DIR=${STATE_DIR:-/tmp/toolcrib-ci-postgres} DOCKER_STATE_DIR=${DOCKER_STATE_DIR:-/tmp/toolcrib-ci-docker}
stop_parts() {
  kill "${keycloak:-}" 2>/dev/null || true
  bash docs/keycloak/keycloak-up.sh down || true
  bash .ci/postgres-up.sh down || true
  bash .ci/docker-up.sh down
}
trap stop_parts EXIT

# Keycloak takes a minute to fetch and start, in the background. Its packages come first, because apt serves one process at a time.
say 'Keycloak, in the background'
bash docs/keycloak/keycloak-up.sh packages
bash docs/keycloak/keycloak-up.sh up >/dev/null &
keycloak=$!

say 'npm ci'
npm ci

say 'PostgreSQL'
TOOLCRIB_TEST_POSTGRES_URL=$(bash .ci/postgres-up.sh up)
export TOOLCRIB_TEST_POSTGRES_URL

say 'Docker'
TOOLCRIB_TEST_DOCKER_IMAGE=$(bash .ci/docker-up.sh up)
export TOOLCRIB_TEST_DOCKER_IMAGE

say 'nginx'
# RUNLEVEL keeps the package from starting its own server.
command -v nginx >/dev/null || RUNLEVEL=1 bash .ci/apt-install.sh /tmp/toolcrib-ci-nginx.log nginx-light

say 'gcc'
# For the library that simulates a power cut.
command -v gcc >/dev/null || bash .ci/apt-install.sh /tmp/toolcrib-ci-gcc.log gcc libc6-dev

say 'Chromium, in the background'
{ command -v chromium || bash .ci/apt-install.sh /tmp/toolcrib-ci-chromium.log chromium fonts-dejavu-core; } >/dev/null &
chromium=$!

say 'Schemathesis, uv, openapi-core, httpbin, Prism'
# The first one may have to install Python's venv; the others then install in parallel, and print their paths when called again.
TOOLCRIB_TEST_UVX=$(bash .ci/python-tool-up.sh uv 0.13.7 uvx)
tools=()
bash .ci/python-tool-up.sh schemathesis 4.32.5 schemathesis >/dev/null & tools+=($!)
bash .ci/python-tool-up.sh openapi-core 0.23.1 python >/dev/null & tools+=($!)
bash .ci/python-tool-up.sh 'httpbin[mainapp]' 0.10.4 python >/dev/null & tools+=($!)
bash .ci/npm-tool-up.sh @stoplight/prism-cli 5.16.0 prism >/dev/null & tools+=($!)
bash .ci/mcp-clients-up.sh >/dev/null &
clients=$!
for tool in "${tools[@]}"; do wait "$tool"; done
TOOLCRIB_TEST_SCHEMATHESIS=$(bash .ci/python-tool-up.sh schemathesis 4.32.5 schemathesis)
TOOLCRIB_TEST_OPENAPI_CORE=$(bash .ci/python-tool-up.sh openapi-core 0.23.1 python)
TOOLCRIB_TEST_HTTPBIN=$(bash .ci/python-tool-up.sh 'httpbin[mainapp]' 0.10.4 python)
TOOLCRIB_TEST_PRISM=$(bash .ci/npm-tool-up.sh @stoplight/prism-cli 5.16.0 prism)
export TOOLCRIB_TEST_SCHEMATHESIS TOOLCRIB_TEST_UVX TOOLCRIB_TEST_OPENAPI_CORE TOOLCRIB_TEST_HTTPBIN TOOLCRIB_TEST_PRISM

say 'promtool'
TOOLCRIB_TEST_PROMTOOL=$(bash .ci/promtool-up.sh)
export TOOLCRIB_TEST_PROMTOOL

say 'MCP clients, Chromium'
wait "$clients"
TOOLCRIB_TEST_MCP_CLIENTS=$(bash .ci/mcp-clients-up.sh)
export TOOLCRIB_TEST_MCP_CLIENTS
wait "$chromium"

say 'Keycloak'
wait "$keycloak"
TOOLCRIB_TEST_KEYCLOAK_ISSUER=$(bash docs/keycloak/keycloak-up.sh url)
export TOOLCRIB_TEST_KEYCLOAK_ISSUER

# A missing part fails the run instead of skipping its tests.
export TOOLCRIB_REQUIRE_PARTS=1
