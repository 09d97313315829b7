import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openaiToAnthropic } from '../../../../../src/engine/proxy/translate/request-to-anthropic.ts';
import { anthropicToOpenai } from '../../../../../src/engine/proxy/translate/request-to-openai.ts';
import type { JsonObject } from '../../../../../src/engine/proxy/translate/types.ts';
import { options } from './support.ts';

interface Captured {
  url: string;
  body: JsonObject | string;
}

const folder = new URL('../../../../fixtures/clients/', import.meta.url);

function captured(file: string, path: string): JsonObject[] {
  const { requests } = JSON.parse(readFileSync(new URL(`${file}.json`, folder), 'utf8')) as {
    requests: Captured[];
  };
  return requests.flatMap(({ url, body }) =>
    url.startsWith(path) && !url.includes('count_tokens') && typeof body === 'object' ? [body] : [],
  );
}

/** What OpenAI's endpoint checks: known roles, and every call answered right after it. */
function openaiFaults(body: JsonObject): string[] {
  const faults: string[] = [];
  let open: string[] = [];
  for (const [at, message] of (body.messages as JsonObject[]).entries()) {
    if (!['system', 'user', 'assistant', 'tool'].includes(String(message.role)))
      faults.push(`${at}: role ${message.role}`);
    if (message.role === 'tool') {
      if (!open.includes(String(message.tool_call_id))) faults.push(`${at}: orphan result`);
      open = open.filter((id) => id !== message.tool_call_id);
      if (typeof message.content !== 'string') faults.push(`${at}: result without text`);
    } else if (open.length > 0) faults.push(`${at}: unanswered call`);
    if (message.role === 'assistant')
      open = ((message.tool_calls as { id: string }[] | undefined) ?? []).map((call) => call.id);
    if (message.content === null && message.tool_calls === undefined) faults.push(`${at}: no content`);
  }
  if (JSON.stringify(body).includes('cache_control')) faults.push('cache_control');
  return faults;
}

/** What Anthropic's endpoint checks: alternating roles, results leading and matching, nothing empty. */
function anthropicFaults(body: JsonObject): string[] {
  const faults: string[] = [];
  const messages = body.messages as { role: string; content: JsonObject[] }[];
  for (const [at, message] of messages.entries()) {
    if (message.role === messages[at - 1]?.role) faults.push(`${at}: same role twice`);
    if (message.role !== 'user' && message.role !== 'assistant') faults.push(`${at}: role ${message.role}`);
    const kinds = message.content.map((block) => (block.type === 'tool_result' ? 'r' : 'x')).join('');
    if (!/^r*x*$/.test(kinds) || kinds === '') faults.push(`${at}: order ${kinds}`);
    const before =
      messages[at - 1]?.content.filter((block) => block.type === 'tool_use').map((block) => block.id) ?? [];
    const answered = message.content
      .filter((block) => block.type === 'tool_result')
      .map((block) => block.tool_use_id);
    if (new Set([...before, ...answered]).size !== answered.length || before.length !== answered.length)
      faults.push(`${at}: pairs`);
    if (message.content.some((block) => block.type === 'text' && String(block.text).trim() === ''))
      faults.push(`${at}: empty text`);
  }
  if (typeof body.max_tokens !== 'number') faults.push('max_tokens');
  return faults;
}

describe('requests of real clients', () => {
  it.each([
    ['claude'],
    ['claude_token'],
    ['anthropic-default'],
    ['anthropic-session'],
    ['plug-anthropic-messages'],
    ['sdk'],
  ])('%s speaks Anthropic to an OpenAI upstream', (file) => {
    const bodies = captured(file, '/v1/messages');
    expect(bodies.length).toBeGreaterThan(0);
    for (const body of bodies) {
      const { body: out, dropped } = anthropicToOpenai(body, options());
      expect(openaiFaults(out)).toEqual([]);
      expect((out.tools as unknown[] | undefined)?.length).toBe(
        (body.tools as unknown[] | undefined)?.length,
      );
      expect(
        dropped.filter(
          (name) =>
            ![
              'cache_control',
              'context_management',
              'metadata',
              'system.x-anthropic-billing-header',
              'tools.defer_loading',
            ].includes(name),
        ),
      ).toEqual([]);
    }
  });

  it.each([
    ['chat-default'],
    ['chat-session'],
    ['chat-reasoning'],
    ['gatewayA'],
    ['opencode'],
    ['plug-openai-completions'],
    ['weixin-llm'],
    ['sdk'],
  ])('%s speaks OpenAI to an Anthropic upstream', (file) => {
    const bodies = captured(file, '/v1/chat/completions');
    expect(bodies.length).toBeGreaterThan(0);
    for (const body of bodies) {
      const { body: out, dropped } = openaiToAnthropic(body, options());
      expect(anthropicFaults(out)).toEqual([]);
      expect((out.tools as unknown[] | undefined)?.length).toBe(
        (body.tools as unknown[] | undefined)?.length,
      );
      expect(
        dropped.filter((name) => !['prompt_cache_key', 'store', 'reasoning_effort'].includes(name)),
      ).toEqual([]);
    }
  });
});
