/**
 * Phrases that address a model instead of describing a tool. Each is bounded: the operator of the server writes the text, and could use
 * unlimited repetition against us.
 */
const instructions: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget)(?: (?:all|any|the|your|of|these|those|previous|prior|preceding|earlier|above|existing|other|system|safety|security)){1,5} (?:instruction|prompt|rule|message|direction|guideline|guardrail|polic)/,
  /\b(?:override|bypass)(?: (?:all|any|the|your)){0,2} (?:system|safety|security) (?:instruction|prompt|rule|guideline|guardrail|polic|check)/,
  /\b(?:do not|don't|never|without) (?:tell|telling|inform|informing|notify|notifying|alert|alerting)(?: \w{1,20}){0,3} (?:user|human|operator)\b/,
  /\b(?:do not|don't|never) (?:mention|reveal|disclose) (?:this|that|it|these|any of)\b/,
  /\b(?:keep|hide) (?:this|that|it|these)(?: \w{1,20}){0,4} (?:secret|hidden|confidential|from the user)\b/,
  /<\/?(?:important|system|instructions?|secret|hidden|critical|admin)(?: [^<>]{0,40})?>/,
  /<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[\/?inst\]|<<\/?sys>>/,
  /\bsystem prompt\b|\b(?:new|real|actual|updated) instructions?:/,
  /\b(?:before|prior to|whenever|each time)(?: you)? (?:us|call|invok|runn?)(?:e|ing)? (?:this|any|other|another|every|all)(?: other)? (?:tool|function)s?,?(?: (?:you|the (?:assistant|model|agent|ai)))? (?:must|always|need to|have to|should first|first)\b/,
  /(?:~|\$home|\/home\/\w{1,32}|\/root|%userprofile%)[/\\]\.(?:ssh|aws|gnupg|kube|netrc|npmrc|docker|git-credentials|bash_history|cursor|claude)\b/,
  /\bid_(?:rsa|ed25519|ecdsa)\b|\.aws\/credentials\b|\/etc\/(?:passwd|shadow)\b/,
  /\b(?:read|open|collect|extract|steal|exfiltrate|dump|leak|harvest)(?: \w{1,20}){0,4} (?:credentials|private keys?|ssh keys?|passwords?|api keys?|\.env)\b/,
  /\b(?:send|post|forward|upload|transmit|exfiltrate|submit|e?mail|copy|leak)(?:s|ing)? [^.!?]{0,80} ?to:? (?:https?:\/\/|[\w.+-]{1,64}@)(?!localhost|127\.|(?:[\w-]{1,64}\.){0,3}example\b|example\.|(?:[\w-]{1,64}\.){0,3}test\b)\w/,
];

const contextBefore = 20;
const longestExcerpt = 160;

/** [INV-3] The first phrase in a text that reads like an instruction to a model, with its context; null where there is none. */
export function findInstruction(text: string): string | null {
  const plain = plainWords(text);
  for (const pattern of instructions) {
    const index = plain.search(pattern);
    if (index < 0) continue;
    const start = Math.max(0, index - contextBefore);
    return plain.slice(start, start + longestExcerpt);
  }
  return null;
}

/** The text as a model reads it: look-alike letters unified, invisible characters removed, letters hidden in tags revealed. */
function plainWords(text: string): string {
  return text
    .replaceAll(/[\u{e0020}-\u{e007e}]+/gu, (tags) => ` ${Array.from(tags, letterOfTag).join('')} `)
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('\u2019', "'")
    .replaceAll(/\s+/g, ' ');
}

function letterOfTag(tag: string): string {
  return String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000);
}
