import { notRun } from './not-run.ts';
import { commandsIn, type Block } from './read-page.ts';

export interface PageSettings {
  /** Typed before the first line of the page. */
  before?: string;
  /** What is typed when a command, without its comment, asks. */
  answers?: Record<string, string>;
  /** Commands, without their comments, that end with another code than 0, as their page says. */
  ends?: Record<string, number>;
}

/**
 * One bash script that does what the blocks of a page say, in order, in one shell: `sh` blocks are typed as they are, `sh background` blocks
 * in a terminal of their own that stays open. A `text` block right behind one holds lines that it must have printed; `…` stands for anything.
 * A server that is started, or something that follows a log, is stopped with Ctrl-C once it is open, or has shown something.
 */
export function pageScript(blocks: Block[], settings: PageSettings = {}): string {
  const lines = [prelude, settings.before ?? ''];
  let printedUpTo = 0;
  for (const { kind, text, line, end } of blocks) {
    if (kind === 'text' && line === printedUpTo + 1) lines.push(hereDocument('expect', text));
    if (kind !== 'sh' && kind !== 'sh background') continue;
    printedUpTo = end;
    lines.push(`begin ${line}`);
    if (kind === 'sh background') lines.push(hereDocument('background', commandsToRun(text).join('\n')));
    else for (const command of commandsToRun(text)) lines.push(...run(command, settings));
  }
  return [...lines, 'stop_terminals', ''].join('\n');
}

const commandsToRun = (text: string) => commandsIn(text).filter((command) => !(withoutComment(command) in notRun));

/** Comments of pages stand behind two spaces. */
export const withoutComment = (command: string) => command.replace(/ +# .*$/, '');

function run(command: string, { answers = {}, ends = {} }: PageSettings): string[] {
  const words = withoutComment(command);
  const lines = [`doing ${quoted(command)}`];
  if (/\b(toolcrib serve|npm start)\b/.test(words)) return [...lines, hereDocument('serve', command)];
  if (/ (-f|--follow)\b/.test(words)) return [...lines, hereDocument('follow', command)];
  const answer = answers[words];
  const typed = answer === undefined ? command : `script -qec ${quoted(words)} /dev/null <<<${quoted(answer)}`;
  return [...lines, `code=0\n{\n${typed}\n} >>"$out" 2>&1 || code=$?`, `[[ $code == ${ends[words] ?? 0} ]] || fail "it ended with $code"`];
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const hereDocument = (name: string, text: string) => `${name} <<'END_OF_BLOCK'\n${text.trimEnd()}\nEND_OF_BLOCK`;

const prelude = `
set -euo pipefail
out=$STAGE/.out
terminals=()
echo "before its first line" >"$STAGE/.doing"
: >"$out"
begin() { : >"$out"; echo "line $1" >"$STAGE/.doing"; }
doing() { printf '%s\\n' "$1" >>"$STAGE/.doing"; printf '\\n$ %s\\n' "$1" >>"$out"; }
fail() { echo "$*" >>"$out"; exit 1; }

# Each in a process group of its own, so that Ctrl-C reaches all of it.
in_terminal() {
  cat >"$STAGE/.terminal.\${#terminals[@]}"
  set -m
  bash -eu "$STAGE/.terminal.\${#terminals[@]}" >>"$out" 2>&1 </dev/null &
  set +m
  terminals+=($!)
}
end_terminals() { for terminal in "\${terminals[@]}"; do kill -KILL -- "-$terminal" 2>/dev/null || true; done; }
trap end_terminals EXIT
stop_terminal() {
  local code=0
  kill -INT -- "-$1" 2>/dev/null || true
  wait "$1" || code=$?
  [[ $code == 0 || $code == 130 ]] || fail "Ctrl-C ended it with $code"
}
stop_terminals() { for terminal in "\${terminals[@]}"; do stop_terminal "$terminal"; done; terminals=(); }
until_printed() {
  for _ in {1..900}; do
    (( $(grep -c "$1" "$out") <= $2 )) || return 0
    kill -0 "\${terminals[-1]}" 2>/dev/null || fail 'it ended'
    sleep 0.1
  done
  fail "it did not print $1"
}
background() {
  in_terminal
  until_printed 'is open' 0
  # What comes along with a server of development is still being started.
  for _ in {1..900}; do
    npx toolcrib sources --json 2>/dev/null | grep -q '"starting"' || return 0
    sleep 0.1
  done
}
# Beside the server of the page: with other data, at another port.
serve() {
  local before
  before=$(grep -c 'is open' "$out" || true)
  TOOLCRIB_PORT=0 TOOLCRIB_DATA=$STAGE/.data.\${#terminals[@]} in_terminal
  until_printed 'is open' "$before"
  stop_terminal "\${terminals[-1]}"
  unset 'terminals[-1]'
}
follow() {
  local before
  before=$(grep -c . "$out" || true)
  in_terminal
  until_printed . "$before"
  stop_terminal "\${terminals[-1]}"
  unset 'terminals[-1]'
}
# Looks for each line in what was printed; the … of a page stands for anything.
expect() {
  local line pattern
  while IFS= read -r line; do
    pattern=$(sed -e 's/[][\\\\.*^$+?(){}|/]/\\\\&/g' -e 's/…/.*/g' <<<"$line")
    grep -qE -- "$pattern" "$out" || fail "this was not printed: $line"
  done
}
`;
