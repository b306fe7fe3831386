#!/usr/bin/env bash
# docker-up.sh [up|down|image] - a Docker daemon and an image with MCP servers for tests. Nothing is pulled.
#
#   up     (default) installs Docker if absent, starts a daemon if none answers, builds the image, and prints the image's name
#          on standard output. Running it again prints the name of the existing one.
#   down   stops the daemon that `up` started, and only that one, and removes its data. An image in somebody else's daemon stays;
#          `docker image prune --all --filter label=dev.toolcrib.test-image` removes those.
#   image  prints the image's name; exits with 1 if the daemon or the image is missing.
#
# The image holds one Node, the libraries it names, a static busybox (sh, ps, kill, sleep ...), and in /app the fixture server of the
# tests (/app/fixture/server.js) and @modelcontextprotocol/server-everything, which is also what `docker run` of it starts. Its users are
# root and node (1000). Its tag is a hash of all that, so it is rebuilt when any of it changes. Needs `npm ci` first.
#
# Settings (environment):
#   DOCKER_STATE_DIR   pid, log and data of our own daemon     (${TMPDIR:-/tmp}/toolcrib-docker)
#   DOCKER_HOST        the address of the daemon                (unix:///var/run/docker.sock)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

STATE_DIR=${DOCKER_STATE_DIR:-${TMPDIR:-/tmp}/toolcrib-docker}
PID_FILE=$STATE_DIR/dockerd.pid
LOG_FILE=$STATE_DIR/dockerd.log
READY_S=60
EVERYTHING=node_modules/@modelcontextprotocol/server-everything

