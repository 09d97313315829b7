import { decodeValue, type Skim, type SkimMessage } from '../skim.ts';
import type { Splice } from '../splice.ts';
import { asText } from '../translate/json.ts';
import type { JsonObject } from '../translate/types.ts';
import { type Recall, sealedItems } from './attach.ts';
import { answerOfItems } from './memory.ts';

/**
 * Gives a Responses request the sealed reasoning that its client dropped, before the items of the answer that it led
 * to: its vendor refuses a call without it. An answer that called nothing, or that brings its own, stays as it is.
 */
export function attachItems(from: Skim, recall: Recall): Splice[] {
  const splices: Splice[] = [];
  for (const answer of answersOf(from.items).reverse()) {
    const types = answer.map(({ type }) => type);
    const [first] = answer;
    if (!first || !types.includes('function_call') || types.includes('reasoning')) continue;
    const items = answer.map((span) => asItem(decodeValue(from, span) as JsonObject));
    const blocks = sealedItems(answerOfItems(items), recall);
    if (blocks === null) continue;
    const json = blocks.map((block) => `${JSON.stringify(block)},`).join('');
    splices.push({ at: first.start, remove: 0, insert: json });
  }
  return splices;
}

/** The runs of items that the model said, oldest first. */
function answersOf(items: readonly SkimMessage[]): SkimMessage[][] {
  const answers: SkimMessage[][] = [];
  let isOpen = false;
  for (const item of items) {
    const isAnswer = item.role === 'assistant';
    if (isAnswer && isOpen) answers.at(-1)?.push(item);
    else if (isAnswer) answers.push([item]);
    isOpen = isAnswer;
  }
  return answers;
}

/** A message may be written without its type, and its words as they are. */
function asItem(item: JsonObject): JsonObject {
  if (asText(item.role) === '') return item;
  const { content } = item;
  return {
    ...item,
    type: 'message',
    content: typeof content === 'string' ? [{ type: 'output_text', text: content }] : content,
  };
}
