#!/usr/bin/env bash
# promtool-up.sh - prints the path of promtool. If there is none, it is taken from Debian's prometheus package, which is unpacked but not
# installed: an installed one would start a server.
set -euo pipefail
if command -v promtool; then exit; fi
folder=${TMPDIR:-/tmp}/toolcrib-promtool
if [[ ! -x $folder/usr/bin/promtool ]]; then
  rm -rf "$folder" "$folder.part"
  mkdir -p "$folder.part"
  cd "$folder.part"
  fetch() { apt-get -qq -o Acquire::Retries=3 -o APT::Sandbox::User=root download prometheus >&2; }
  fetch || { apt-get -qq -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 update >&2 && fetch; }
  dpkg-deb -x prometheus_*.deb .
  rm prometheus_*.deb
  mv "$folder.part" "$folder"
fi
printf '%s\n' "$folder/usr/bin/promtool"
