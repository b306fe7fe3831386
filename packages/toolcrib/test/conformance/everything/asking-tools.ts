import { inputRequired } from '@modelcontextprotocol/server';
import type { FixtureTools } from './fixture-tool.ts';
import { answerOf, form, sample } from './requests.ts';
import { text } from './samples.ts';

const enumForms = {
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: {
    type: 'string',
    oneOf: [
      { const: 'value1', title: 'First Option' },
      { const: 'value2', title: 'Second Option' },
      { const: 'value3', title: 'Third Option' },
    ],
  },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: {
    type: 'array',
    items: {
      anyOf: [
        { const: 'value1', title: 'First Choice' },
        { const: 'value2', title: 'Second Choice' },
        { const: 'value3', title: 'Third Choice' },
      ],
    },
  },
};

const defaults = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};

const takes = (name: string) => ({ type: 'object' as const, properties: { [name]: { type: 'string' } }, required: [name] });

/**
 * Tools that need somebody's answer, as the revisions with sessions test them. They ask for it with their result; where the client cannot
 * read that, the SDK sends it a request instead.
 */
export const askingTools: FixtureTools = {
  test_sampling: {
    description: "Asks the client's model",
    inputSchema: takes('prompt'),
    run({ prompt = '' }, { request }) {
      const answer = answerOf(request, 'sample');
      if (answer === undefined) return inputRequired({ inputRequests: { sample: sample(prompt) } });
      return { content: [text(`LLM response: ${JSON.stringify(answer['content'])}`)] };
    },
  },
  test_elicitation: {
    description: 'Asks the user for a name and an address',
    inputSchema: takes('message'),
    run({ message = '' }, { request }) {
      const answer = answerOf(request, 'user');
      if (answer !== undefined) return { content: [text(`User response: ${JSON.stringify(answer)}`)] };
      const username = { type: 'string', description: "User's response" };
      const email = { type: 'string', description: "User's email address" };
      return inputRequired({ inputRequests: { user: form(message, { username, email }) } });
    },
  },
  test_elicitation_sep1034_defaults: {
    description: 'Asks the user with a form that has defaults',
    run(_args, { request }) {
      const answer = answerOf(request, 'profile');
      if (answer !== undefined) return { content: [text(`Elicitation completed: ${JSON.stringify(answer)}`)] };
      return inputRequired({ inputRequests: { profile: form('Please check your profile', defaults, []) } });
    },
  },
  test_elicitation_sep1330_enums: {
    description: 'Asks the user with a form that has every kind of choice',
    run(_args, { request }) {
      const answer = answerOf(request, 'choices');
      if (answer !== undefined) return { content: [text(`Elicitation completed: ${JSON.stringify(answer)}`)] };
      return inputRequired({ inputRequests: { choices: form('Please choose', enumForms, []) } });
    },
  },
  test_streaming_elicitation: {
    description: 'Asks the user to go on',
    run(_args, { request }) {
      const answer = answerOf(request, 'go_on');
      if (answer !== undefined) return { content: [text(`Answered with ${JSON.stringify(answer)}`)] };
      return inputRequired({ inputRequests: { go_on: form('Go on?', { ok: { type: 'boolean' } }) } });
    },
  },
};
