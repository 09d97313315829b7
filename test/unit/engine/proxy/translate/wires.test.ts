import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { translateRequest } from '../../../../../src/engine/proxy/translate/pairs.ts';
import type { JsonObject } from '../../../../../src/engine/proxy/translate/types.ts';
import type { Dialect } from '../../../../../src/shared/model.ts';
import { failure, options } from './support.ts';

const root = join(import.meta.dirname, '../../../../..');
const PLACES = { unit: 'test/unit/engine/proxy/translate', door: 'test/integration/proxy' };
const user = { role: 'user', content: 'hi' };
const tools = ['a', 'b'].map((name) => ({ type: 'function', function: { name } }));

function sent(client: Dialect, upstream: Dialect, body: JsonObject) {
  return translateRequest(client, upstream, { model: 'm', ...body }, options());
}

describe('docs/wires.md', () => {
  const table = readFileSync(join(root, 'docs/wires.md'), 'utf8');
  const rows = table.split('\n').filter((line) => /^\| (?!Feature|What is held|---)/.test(line));

  it('has a test in every row, and every test that it names is there', () => {
    expect(rows.length).toBeGreaterThan(60);
    for (const row of rows) {
      const named = [...row.matchAll(/`(unit|door)\/([\w/-]+)` › "([^"]+)"/g)];
      expect([row, named.length]).toEqual([row, Math.max(1, row.split(' › ').length - 1)]);
      for (const [, place, file, title] of named) {
        const path = join(root, PLACES[place as keyof typeof PLACES], `${file}.test.ts`);
        expect([path, existsSync(path)]).toEqual([path, true]);
        expect([title, readFileSync(path, 'utf8').includes(title as string)]).toEqual([title, true]);
      }
    }
  });
});

describe('what the wires can say of each other', () => {
  it('a file by its address goes where the wire has a place for it', () => {
    const url = 'https://host/a.pdf';
    const block = { type: 'document', title: 'T', source: { type: 'url', url } };
    const messages = [{ role: 'user', content: [block] }];
    expect(sent('anthropic', 'responses', { max_tokens: 99, messages }).body.input).toEqual([
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'T' },
          { type: 'input_file', file_url: url },
        ],
      },
    ]);
    expect(failure(() => sent('anthropic', 'openai', { max_tokens: 99, messages }))).toMatchObject({
      code: 'NOT_TRANSLATABLE',
      field: 'messages[0].content[0].source',
    });
    const input = [{ role: 'user', content: [{ type: 'input_file', file_url: url, filename: 'a.pdf' }] }];
    expect(sent('responses', 'anthropic', { input }).body.messages).toEqual([
      {
        role: 'user',
        content: [{ type: 'document', source: { type: 'url', url }, title: 'a.pdf' }],
      },
    ]);
    expect(failure(() => sent('responses', 'openai', { input }))).toMatchObject({
      code: 'NOT_TRANSLATABLE',
      field: 'input[0].content[0].file_url',
    });
  });

  it('a choice among some of the tools', () => {
    const choice = (allowed: string, mode: string) => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: [{ type: 'function', function: { name: allowed } }] },
    });
    const must = sent('openai', 'anthropic', {
      messages: [user],
      tools,
      tool_choice: choice('b', 'required'),
    });
    expect(must.body).toMatchObject({ tools: [{ name: 'b' }], tool_choice: { type: 'any' } });
    const may = sent('openai', 'anthropic', {
      messages: [user],
      tools,
      tool_choice: choice('a', 'auto'),
      parallel_tool_calls: false,
    });
    expect(may.body).toMatchObject({
      tools: [{ name: 'a' }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    });
    expect(
      failure(() =>
        sent('openai', 'anthropic', { messages: [user], tools, tool_choice: choice('c', 'auto') }),
      ),
    ).toMatchObject({ field: 'tool_choice.allowed_tools.tools' });
  });

  it('a picture in a tool’s result stays in it', () => {
    const png = { type: 'base64', media_type: 'image/png', data: 'aa' };
    const messages = [
      user,
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'shot', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't1',
            is_error: true,
            content: [
              { type: 'text', text: 'half a page' },
              { type: 'image', source: png },
            ],
          },
        ],
      },
    ];
    const { input } = sent('anthropic', 'responses', { max_tokens: 99, messages }).body as {
      input: JsonObject[];
    };
    expect(input.at(-1)).toEqual({
      type: 'function_call_output',
      call_id: 't1',
      output: [
        { type: 'input_text', text: '[tool error] half a page' },
        { type: 'input_image', image_url: 'data:image/png;base64,aa', detail: 'auto' },
      ],
    });
  });

  it('who the user is', () => {
    const anthropic = (body: JsonObject) => sent('openai', 'anthropic', { messages: [user], ...body });
    expect(anthropic({ user: 'u' }).body.metadata).toEqual({ user_id: 'u' });
    expect(anthropic({ safety_identifier: 's' })).toMatchObject({
      body: { metadata: { user_id: 's' } },
      dropped: [],
    });
    expect(anthropic({ user: 'u', safety_identifier: 's' })).toMatchObject({
      body: { metadata: { user_id: 'u' } },
      dropped: ['safety_identifier'],
    });
    expect(sent('responses', 'anthropic', { input: 'hi', user: 'u' }).body.metadata).toEqual({
      user_id: 'u',
    });
  });

  it('what the second of two translations leaves out has the client’s name', () => {
    const stops = { max_tokens: 99, messages: [user], stop_sequences: ['a', 'b', 'c', 'd', 'e'] };
    expect(sent('anthropic', 'responses', stops).dropped).toEqual(['stop_sequences']);
    const asked = { input: 'hi', text: { verbosity: 'low', format: { type: 'json_object' } } };
    expect(sent('responses', 'anthropic', asked).dropped.sort()).toEqual(['text.format', 'text.verbosity']);
    const audio = [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'a' } }] }];
    expect(failure(() => sent('responses', 'anthropic', { input: audio }))).toMatchObject({
      code: 'NOT_TRANSLATABLE',
      field: 'input',
    });
  });
});
