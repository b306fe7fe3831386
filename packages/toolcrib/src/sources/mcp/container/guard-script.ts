/**
 * [MCP-4] Runs inside a container for as long as we use it, in any POSIX shell. Docker cannot end a process that an exec has started, so this
 * script does. Its input: `+8` watches process 8, `!8` ends it. An exec'd process leads its own session, so it is ended together with its
 * session, its group and all their descendants; orphans are recognised by their environment. SIGTERM, five seconds, SIGKILL. Its output:
 * `ready`, then `ended 8`, or `left 8` where even SIGKILL did not help.
 *
 * Its input closes when we are done with the container, and also when we are killed or the engine dies. Then it ends everything it still
 * watches.
 */
export const guardScript = `
trap '' PIPE HUP INT TERM
belongs() { # whether pid, with state $2, parent $3, group $4 and session $5, belongs to session $1
  [ "$4" = "$1" ] || [ "$5" = "$1" ] && return 0
  case "$known" in *" $3 "*) return 0;; esac
  [ "$3" = 1 ] || return 1
  { while read -r line || [ "$line" ]; do case $line in *"TOOLCRIB_EXEC=:$1:"*) return 0;; esac; done < "$dir/environ"; } 2>/dev/null
  return 1
}
look() { # of the session $1: known gets what belongs to it, living what of that is not dead
  more=1
  while [ "$more" ]; do
    more= living=
    for dir in /proc/[0-9]*; do
      stat=
      { while read -r line || [ "$line" ]; do stat="$stat$line "; done < "$dir/stat"; } 2>/dev/null
      [ "$stat" ] || continue
      pid=\${dir#/proc/}
      set -- "$1" \${stat##*) }
      case "$known" in
        *" $pid "*) ;;
        *)
          belongs "$@" || continue
          known="$known$pid " more=1
          ;;
      esac
      case $2 in Z|X) ;; *) living="$living $pid";; esac
    done
  done
  [ "$living" ]
}
nap() { sleep "$1" 2>/dev/null || sleep 1 2>/dev/null; }
finish() {
  known=" $1 "
  if look "$1"; then
    kill -s TERM $living 2>/dev/null
    for pause in .02 .05 .1 .2 .3 .4 .5 .5 1 1 1; do
      nap $pause || break
      look "$1" || break
    done
    for pause in .02 .05 .1 .2 .3 .4 1; do
      look "$1" || break
      kill -s KILL $living 2>/dev/null
      nap $pause
    done
  fi
  { if look "$1"; then echo "left $1"; else echo "ended $1"; fi; } 2>/dev/null
}
watched=' '
echo ready
while read -r line; do
  pid=\${line#?}
  case $line in
    +*) watched="$watched$pid ";;
    !*)
      case "$watched" in *" $pid "*) watched="\${watched%% $pid *} \${watched#* $pid }";; esac
      finish "$pid" &
      ;;
  esac
done
for pid in $watched; do finish "$pid" & done
wait
`;

/**
 * Prints its process id, waits for our answer, and becomes the server. Without an answer nobody could end the server later, so it does not
 * start.
 */
export const launchScript = 'export TOOLCRIB_EXEC=":$$:"; echo "$$" >&2; read -r heard && exec "$@"';
