import { member, type Skim } from './skim.ts';
import { asArray, asObject, asText, parseJson } from './translate/json.ts';

/** How models mark a call when their server leaves it in the text: markup of their chat templates, or bare JSON. */
const MARKS = /<tool_call>|<function=|<\|tool_call|\[TOOL_CALLS\]|^\s*(?:```\w*\s*)?\[?\s*\{\s*"name"\s*:/;
const NAMES = /"name"\s*:\s*"([^"\\]+)"|<function=([^>\s]+)>/g;

/**
 * Tools of the request whose calls an answer writes out as text (S49). The text stays as it is; nothing runs then, and
 * only who set up the model's server can change that.
 */
export function callsInText(text: string, request: Skim): string[] {
  if (!MARKS.test(text)) return [];
  const named = [...text.matchAll(NAMES)].map((match) => match[1] ?? match[2] ?? '');
  if (named.length === 0) return [];
  const offered = toolNames(request);
  return [...new Set(named)].filter((name) => offered.has(name));
}

/** Names of the tools that a request offers. */
export function toolNames(request: Skim): ReadonlySet<string> {
  const tools = member(request, 'tools');
  const list =
    tools === null
      ? []
      : asArray(parseJson(request.bytes.toString('utf8', tools.value.start, tools.value.end)));
  return new Set(
    list.map((tool) => asText(asObject(asObject(tool).function).name) || asText(asObject(tool).name)),
  );
}
