import { completable, inputRequired, type GetPromptResult, type McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { filledIn, form } from './requests.ts';
import { embedded, image, text } from './samples.ts';
import { nameRequests } from './named-requests.ts';

const says = (...contents: GetPromptResult['messages'][number]['content'][]): GetPromptResult => ({
  messages: contents.map((content) => ({ role: 'user', content })),
});
const beginningWith = (start: string) => ['paris', 'park', 'party', 'test', 'testing'].filter((word) => word.startsWith(start));

/** Registers the prompts. Returns the one that comes and goes. */
export function registerPrompts(server: McpServer) {
  server.registerPrompt('test_simple_prompt', { description: 'Takes nothing' }, () => says(text('This is a simple prompt for testing.')));
  const both = z.object({ arg1: completable(z.string().describe('First test argument'), beginningWith), arg2: z.string() });
  server.registerPrompt('test_prompt_with_arguments', { description: 'Takes two arguments', argsSchema: both }, ({ arg1, arg2 }) =>
    says(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  const address = z.object({ resourceUri: z.string().describe('The resource to embed') });
  const embedding = { description: 'Embeds a resource', argsSchema: address };
  server.registerPrompt('test_prompt_with_embedded_resource', embedding, ({ resourceUri }) =>
    says(
      embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
      text('Please process the embedded resource above.'),
    ),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'Shows an image' }, () =>
    says(image, text('Please analyze the image above.')),
  );
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks the user for a context' }, ({ mcpReq }) => {
    const context = filledIn(mcpReq, 'user_context')?.['context'];
    if (typeof context === 'string') return says(text(`Use this context: ${context}`));
    const user_context = form('What context should the prompt use?', { context: { type: 'string' } });
    return nameRequests(mcpReq, inputRequired({ inputRequests: { user_context } }));
  });
  return server.registerPrompt('test_changing_prompt', { description: 'Comes and goes' }, () => says(text('Here for now')));
}
