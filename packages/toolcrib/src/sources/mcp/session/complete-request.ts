import { setTimeout as delay } from 'node:timers/promises';
import { CribError } from '../../../model/crib-error.ts';
import { isObject, type JsonObject } from '../../../model/json.ts';
import { ProtocolError } from '../../../model/named-errors.ts';
import { passedOn } from './passed-on.ts';
import { answerQuestion, isForm } from './elicitation.ts';
import type { Exchange } from './exchange.ts';
import type { Requests } from './requests.ts';

const maxRounds = 10;
/** In a round without a question the server asks for more time. */
const patienceMs = 250;

/** Servers must send the field; clients must read its absence as a complete answer. */
export function isComplete({ resultType }: JsonObject): boolean {
  return resultType === undefined || resultType === 'complete';
}

/**
 * Completes a request of the stateless revision: while the server answers with a question, the request is sent again with the reply and the
 * server's own state (SEP-2322). `first` is the answer to the request as it is, where it has been sent before.
 */
export async function completeRequest(
  requests: Requests,
  method: string,
  params: JsonObject,
  exchange: Exchange,
  headers?: Record<string, string>,
  first?: JsonObject,
): Promise<JsonObject> {
  let current = params;
  for (let round = 0; round <= maxRounds; round++) {
    const result = round === 0 && first !== undefined ? first : await requests.send(method, current, exchange, headers);
    if (isComplete(result)) return result;
    const { resultType, inputRequests, requestState } = result;
    if (resultType !== 'input_required') {
      throw new ProtocolError(`The server answered with an unknown kind of result: ${JSON.stringify(resultType)}`);
    }
    const questions = isObject(inputRequests) ? Object.entries(inputRequests) : [];
    if (questions.length === 0 && typeof requestState !== 'string') {
      throw new ProtocolError('The server asked for input without asking a question');
    }
    if (questions.length === 0) await delay(patienceMs);
    const answers = await Promise.all(questions.map(async ([key, question]) => [key, await answer(key, question, exchange)] as const));
    current = {
      ...params,
      ...(answers.length > 0 && { inputResponses: Object.fromEntries(answers) }),
      ...(typeof requestState === 'string' && { requestState }),
    };
  }
  throw new CribError('SERVICE_UNAVAILABLE', `The server still asked questions after ${maxRounds} rounds`, {
    retryable: false,
  });
}

function answer(key: string, question: unknown, exchange: Exchange): Promise<JsonObject> {
  const { method, params } = isObject(question) ? question : { method: undefined, params: undefined };
  if (method === 'elicitation/create' && isForm(params)) return answerQuestion(params, exchange, key);
  const asked =
    typeof method === 'string' && passedOn.has(method) ? exchange.askClient(method, isObject(params) ? params : {}, key) : undefined;
  if (asked !== undefined) return exchange.whileAsking(asked);
  const what = typeof method === 'string' ? method.slice(0, 100) : 'something';
  throw new ProtocolError(`The server asked for ${what}, which we do not offer`);
}
