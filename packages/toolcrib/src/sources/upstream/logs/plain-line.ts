/* oxlint-disable no-control-regex -- control characters are what this is about */

/** ECMA-48: a control sequence with its parameters, a string such as a window title or a link with its end, or a short escape. */
const escapes = /\u001B\[[0-?]*[ -/]*[@-~]?|\u001B[\]PX^_][^\u0007\u001B]*(?:\u0007|\u001B\\)?|\u001B[ -/]*[0-~]?/g;
/** Characters that move a terminal's cursor or change the direction of the text; a tab does no harm. */
const controls = /[\u0000-\u0008\u000A-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g;

/** A line that is safe to print: without colours, cursor movements and the like. */
export function plainLine(text: string): string {
  return text.replaceAll(escapes, '').replaceAll(controls, '').trimEnd();
}
