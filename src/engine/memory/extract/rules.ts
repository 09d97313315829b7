import type { ReadInput, Reading } from './reading.ts';
export function readByRules(_input: ReadInput): Reading {
  return { by: 'rules', facts: [], summary: null };
}
