#!/usr/bin/env bash
# keycloak-up.sh [up|down|url|packages] - a real Keycloak on loopback for development and tests, without a container engine.
#
#   up        (default) fetches Keycloak if need be, starts it with the realm of toolcrib-realm.json, waits until that answers, and prints the
#             issuer's address on standard output. Running it again prints the address of the one already up.
#   down      stops it. What was fetched stays, so that the next start is quicker.
#   url       prints the issuer's address; exit 1 when it is not up.
#   packages  installs what `up` needs (a Java, Maven, curl) where it is absent: Debian, root. `up` does so too.
#
# Keycloak comes from Maven Central, through mvn and its settings. Its database is in memory: every start imports the realm anew. Passwords
# and secrets are known to everybody, so it listens on loopback only. The first start takes about a minute, later ones 15 seconds.
#
# Settings (environment):
#   KEYCLOAK_STATE_DIR       the unpacked server, its log and pid     (.keycloak in this checkout)
#   KEYCLOAK_CACHE_DIR       where the downloaded archive is kept     (~/.cache/toolcrib-keycloak)
#   KEYCLOAK_PORT            port to take                             (the one it had before, else a free one)
#   KEYCLOAK_VERSION                                                  (26.7.3)
#   KEYCLOAK_ADMIN_PASSWORD  of `admin`, who administers Keycloak     (dev-admin-password)
#   TOOLCRIB_GATEWAY_SECRET  the client secret of toolcrib-gateway    (dev-gateway-secret)
#   TOOLCRIB_DEV_PASSWORD    of alice, bob and admin in the realm     (dev-password)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

VERSION=${KEYCLOAK_VERSION:-26.7.3}
STATE_DIR=${KEYCLOAK_STATE_DIR:-$here/../../.keycloak}
CACHE_DIR=${KEYCLOAK_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/toolcrib-keycloak}
ARCHIVE=$CACHE_DIR/keycloak-quarkus-dist-$VERSION.tar.gz
READY_S=300

