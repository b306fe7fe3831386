#!/usr/bin/env bash
# apt-install.sh LOG PACKAGE... - installs Debian packages without questions, documentation or recommended packages. The output of apt goes
# to the file LOG, whose end is shown if it fails.
set -euo pipefail
log=$1
shift
export DEBIAN_FRONTEND=noninteractive
patient=(-o DPkg::Lock::Timeout=120 -o Acquire::Retries=3)
slim=(-o Dpkg::Options::=--path-exclude=/usr/share/man/* -o Dpkg::Options::=--path-exclude=/usr/share/doc/*)
apt-get -qq "${patient[@]}" update >&2
apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 "${patient[@]}" "${slim[@]}" install "$@" </dev/null >"$log" 2>&1 || {
  tail -n 20 "$log" >&2
  echo 'apt-get install failed' >&2
  exit 1
}
