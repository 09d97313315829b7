import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import type { ClientKind } from './kind.ts';
import { openclaw } from './openclaw.ts';
import { opencode } from './opencode.ts';

/** Every client in every form in which it speaks to a model. */
export const CLIENTS: readonly ClientKind[] = [
  openclaw('openai-completions'),
  openclaw('anthropic-messages'),
  openclaw('openai-responses'),
  claudeCode,
  codex,
  opencode,
];
