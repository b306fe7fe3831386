import { setTimeout as wait } from 'node:timers/promises';
import type { FixtureTools } from './fixture-tool.ts';
import { text } from './samples.ts';

const pauseMs = 50;

/** Tools that say something before they answer, or that change what is listed. */
export const notifyingTools: FixtureTools = {
  test_tool_with_logging: {
    description: 'Logs three lines',
    async run(_args, { request }) {
      await request.log('info', 'Tool execution started');
      await wait(pauseMs);
      await request.log('info', 'Tool processing data');
      await wait(pauseMs);
      await request.log('info', 'Tool execution completed');
      return { content: [text('Logged three lines')] };
    },
  },
  test_logging_tool: {
    description: 'Logs a line',
    async run(_args, { request }) {
      await request.log('info', 'A line for those who asked for it');
      return { content: [text('Logged a line')] };
    },
  },
  test_tool_with_progress: {
    description: 'Reports progress in three steps',
    async run(_args, { request }) {
      const progressToken = request._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          await request.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
        }
        await wait(pauseMs);
      }
      return { content: [text('Went through three steps')] };
    },
  },
  test_reconnection: {
    description: 'Closes the stream of its own request, and answers the client that comes back for it',
    async run(_args, { http }) {
      http?.closeSSE?.();
      await wait(pauseMs);
      return { content: [text('Answered after the stream was closed')] };
    },
  },
  test_trigger_tool_change: {
    description: 'Adds or removes a tool',
    run(_args, { catalogue }) {
      catalogue.change('tools');
      return { content: [text('The tools have changed')] };
    },
  },
  test_trigger_prompt_change: {
    description: 'Adds or removes a prompt',
    run(_args, { catalogue }) {
      catalogue.change('prompts');
      return { content: [text('The prompts have changed')] };
    },
  },
  test_trigger_resource_update: {
    description: 'Says that the watched resource has changed',
    run(_args, { catalogue }) {
      catalogue.update();
      return { content: [text('The watched resource has changed')] };
    },
  },
};
