import type { Script, UpstreamRequest } from '../../support/upstream.ts';
import type { ScriptedReply } from '../../support/upstream-reply.ts';
import type { ClientKind } from './clients/kind.ts';
import { EVOLVER } from './lab.ts';

/** The shell works the number out, so that only one who ran the command knows it. */
const COMMAND = 'echo metaclaw-$((6*7))-ok';
export const OUTPUT = 'metaclaw-42-ok';

export const TASK =
  'The nightly report test is flaky in CI, it fails now and then, and the report is slow. First run the command in my note with your shell tool and tell me what it printed.';
export const CORRECTION =
  'No. Measure where the time goes before changing any code; always profile first, and measure again afterwards.';
export const NEXT_TASK = 'My import is slow; where do I start before changing code?';

export const SKILL = {
  name: 'measure-before-tuning',
  description: 'When something is slow, measure where the time goes before changing any code.',
  content: '1. Reproduce the slowness.\n2. Profile it.\n3. Change the largest part only.\n4. Measure again.',
  category: 'coding',
  triggers: ['is slow', 'performance problem', 'too slow'],
};

export const ANSWERS = {
  task: `The command printed ${OUTPUT}.`,
  correction: 'From now on I measure first.',
  next: 'Start with a profile.',
};

/** A message of chat completions or of Anthropic's API, or an item of the Responses API. */
interface WireMessage {
  type?: string;
  role?: string;
  content?: string | null | { type: string }[];
  output?: unknown;
}

/** Plays an agent's model: one tool call, then answers that show what has reached it. */
export function scriptedModel(kind: ClientKind): Script {
  return (request) => {
    if (request.json.model === EVOLVER) return JSON.stringify([SKILL]);
    const body = JSON.stringify(request.json.messages ?? request.json.input);
    if (!request.json.tools?.length) return 'Slow nightly report';
    if (body.includes(NEXT_TASK)) return ANSWERS.next;
    if (body.includes(CORRECTION)) return ANSWERS.correction;
    const results = toolResults(request);
    if (results.length > 0)
      return results.some((result) => result.includes(OUTPUT))
        ? ANSWERS.task
        : `The tool did not print it: ${results.join('\n')}`;
    return callTool(kind);
  };
}

/** The outputs of tools that a request of any dialect carries, as JSON text. */
export function toolResults(request: UpstreamRequest): string[] {
  const messages: WireMessage[] = request.json.messages ?? request.json.input;
  return messages.flatMap((message) => {
    if (message.type === 'function_call_output') return [JSON.stringify(message.output)];
    if (message.role === 'tool') return [JSON.stringify(message.content)];
    if (!Array.isArray(message.content)) return [];
    return message.content.filter(({ type }) => type === 'tool_result').map((block) => JSON.stringify(block));
  });
}

function callTool({ tool }: ClientKind): ScriptedReply {
  const call = { id: 'toolu_scripted_1', name: tool.name, arguments: JSON.stringify(tool.input(COMMAND)) };
  return { text: 'I run it.', tools: [call] };
}