say() { printf 'keycloak-up: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

java_major() { java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1; }

ensure_packages() {
  local missing=()
  command -v java >/dev/null || missing+=(default-jre-headless)
  command -v mvn >/dev/null || [[ -s $ARCHIVE ]] || missing+=(maven)
  command -v curl >/dev/null || missing+=(curl)
  if ((${#missing[@]})); then
    [[ $(id -u) == 0 ]] || die "needs ${missing[*]}: install them, or run this as root on Debian"
    say "installing ${missing[*]}"
    bash "$here/../../.ci/apt-install.sh" "$STATE_DIR/apt.log" "${missing[@]}"
  fi
  [[ $(java_major) -ge 17 ]] || die "needs Java 17 or newer on the PATH, and this is $(java_major)"
}

# Two checkouts may fetch at once: the second finds the archive there.
fetch() {
  local stage
  mkdir -p "$CACHE_DIR"
  exec 8>"$CACHE_DIR/lock"; flock 8
  if [[ ! -s $ARCHIVE ]]; then
    say "fetching Keycloak $VERSION"
    stage=$(mktemp -d "$CACHE_DIR/fetch.XXXXXX")
    # -C fails where a checksum is wrong. `copy` and not `unpack`, which leaves marks in the working directory and skips its work by them.
    mvn -B -q -ntp -C org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -DoutputDirectory="$stage" \
      -Dartifact="org.keycloak:keycloak-quarkus-dist:$VERSION:tar.gz" -Dmdep.useBaseVersion=true </dev/null >&2 ||
      { rm -rf "$stage"; die "could not fetch Keycloak $VERSION"; }
    mv "$stage/${ARCHIVE##*/}" "$ARCHIVE"
    rm -rf "$stage"
  fi
  exec 8>&-
}

# A server of its own for every checkout: Keycloak writes into its folder.
unpack() {
  [[ -x $HOME_DIR/bin/kc.sh ]] && return
  fetch
  rm -rf "$STATE_DIR/unpacking"
  mkdir "$STATE_DIR/unpacking"
  tar -xzf "$ARCHIVE" -C "$STATE_DIR/unpacking" || die "could not unpack $ARCHIVE: delete it and try again"
  mv "$STATE_DIR/unpacking/keycloak-$VERSION" "$HOME_DIR"
  rm -rf "$STATE_DIR/unpacking"
}

# A pid file may outlive its server, and its number may by now be somebody else's.
our_pid() {
  local pid
  pid=$(cat "$STATE_DIR/pid" 2>/dev/null) && [[ $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") == *"$HOME_DIR"* ]] && printf '%s\n' "$pid"
}

issuer() { printf 'http://127.0.0.1:%s/realms/toolcrib\n' "$(cat "$STATE_DIR/port")"; }
answers() { curl -sf -o /dev/null --noproxy '*' --max-time 5 "$(issuer)/.well-known/openid-configuration"; }
url() { our_pid >/dev/null && answers && issuer; }

is_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

choose_port() {
  local port
  if [[ -n ${KEYCLOAK_PORT:-} ]]; then
    ! is_taken "$KEYCLOAK_PORT" || die "port $KEYCLOAK_PORT is taken: choose another with KEYCLOAK_PORT"
    printf '%s\n' "$KEYCLOAK_PORT"
    return
  fi
  for port in $(cat "$STATE_DIR/port" 2>/dev/null) $(shuf -i 18000-19999 -n 50); do
    is_taken "$port" || { printf '%s\n' "$port"; return; }
  done
  die 'found no free port'
}

up() {
  url && return
  ! our_pid >/dev/null || down
  unpack
  local port
  port=$(choose_port)
  printf '%s\n' "$port" >"$STATE_DIR/port"
  mkdir -p "$HOME_DIR/data/import"
  cp "$here/toolcrib-realm.json" "$HOME_DIR/data/import/"
  say "starting on port $port (log: $STATE_DIR/log)"
  # The quick compiler alone shortens a start by a quarter. --hostname: else `iss` would follow the name by which a caller knows us.
  # A session of its own, so that its processes are stopped together.
  JAVA_OPTS_APPEND=${JAVA_OPTS_APPEND:--XX:TieredStopAtLevel=1} KC_BOOTSTRAP_ADMIN_USERNAME=admin \
    KC_BOOTSTRAP_ADMIN_PASSWORD=${KEYCLOAK_ADMIN_PASSWORD:-dev-admin-password} \
    setsid "$HOME_DIR/bin/kc.sh" start-dev --import-realm --db=dev-mem --http-host=127.0.0.1 --http-port="$port" \
    --hostname="http://127.0.0.1:$port" >"$STATE_DIR/log" 2>&1 </dev/null 9>&- &
  printf '%s\n' $! >"$STATE_DIR/pid"
  local give_up=$((SECONDS + READY_S))
  until answers; do
    kill -0 $! 2>/dev/null || { tail -n 30 "$STATE_DIR/log" >&2; die 'Keycloak ended before it was ready'; }
    ((SECONDS < give_up)) || { tail -n 30 "$STATE_DIR/log" >&2; down; die "Keycloak was not ready in $READY_S s"; }
    sleep 0.5
  done
  issuer
}

down() {
  local pid
  if pid=$(our_pid); then
    kill -TERM -- "-$pid"
    for _ in {1..60}; do our_pid >/dev/null || break; sleep 0.5; done
    ! our_pid >/dev/null || kill -KILL -- "-$pid"
  fi
  rm -f "$STATE_DIR/pid"
}

mkdir -p "$STATE_DIR"
STATE_DIR=$(cd "$STATE_DIR" && pwd)
HOME_DIR=$STATE_DIR/keycloak-$VERSION
case ${1:-up} in
  up)
    exec 9>"$STATE_DIR/lock"; flock 9   # of two at once the second finds the work done
    ensure_packages
    up
    ;;
  packages) ensure_packages ;;
  url) url ;;
  down) down ;;
  *) sed -n '2,22s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
