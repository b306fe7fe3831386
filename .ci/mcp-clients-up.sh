#!/usr/bin/env bash
# mcp-clients-up.sh - installs real MCP clients into one folder, once, and prints it. The workspace does not depend on them: only the tests
# run them. The Python ones are in two environments, because LangChain's adapters need version 1 of the SDK.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
npm_clients=(
  @modelcontextprotocol/inspector@2.12.0
  @anthropic-ai/claude-code@2.1.327
  @google/gemini-cli@0.61.0
  @openai/codex@0.169.0
)
python_clients=(mcp==2.3.0 openai-agents==0.24.0 'pydantic-ai-slim[mcp]==2.62.0')
langchain_clients=(langchain-mcp-adapters==0.3.2)

versions="${npm_clients[*]} ${python_clients[*]} ${langchain_clients[*]}"
folder=${TMPDIR:-/tmp}/toolcrib-mcp-clients-$(sha256sum <<<"$versions" | cut -c 1-12)

python_environment() {
  local environment=$1
  shift
  "$uv" venv --quiet --no-python-downloads "$environment"
  "$uv" pip install --quiet --python "$environment/bin/python" "$@"
}

if [[ ! -e $folder/installed ]]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  uv=$(dirname "$(bash "$here/python-tool-up.sh" uv 0.13.7 uvx)")/uv
  (python_environment "$folder/python" "${python_clients[@]}" && python_environment "$folder/langchain" "${langchain_clients[@]}") >&2 &
  python=$!
  npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --no-package-lock --silent "${npm_clients[@]}" >&2
  # Its script of installation, which only puts its program in place.
  node "$folder/node_modules/@anthropic-ai/claude-code/install.cjs" >&2
  wait "$python"
  touch "$folder/installed"
fi
printf '%s\n' "$folder"
