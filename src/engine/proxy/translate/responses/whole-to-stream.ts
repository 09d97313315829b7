import { asArray, asText, isObject } from '../json.ts';
import type { JsonObject } from '../types.ts';
import { EventCounter } from './events.ts';

/** The event stream of a response that is known whole. Events up to number `after` are left out. */
export function responsesStreamOfWhole(response: JsonObject, after = -1): string {
  const events = new EventCounter();
  const out: string[] = [];
  const say = (type: string, fields: JsonObject) => {
    out.push(events.event(type, fields));
  };
  const begun = { ...response, status: 'in_progress', output: [], usage: null, completed_at: null };
  say('response.created', { response: begun });
  say('response.in_progress', { response: begun });
  for (const [index, item] of asArray(response.output).filter(isObject).entries()) tellItem(item, index, say);
  const status = asText(response.status);
  const last = status === 'incomplete' || status === 'failed' ? status : 'completed';
  say(`response.${last}`, { response });
  return out.slice(after + 1).join('');
}

type Say = (type: string, fields: JsonObject) => void;

function tellItem(item: JsonObject, index: number, say: Say): void {
  const where = { item_id: item.id, output_index: index };
  const { empty, tell } = parts(item, where, say);
  say('response.output_item.added', { output_index: index, item: empty });
  tell();
  say('response.output_item.done', { output_index: index, item });
}

/** An item before anything of it was told, and what tells the rest. Items of other kinds come whole. */
function parts(item: JsonObject, where: JsonObject, say: Say): { empty: JsonObject; tell: () => void } {
  const open = { ...item, status: 'in_progress' };
  if (item.type === 'message')
    return {
      empty: { ...open, content: [] },
      tell: () => {
        for (const [at, part] of asArray(item.content).filter(isObject).entries())
          tellPart(part, { ...where, content_index: at }, say);
      },
    };
  if (item.type === 'function_call')
    return {
      empty: { ...open, arguments: '' },
      tell: () => {
        say('response.function_call_arguments.delta', { ...where, delta: item.arguments });
        say('response.function_call_arguments.done', {
          ...where,
          name: item.name,
          arguments: item.arguments,
        });
      },
    };
  if (item.type === 'custom_tool_call')
    return {
      empty: { ...open, input: '' },
      tell: () => {
        say('response.custom_tool_call_input.delta', { ...where, delta: item.input });
        say('response.custom_tool_call_input.done', { ...where, input: item.input });
      },
    };
  if (item.type === 'reasoning')
    return {
      empty: { ...item, summary: [] },
      tell: () => {
        for (const [at, part] of asArray(item.summary).filter(isObject).entries())
          tellSummary(part, { ...where, summary_index: at }, say);
      },
    };
  return { empty: item, tell: () => {} };
}

function tellPart(part: JsonObject, where: JsonObject, say: Say): void {
  if (part.type === 'refusal') {
    say('response.content_part.added', { ...where, part: { ...part, refusal: '' } });
    say('response.refusal.delta', { ...where, delta: part.refusal });
    say('response.refusal.done', { ...where, refusal: part.refusal });
  } else {
    const logprobs = part.logprobs ?? [];
    say('response.content_part.added', {
      ...where,
      part: { ...part, text: '', annotations: [], logprobs: [] },
    });
    say('response.output_text.delta', { ...where, delta: part.text, logprobs });
    for (const [at, annotation] of asArray(part.annotations).entries())
      say('response.output_text.annotation.added', { ...where, annotation_index: at, annotation });
    say('response.output_text.done', { ...where, text: part.text, logprobs });
  }
  say('response.content_part.done', { ...where, part });
}

function tellSummary(part: JsonObject, where: JsonObject, say: Say): void {
  say('response.reasoning_summary_part.added', { ...where, part: { ...part, text: '' } });
  say('response.reasoning_summary_text.delta', { ...where, delta: part.text });
  say('response.reasoning_summary_text.done', { ...where, text: part.text });
  say('response.reasoning_summary_part.done', { ...where, part });
}
