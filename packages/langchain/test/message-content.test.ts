import type { Answer, ContentBlock } from 'toolcrib';
import { expect, test } from 'vitest';
import { messageContent } from '../src/message-content.ts';

function answer(content: ContentBlock[], structured_content: Answer['structured_content'] = null): Answer {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const named = { call_id: 'c', tool_id: 't', tool: 'a:b', status: 'completed' as const, execution_time_ms: 1, metadata: {} };
  return { ...named, success: true, is_error: false, error: null, result: null, content, structured_content, text };
}

const png = { type: 'image', mimeType: 'image/png', data: 'AAAA' };
const shownPng = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };

test.each([
  ['texts', answer([text('one'), text('two')]), 'one\ntwo'],
  ['nothing at all', answer([]), ''],
  ['structured content instead of its text', answer([text('{"a":1}')], { a: 1 }), 'a: 1'],
  ['a picture alone', answer([png]), [shownPng]],
  ['a picture beside structured content', answer([text('{}'), png], { a: 1 }), [{ type: 'text', text: 'a: 1' }, shownPng]],
  ['a picture in a file', answer([{ type: 'resource', resource: { uri: 'a:b', mimeType: 'image/png', blob: 'AAAA' } }]), [shownPng]],
  ['a picture no model takes', answer([{ ...png, mimeType: 'image/tiff' }]), '[image/tiff, which cannot be shown here]'],
  ['a type that is none', answer([{ ...png, mimeType: 'image/png;base64,BBBB' }]), '[image/png;base64,BBBB, which cannot be shown here]'],
  [
    'a sound',
    answer([text('Listen:'), { ...png, type: 'audio', mimeType: 'audio/wav' }]),
    'Listen:\n[audio/wav, which cannot be shown here]',
  ],
  ['a file of text', answer([{ type: 'resource', resource: { uri: 'file:///a', text: 'inside' } }]), 'inside'],
  [
    'a file',
    answer([{ type: 'resource', resource: { uri: 'a:b', blob: 'AAAA' } }]),
    '[application/octet-stream, which cannot be shown here]',
  ],
  ['a link', answer([{ type: 'resource_link', name: 'Menu', uri: 'pizza://menu' }]), 'Menu: pizza://menu'],
  ['a link without a name', answer([{ type: 'resource_link', uri: 'pizza://menu' }]), 'pizza://menu'],
  ['something odd', answer([text('fine'), { type: 'odd' }, { type: 'resource' }]), 'fine'],
])('[LC-1] an answer of %s is readable for a model', (_, given, content) => {
  expect(messageContent(given)).toEqual(content);
});

function text(value: string): ContentBlock {
  return { type: 'text', text: value };
}
