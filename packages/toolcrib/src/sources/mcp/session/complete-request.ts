import { setTimeout as delay } from 'node:timers/promises';
import { CribError } from '../../../model/crib-error.ts';
import type { JsonObject } from '../../../model/json.ts';
import { ProtocolError } from '../../../model/named-errors.ts';
import { answerQuestion, isForm } from './elicitation.ts';
import type { Exchange } from './exchange.ts';
import { isObject, type Requests } from './requests.ts';

const maxRounds = 10;
/** A round without a question is the server asking for patience. */
const patienceMs = 250;

/**
 * A request of the stateless revision, to its end: where the answer is a question, the question is answered and the request sent again
 * with the answer and the server's own note of where it was (SEP-2322).
 */
export async function completeRequest(
  requests: Requests,
  method: string,
  params: JsonObject,
  exchange: Exchange,
  headers?: Record<string, string>,
): Promise<JsonObject> {
  let current = params;
  for (let round = 0; round <= maxRounds; round++) {
    const result = await requests.send(method, current, exchange, headers);
    // The field is required of servers, and of clients that they take its absence for an answer that is complete.
    const { resultType = 'complete', inputRequests, requestState } = result;
    if (resultType === 'complete') return result;
    if (resultType !== 'input_required') {
      throw new ProtocolError(`The server answered with a result of the kind ${JSON.stringify(resultType)}, which is not known`);
    }
    const questions = isObject(inputRequests) ? Object.entries(inputRequests) : [];
    if (questions.length === 0 && typeof requestState !== 'string') {
      throw new ProtocolError('The server asked for input without saying what for');
    }
    if (questions.length === 0) await delay(patienceMs);
    const answers = await Promise.all(questions.map(async ([key, question]) => [key, await answer(question, exchange)] as const));
    current = {
      ...params,
      ...(answers.length > 0 && { inputResponses: Object.fromEntries(answers) }),
      ...(typeof requestState === 'string' && { requestState }),
    };
  }
  throw new CribError('SERVICE_UNAVAILABLE', `The server still asked for more after ${maxRounds} rounds of questions`, {
    retryable: false,
  });
}

function answer(question: unknown, exchange: Exchange): Promise<JsonObject> {
  const { method, params } = isObject(question) ? question : { method: undefined, params: undefined };
  if (method === 'elicitation/create' && isForm(params)) return answerQuestion(params, exchange);
  const what = typeof method === 'string' ? method.slice(0, 100) : 'something';
  throw new ProtocolError(`The server asked for ${what}, which we do not offer`);
}