say() { printf 'docker-up: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
answers() { docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }
# A pid file may outlive its daemon, and its pid may have been reused.
our_daemon() {
  local pid
  pid=$(cat "$PID_FILE" 2>/dev/null) && [[ $(readlink "/proc/$pid/exe") == *dockerd ]] && printf '%s\n' "$pid"
}

# A busybox that needs no library, so that it runs in an empty root.
busybox_static() {
  local path
  path=$(command -v busybox) || return 1
  ! ldd "$path" >/dev/null 2>&1 || return 1
  printf '%s\n' "$path"
}

ensure_packages() {
  local missing=()
  { command -v dockerd && command -v docker; } >/dev/null || answers || missing+=(docker.io)
  command -v iptables >/dev/null || answers || missing+=(iptables)
  busybox_static >/dev/null || missing+=(busybox-static)
  ((${#missing[@]})) || return 0
  [[ $(id -u) == 0 ]] || die "needs root to install ${missing[*]}"
  say "installing ${missing[*]}"
  bash .ci/apt-install.sh "$STATE_DIR/apt.log" "${missing[@]}"
}

ensure_daemon() {
  answers && return
  [[ $(id -u) == 0 ]] || die 'needs root to start dockerd'
  local host=${DOCKER_HOST:-unix:///var/run/docker.sock}
  [[ $host == unix://* ]] || die "DOCKER_HOST=$host does not answer, and a daemon can be started on a unix socket only"
  # A killed daemon leaves these, and the next one refuses to start while a process has those pids.
  our_daemon >/dev/null || rm -f "$PID_FILE" "$STATE_DIR/exec/containerd/containerd.pid"
  setsid dockerd --host "$host" --pidfile "$PID_FILE" --data-root "$STATE_DIR/data" --exec-root "$STATE_DIR/exec" \
    >"$LOG_FILE" 2>&1 </dev/null 9>&- &
  local child=$! give_up=$((SECONDS + READY_S))
  until answers; do
    kill -0 "$child" 2>/dev/null || { tail -n 20 "$LOG_FILE" >&2; die 'dockerd ended'; }
    ((SECONDS < give_up)) || { tail -n 20 "$LOG_FILE" >&2; die "dockerd was not ready in $READY_S s"; }
    sleep 0.1
  done
}

# The folder with the fixture servers, as plain JavaScript.
fixtures() { node packages/toolcrib/test/fixtures/mcp/plain-programs.ts; }

# Everything of ours that goes into the image, one path per line.
app_files() {
  printf '%s\n' "$(fixtures)"/*
  node .ci/dependency-closure.ts "$EVERYTHING" | while read -r folder; do
    find "$folder" -path "$folder/node_modules" -prune -o -type f -print
  done
}

image_name() {
  local node busybox
  node=$(readlink -f node_modules/.bin/node) && busybox=$(busybox_static)
  { printf '%s\n' "$node" "$busybox" "${BASH_SOURCE[0]}"; app_files; } | xargs -d '\n' sha256sum | cut -d ' ' -f 1 | LC_ALL=C sort |
    sha256sum | cut -c 1-16 | sed 's/^/toolcrib-test:/'
}

make_image() {
  local image=$1 root node lib
  root=$(mktemp -d "$STATE_DIR/root.XXXXXX")
  # shellcheck disable=SC2064
  trap "rm -rf '$root'" EXIT
  mkdir -p "$root"/{app/fixture,bin,dev,etc,lib,proc,root,run,sys,usr,work,home/node}
  mkdir -m 1777 "$root/tmp"
  ln -s ../bin "$root/usr/bin"
  cp "$(busybox_static)" "$root/bin/busybox"
  "$root/bin/busybox" --list | grep -vx busybox | while read -r applet; do ln -s busybox "$root/bin/$applet"; done
  node=$(readlink -f node_modules/.bin/node)
  cp "$node" "$root/bin/node"
  # Every library it links to, at the path where the loader looks for it.
  ldd "$node" | grep -oE '/[^ ]+' | sort -u | while read -r lib; do install -D "$lib" "$root$lib"; done
  app_files | grep -v "^$(fixtures)/" | tar -c --files-from - | tar -x -C "$root/app"
  cp "$(fixtures)"/* "$root/app/fixture"
  printf '{"type":"module"}\n' >"$root/app/package.json"
  printf 'root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000:node:/home/node:/bin/sh\n' >"$root/etc/passwd"
  printf 'root:x:0:\nnode:x:1000:\n' >"$root/etc/group"
  chown -R 0:0 "$root"
  chown 1000:1000 "$root/home/node" "$root/work"
  tar -C "$root" --numeric-owner -c . | docker import --change 'ENV PATH=/bin' --change 'WORKDIR /work' \
    --change 'ENTRYPOINT ["node"]' --change "CMD [\"/app/$EVERYTHING/dist/index.js\", \"stdio\"]" \
    --change 'LABEL dev.toolcrib.test-image=1' - "$image" >/dev/null
  rm -rf "$root"; trap - EXIT
}

is_made() { docker image inspect "$1" >/dev/null 2>&1; }

PATH=$PWD/node_modules/.bin:$PATH
case ${1:-up} in
  up)
    [[ -d $EVERYTHING ]] || die 'needs `npm ci` first'
    mkdir -p "$STATE_DIR"
    exec 9>"$STATE_DIR/lock"; flock 9   # of two at once the second finds the work done
    ensure_packages
    ensure_daemon
    image=$(image_name)
    is_made "$image" || make_image "$image"
    printf '%s\n' "$image"
    ;;
  image)
    answers && image=$(image_name) && is_made "$image" || exit 1
    printf '%s\n' "$image"
    ;;
  down)
    if pid=$(our_daemon); then
      kill -TERM "$pid"
      for _ in {1..300}; do our_daemon >/dev/null || break; sleep 0.1; done
      ! our_daemon >/dev/null || die "dockerd ($pid) has not ended in 30 s"
    fi
    # The daemon leaves its network namespace mounted, which would block the removal of the folder.
    awk -v below="$STATE_DIR/" 'index($2, below) == 1 {print $2}' /proc/mounts | sort -r | while read -r place; do umount "$place"; done
    rm -rf --one-file-system "$STATE_DIR"
    ;;
  *) sed -n '2,18s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
