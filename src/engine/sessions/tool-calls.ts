/** Calls that the client is to carry out; those of a provider's own tools are over when the answer comes. */
const CLIENT_CALL = /^(?:tool_use|(?:function|custom_tool|computer|local_shell|shell|apply_patch)_call)$/;

/** True when an answer, whole in the form of any dialect, asks for tools, so that the turn goes on after it. */
export function callsTools(reply: unknown): boolean {
  const message = at(at(at(reply, 'choices'), 0), 'message');
  if (listOf(at(message, 'tool_calls')).length > 0) return true;
  const blocks = [...listOf(at(reply, 'content')), ...listOf(at(reply, 'output'))];
  return blocks.some((block) => CLIENT_CALL.test(String(at(block, 'type'))));
}

function at(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string | number, unknown>)[key]
    : undefined;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
