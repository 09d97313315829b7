/** Reads conversations for memories until it is killed; a line says when a model is asked. Run by the kill tests. */

import { writeSync } from 'node:fs';
import { Bus } from '../../../src/engine/bus.ts';
import { MemoryBook } from '../../../src/engine/memory/index.ts';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { UndoLog } from '../../../src/engine/store/undo.ts';
import { DEFAULT_CONFIG } from '../../../src/shared/config.ts';
import { NO_EMBEDDER } from '../embedder.ts';
import { SILENT_LOG } from '../sessions.ts';

const [file = ''] = process.argv.slice(2);
const { database } = openDatabase(file);
const clock = { now: () => Date.now(), after: (ms: number, fn: () => void) => cancel(setTimeout(fn, ms)) };
function cancel(timer: NodeJS.Timeout): () => void {
  return () => clearTimeout(timer);
}

const book = new MemoryBook({
  database,
  clock,
  log: SILENT_LOG,
  bus: new Bus(),
  undo: new UndoLog({ database, clock }),
  config: () => DEFAULT_CONFIG,
  embedder: NO_EMBEDDER,
  chatModel: () => ({
    async complete({ user }) {
      writeSync(1, 'asked\n');
      await new Promise((resolve) => setTimeout(resolve, 3));
      const turns = [...user.matchAll(/"turn": (\d+),[^{}]*"said": "I live at number (\d+)/g)];
      const memories = turns.map(([, turn, number]) => ({
        kind: 'semantic',
        content: `The user lives at number ${number} of the street`,
        turns: [Number(turn)],
      }));
      return { text: JSON.stringify(memories), model: 'scripted' };
    },
  }),
  heldUntil: () => null,
});
book.start();
const look = setInterval(() => {
  if (book.conversations.status().pending > 0) return;
  clearInterval(look);
  writeSync(1, 'done\n');
}, 5);
