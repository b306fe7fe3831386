import { connectToGateway } from '../../../isolation/connect-to-gateway.ts';
import { CribError } from '../../../model/crib-error.ts';
import { boundsOf } from '../../documents/document-bounds.ts';
import { parseDocument } from '../../documents/parse-document.ts';

export type ParseOutcome = { value: unknown; warnings: string[] } | { failure: string };

/** Short aliases can expand to long JSON. */
const longestJson = 4_000_000;
/** Small values take the most memory for their length, in the gateway too. */
const mostNodes = 250_000;

/** Parses the one text that the process gets. Returns a `ParseOutcome` as JSON. */
function parse(text: string): string {
  try {
    const { value, warnings } = parseDocument(text);
    const { nodes } = boundsOf(value, Number.POSITIVE_INFINITY, true);
    // Values that JSON cannot carry, such as Infinity, are lost here, because the plan is stored as JSON.
    const json = JSON.stringify(value) ?? 'null';
    if (json.length > longestJson || nodes > mostNodes)
      return failed('The document is too large once its aliases are expanded; use fewer aliases');
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
