#!/usr/bin/env bash
# python-tool-up.sh PACKAGE VERSION COMMAND: installs a Python program into its own virtual environment, once, and prints the path of
# its command. Use the command `python` for packages that are libraries.
set -euo pipefail
package=$1 version=$2 command=$3
venv=${TMPDIR:-/tmp}/toolcrib-${package%%[*}-$version
# An interrupted installation leaves a `python` behind too, so a separate file marks a finished one.
if [[ ! -e $venv/installed ]]; then
  rm -rf "$venv"
  if ! python3 -m venv "$venv" >/dev/null 2>&1; then
    rm -rf "$venv"
    [[ $(id -u) == 0 ]] || { echo "python-tool-up: $package needs python3 with venv" >&2; exit 1; }
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq -o DPkg::Lock::Timeout=120 update >&2
    apt-get -qq -y --no-install-recommends -o DPkg::Lock::Timeout=120 install python3 python3-venv </dev/null >&2
    python3 -m venv "$venv" >&2
  fi
  "$venv/bin/pip" install --quiet --disable-pip-version-check "$package==$version" >&2
  touch "$venv/installed"
fi
printf '%s\n' "$venv/bin/$command"
