import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Tool } from '../../packages/toolcrib/src/model/tool.ts';

export const requestKinds = ['keywords', 'sentence', 'paraphrase', 'synonym', 'typo', 'language', 'stranger'] as const;

const requestSchema = z.strictObject({
  id: z.string(),
  /** In the words of a person. */
  text: z.string().min(1),
  kind: z.enum(requestKinds),
  /** Names of the right tools, any of which counts; `*` stands for any characters. */
  answers: z.array(z.string()).min(1),
  /** True if nobody may look at it while tuning the search. */
  kept_aside: z.boolean(),
});

export interface SearchRequest {
  id: string;
  text: string;
  kind: (typeof requestKinds)[number];
  keptAside: boolean;
  isAnswer(name: string): boolean;
}

/** [FIND-1] The set of requests. An expected tool that does not exist is a mistake in the set. */
export function readRequests(tools: readonly Tool[]): SearchRequest[] {
  const parsed = z.array(requestSchema).parse(JSON.parse(readFileSync(join(import.meta.dirname, 'requests.json'), 'utf8')));
  return parsed.map(({ id, text, kind, answers, kept_aside: keptAside }) => {
    const patterns = answers.map((answer) => new RegExp(`^${answer.split('*').map(escape).join('.*')}$`));
    const wrong = answers.find((_, index) => !tools.some(({ name }) => patterns[index]?.test(name)));
    if (wrong !== undefined) throw new Error(`${id}: no tool is called ${wrong}`);
    return { id, text, kind, keptAside, isAnswer: (name) => patterns.some((pattern) => pattern.test(name)) };
  });
}

const escape = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
