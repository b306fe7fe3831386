import type { z } from 'zod';
import type { toolChoiceSchema } from '../model/tool-choice.ts';
import type { AddOption } from './add-options.ts';
import type { Given } from './given.ts';

/** [INV-5] Which tools are taken: what is included by name, or by tag, method and path together, without what is excluded. */
export function addChoice(given: Given<AddOption>): { tools?: z.input<typeof toolChoiceSchema> } {
  const [tags, methods, paths] = [given.list('tag'), given.list('method'), given.list('path')];
  const selector = {
    ...(tags.length === 0 ? {} : { tags }),
    ...(methods.length === 0 ? {} : { methods }),
    ...(paths.length === 0 ? {} : { paths }),
  };
  const include = [...given.list('include'), ...(Object.keys(selector).length === 0 ? [] : [selector])];
  const exclude = given.list('exclude');
  return include.length === 0 && exclude.length === 0 ? {} : { tools: { include, exclude } };
}
