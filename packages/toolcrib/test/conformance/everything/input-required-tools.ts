import { inputRequired, MissingRequiredClientCapabilityError } from '@modelcontextprotocol/server';
import type { FixtureTools } from './fixture-tool.ts';
import { answerOf, filledIn, form, roots, sample } from './requests.ts';
import { text } from './samples.ts';

const name = { name: { type: 'string' } };
const ok = { ok: { type: 'boolean' } };
const done = (words: string) => ({ content: [text(words)] });

/** Asks for one thing under one name, and tells what came back. */
const asksOnce = (description: string, key: string, request: ReturnType<typeof form>): FixtureTools[string] => ({
  description,
  run(_args, { request: { inputResponses } }) {
    const answer = inputResponses?.[key];
    return answer === undefined ? inputRequired({ inputRequests: { [key]: request } }) : done(`Got ${JSON.stringify(answer)}`);
  },
});

/** Asks for a confirmation and gives the client something sealed to keep, which it has to bring back unchanged. */
const confirmsWithState: FixtureTools[string] = {
  description: 'Asks for a confirmation, and wants its state back',
  async run(_args, { request, states }) {
    const state = request.requestState<{ step: string }>();
    if (state?.step === 'confirm' && filledIn(request, 'confirm')?.['ok'] === true) return done('state-ok');
    return inputRequired({ inputRequests: { confirm: form('Please confirm', ok) }, requestState: await states.mint({ step: 'confirm' }) });
  },
};

/** Tools that ask with their result, as the revision without sessions tests them. */
export const inputRequiredTools: FixtureTools = {
  test_input_required_result_elicitation: {
    description: 'Asks the user for a name, until there is one',
    run(_args, { request }) {
      const given = filledIn(request, 'user_name')?.['name'];
      if (typeof given === 'string') return done(`Hello, ${given}!`);
      return inputRequired({ inputRequests: { user_name: form('What is your name?', name) } });
    },
  },
  test_input_required_result_sampling: asksOnce(
    "Asks the client's model for a capital",
    'capital_question',
    sample('What is the capital of France?'),
  ),
  test_input_required_result_list_roots: asksOnce('Asks the client for its roots', 'client_roots', roots),
  test_input_required_result_request_state: confirmsWithState,
  test_input_required_result_tampered_state: confirmsWithState,
  test_input_required_result_multiple_inputs: {
    description: 'Asks the user, the model and the client at once',
    async run(_args, { request, states }) {
      const inputRequests = {
        user_name: form('What is your name?', name),
        greeting: sample('Generate a greeting', 50),
        client_roots: roots,
      };
      const answers = Object.keys(inputRequests).map((key) => answerOf(request, key));
      if (answers.every((answer) => answer !== undefined)) return done(`Got ${JSON.stringify(answers)}`);
      return inputRequired({ inputRequests, requestState: await states.mint({ step: 'all' }) });
    },
  },
  test_input_required_result_multi_round: {
    description: 'Asks for a name, and then for a colour',
    async run(_args, { request, states }) {
      const { name: known } = request.requestState<{ name?: string }>() ?? {};
      const given = known ?? filledIn(request, 'step1')?.['name'];
      if (typeof given !== 'string') {
        const step1 = form('Step 1: What is your name?', name);
        return inputRequired({ inputRequests: { step1 }, requestState: await states.mint({}) });
      }
      const colour = filledIn(request, 'step2')?.['color'];
      if (typeof colour === 'string') return done(`${given} likes ${colour}`);
      const step2 = form('Step 2: What is your favorite color?', { color: { type: 'string' } });
      return inputRequired({ inputRequests: { step2 }, requestState: await states.mint({ name: given }) });
    },
  },
  test_input_required_result_capabilities: {
    description: 'Asks whoever the client says can be asked',
    run(_args, { request, capabilities }) {
      if (request.inputResponses !== undefined) return done(`Got ${JSON.stringify(request.inputResponses)}`);
      const inputRequests = {
        ...(capabilities.elicitation && { user_name: form('What is your name?', name) }),
        ...(capabilities.sampling && { greeting: sample('Generate a greeting', 50) }),
      };
      return Object.keys(inputRequests).length > 0 ? inputRequired({ inputRequests }) : done('There is nobody to ask');
    },
  },
  test_missing_capability: {
    description: "Asks the client's model, and refuses to work for a client that offers none",
    run(_args, { request, capabilities }) {
      if (!capabilities.sampling) throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
      const answer = answerOf(request, 'greeting');
      if (answer !== undefined) return done(`Got ${JSON.stringify(answer)}`);
      return inputRequired({ inputRequests: { greeting: sample('Generate a greeting', 50) } });
    },
  },
};
