#!/usr/bin/env bash
# npm-tool-up.sh PACKAGE VERSION COMMAND: installs an npm program into its own folder, once, and prints the path of its command.
# The workspace does not depend on it: only tests run it, as an independent judge.
set -euo pipefail
package=$1 version=$2 command=$3
folder=${TMPDIR:-/tmp}/toolcrib-${package##*/}-$version
if [[ ! -e $folder/installed ]]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  # Without scripts: those of its dependencies only count downloads.
  npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --no-package-lock --silent "$package@$version" >&2
  touch "$folder/installed"
fi
printf '%s\n' "$folder/node_modules/.bin/$command"
