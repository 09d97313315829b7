// @ts-check
// Deterministic request bodies: `small` about 1 KB, `big` about 120 KB (30 KB system prompt, 20 tools, 40 messages).

const WORDS =
  'agent file edit test change error stack trace cause promise value string array module class server request stream header token memory project deploy query index table commit branch review issue feature'.split(
    ' ',
  );
const TASK = 'The nightly report is slow. Which code should I change first, and how do I find out?';

/** @param {number} seed */
function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

/**
 * @param {() => number} next
 * @param {number} length in characters
 */
function prose(next, length) {
  let text = '';
  while (text.length < length) {
    const end = next() < 0.06 ? '.\n' : next() < 0.02 ? ' "a \\path" ' : ' ';
    text += `${WORDS[Math.floor(next() * WORDS.length)]}${end}`;
  }
  return text.slice(0, length);
}

/**
 * A chat completions request; `turn` stands in the last user message, so that no two are the same.
 * @param {'small' | 'big'} kind
 * @param {{ stream: boolean, turn: number }} options
 */
export function chatBody(kind, { stream, turn }) {
  const next = random(12_345);
  const task = { role: 'user', content: `${TASK} (${turn})` };
  const common = { model: 'bench-model', stream, max_tokens: 1024 };
  if (kind === 'small')
    return JSON.stringify({ ...common, messages: [{ role: 'system', content: prose(next, 700) }, task] });
  const history = Array.from({ length: 13 }, (_, n) => [
    { role: 'user', content: prose(next, 900) },
    {
      role: 'assistant',
      content: prose(next, 300),
      tool_calls: [
        {
          id: `call_${n}`,
          type: 'function',
          function: { name: 'tool_1', arguments: JSON.stringify({ p0: prose(next, 200) }) },
        },
      ],
    },
    { role: 'tool', tool_call_id: `call_${n}`, content: prose(next, 4300) },
  ]).flat();
  const tools = Array.from({ length: 20 }, (_, n) => ({
    type: 'function',
    function: {
      name: `tool_${n}`,
      description: prose(next, 400),
      parameters: { type: 'object', properties: { p0: { type: 'string', description: prose(next, 600) } } },
    },
  }));
  const system = { role: 'system', content: prose(next, 30 * 1024) };
  return JSON.stringify({ ...common, messages: [system, ...history, task], tools });
}
