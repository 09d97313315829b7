import { translateRequest } from '../../../../../../src/engine/proxy/translate/pairs.ts';
import type { JsonObject, TranslateOptions } from '../../../../../../src/engine/proxy/translate/types.ts';
import { options } from '../support.ts';

export const RED = 'data:image/png;base64,iVBORw0KGgo=';

export function toChat(body: JsonObject, change: Partial<TranslateOptions> = {}) {
  return translateRequest('responses', 'openai', { model: 'asked', input: 'hi', ...body }, options(change));
}

export function messages(input: unknown[], change: Partial<TranslateOptions> = {}): unknown {
  return toChat({ input }, change).body.messages;
}

export function call(id: string, name = 'f', args = '{}') {
  return { type: 'function_call', call_id: id, name, arguments: args };
}

export function chatCall(id: string, name = 'f', args = '{}') {
  return { id, type: 'function', function: { name, arguments: args } };
}

export const result = (id: string, output: unknown = 'ok') => ({
  type: 'function_call_output',
  call_id: id,
  output,
});
export const user = (text: string) => ({ role: 'user', content: text });

export function toResponses(body: JsonObject) {
  return translateRequest(
    'openai',
    'responses',
    { model: 'asked', messages: [user('hi')], ...body },
    options(),
  );
}
