import { hiddenValue } from '../../secrets/secret.ts';
import { hasReference } from '../../secrets/secret-looks.ts';
import { textOf, type ValueInput } from './value-input.ts';

/** [ENV-4] A value as it was written, or `***` if the API shows it as `***` or not at all. */
export function hideAs<Written extends ValueInput>(written: Written, shown: ValueInput | undefined): Written | string {
  const text = textOf(written);
  if (text === '' || hasReference(text) || (shown !== undefined && shown !== hiddenValue)) return written;
  return typeof written === 'string' ? hiddenValue : { ...(written as Exclude<Written, string>), value: hiddenValue };
}

export function hideValues(
  written: Readonly<Record<string, ValueInput>>,
  shown: Readonly<Record<string, ValueInput>>,
): Record<string, ValueInput> {
  return Object.fromEntries(
    Object.entries(written).map(([name, value]) => [name, hideAs(value, Object.hasOwn(shown, name) ? shown[name] : undefined)]),
  );
}
