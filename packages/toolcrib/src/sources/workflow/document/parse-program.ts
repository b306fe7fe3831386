import { connectToGateway } from '../../../isolation/connect-to-gateway.ts';
import { CribError } from '../../../model/crib-error.ts';
import { boundsOf } from '../../openapi/document/document-bounds.ts';
import { parseDocument } from '../../openapi/document/parse-document.ts';

export type ParseOutcome = { value: unknown; warnings: string[] } | { failure: string };

/** What is written out of short aliases can be long. */
const longestJson = 4_000_000;
/** Small values take the most memory for their length, in the gateway too. */
const mostNodes = 250_000;

/** The program of the process: one text, and its end. Answers with a `ParseOutcome` as JSON. */
function parse(text: string): string {
  try {
    const { value, warnings } = parseDocument(text);
    const { nodes } = boundsOf(value, Number.POSITIVE_INFINITY, true);
    // What JSON cannot carry, such as an infinite number, has no place in a plan that is stored as JSON.
    const json = JSON.stringify(value) ?? 'null';
    if (json.length > longestJson || nodes > mostNodes) return failed('The document comes to too much once its aliases are written out');
    return `{"value":${json},"warnings":${JSON.stringify(warnings)}}`;
  } catch (error) {
    if (error instanceof CribError) return failed(error.message);
    return failed(`The document cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function failed(failure: string): string {
  return JSON.stringify({ failure });
}

const gateway = connectToGateway((text) => {
  gateway.send(parse(String(text)));
  gateway.close();
});
