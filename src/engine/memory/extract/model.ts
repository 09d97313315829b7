import type { ChatModel } from '../../ports.ts';
import type { ReadInput, Reading } from './reading.ts';
export async function readByModel(
  _input: ReadInput,
  _model: ChatModel,
  _signal: AbortSignal,
): Promise<Reading> {
  return { by: 'llm', facts: [], summary: null };
}
