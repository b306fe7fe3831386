import type { z } from 'zod';
import type { toolChoiceSchema } from '../model/tool-choice.ts';
import type { GivenOptions } from '../sources/registration/command-line.ts';
import type { CommonAddOption } from './add-options.ts';

/** [INV-5] Which tools are included: by name, or by tag, method and path together, minus the excluded ones. */
export function addChoice(given: GivenOptions<CommonAddOption>): { tools?: z.input<typeof toolChoiceSchema> } {
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
