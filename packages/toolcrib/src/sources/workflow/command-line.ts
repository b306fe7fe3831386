import type { OptionTable } from '../../model/option-table.ts';
import { defineCommandLine } from '../registration/command-line.ts';
import { documentPlace } from '../registration/command-line/document-place.ts';
import { formatField } from '../registration/command-line/format-field.ts';
import { givenPairs } from '../registration/command-line/given-pairs.ts';
import { insecureOption } from '../registration/command-line/shared-options.ts';
import { nameOfDocument } from '../registration/command-line/telling-name.ts';
import type { WorkflowFormInput } from './registration/workflow-form.ts';

const options = {
  ...insecureOption,
  workflow: { help: 'The address or file is an Arazzo document, which describes workflows' },
  source: {
    value: 'NAME=NAMESPACE',
    many: true,
    help: 'The namespace of the registered source for a source description of the Arazzo document',
  },
} as const satisfies OptionTable;

const files = /\.(?:json|ya?ml)$/i;
const filler = { words: ['arazzo'], endings: /\.arazzo\.(?:json|ya?ml)$/i };

/** [WF-1] Registers the workflows of an Arazzo document from the command line. */
export const workflowCommandLine = defineCommandLine({
  noun: 'workflows',
  operands: ['document'],
  options,
  chosenBy: ['workflow'],
  document: { name: 'Arazzo', files, option: 'workflow' },
  notes: ['An Arazzo document describes workflows, whose steps call tools of other sources.'],
  examples: [],
  recognise({ written, address, text }) {
    if (address === undefined) return files.test(written) ? formatField(text(), ['arazzo']) : undefined;
    const { pathname } = address;
    return (files.test(pathname) && /arazzo/i.test(pathname)) || /\/arazzo\/?$/i.test(pathname) ? 'certain' : undefined;
  },
  register(request) {
    const { given, operand } = request;
    const sources = givenPairs(given, 'source');
    const form: Omit<WorkflowFormInput, 'name'> = {
      source_type: 'workflow',
      workflow: { ...documentPlace(request), ...(sources === undefined ? {} : { sources }) },
      ...(given.on('allow-insecure') ? { allow_insecure: true } : {}),
    };
    return { name: operand === undefined ? '' : nameOfDocument(operand, filler), form };
  },
});
