import { describe, expect, it } from 'vitest';
import { translateRequest } from '../../../../../../src/engine/proxy/translate/pairs.ts';
import type { JsonObject } from '../../../../../../src/engine/proxy/translate/types.ts';
import { failure, options } from '../support.ts';
import { call, chatCall, messages, RED, result, toChat, user } from './support.ts';

describe('Responses → chat: history', () => {
  it('instructions, developer and system items that were lost, moved or told under an unknown role', () => {
    const { body } = toChat({
      instructions: 'I',
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'D' }] },
        user('hi'),
      ],
    });
    expect(body.messages).toEqual([
      { role: 'system', content: 'I' },
      { role: 'system', content: 'D' },
      user('hi'),
    ]);
    expect(toChat({ instructions: 'I' }, { developerRole: true }).body.messages).toEqual([
      { role: 'developer', content: 'I' },
      user('hi'),
    ]);
    expect(
      toChat(
        { instructions: 'I', input: [{ role: 'system', content: 'S' }, user('u')] },
        { oneLeadingSystem: true },
      ).body.messages,
    ).toEqual([{ role: 'system', content: 'I\n\nS' }, user('u')]);
  });

  it('text and calls of one answer that became several assistant messages', () => {
    expect(
      messages([
        user('q'),
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'look', annotations: [] }],
        },
        call('c1'),
        call('c2', 'g', '{"a":1}'),
        result('c1'),
        result('c2', [{ type: 'input_text', text: 'two' }]),
      ]),
    ).toEqual([
      user('q'),
      { role: 'assistant', content: 'look', tool_calls: [chatCall('c1'), chatCall('c2', 'g', '{"a":1}')] },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      { role: 'tool', tool_call_id: 'c2', content: 'two' },
    ]);
  });

  it('a user message between a call and its output that parted the two (OpenClaw’s context, Codex’s steering)', () => {
    expect(messages([user('q'), call('c1'), user('wait'), result('c1')])).toEqual([
      user('q'),
      { role: 'assistant', content: null, tool_calls: [chatCall('c1')] },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      user('wait'),
    ]);
  });

  it('a picture in a tool’s output that was lost, or put where chat servers refuse it', () => {
    const input = [
      user('q'),
      call('c1'),
      result('c1', [{ type: 'input_image', image_url: RED, detail: 'auto' }]),
    ];
    expect(messages(input)).toEqual([
      user('q'),
      { role: 'assistant', content: null, tool_calls: [chatCall('c1')] },
      { role: 'tool', tool_call_id: 'c1', content: '' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Output of tool call c1:' },
          { type: 'image_url', image_url: { url: RED } },
        ],
      },
    ]);
    const { body } = translateRequest('responses', 'anthropic', { model: 'm', input }, options());
    expect((body.messages as JsonObject[])[2]).toEqual({
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'c1',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
          ],
        },
      ],
    });
  });

  it('files and pictures of a user message that were dropped; what has no bytes is refused', () => {
    const file = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' };
    expect(
      messages([
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 't' },
            { type: 'input_image', image_url: RED, detail: 'high' },
            file,
          ],
        },
      ]),
    ).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 't' },
          { type: 'image_url', image_url: { url: RED, detail: 'high' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: file.file_data } },
        ],
      },
    ]);
    const byId = [{ role: 'user', content: [{ type: 'input_image', file_id: 'file_1', detail: 'auto' }] }];
    expect(failure(() => messages(byId))).toMatchObject({
      code: 'NOT_TRANSLATABLE',
      field: 'input[0].content[0].file_id',
    });
    const image = [{ role: 'user', content: [{ type: 'input_image', image_url: RED, detail: 'auto' }] }];
    expect(failure(() => messages(image, { textOnly: true })).message).toContain('text only');
  });

  it('reasoning that a vendor wants back, and one that refuses it', () => {
    const input = [
      user('q'),
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
      call('c1'),
      result('c1'),
    ];
    expect(messages(input, { reasoning: 'reasoning_content' })).toMatchObject([
      {},
      { role: 'assistant', reasoning_content: 'hm' },
      {},
    ]);
    const { body, dropped } = toChat({ input });
    expect(JSON.stringify(body)).not.toContain('hm');
    expect(dropped).toEqual(['input.reasoning']);
  });

  it('notes of OpenAI’s own tools that stopped a conversation; they are listed', () => {
    const { body, dropped } = toChat({
      input: [
        user('q'),
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        { role: 'assistant', content: 'a' },
      ],
    });
    expect(body.messages).toEqual([user('q'), { role: 'assistant', content: 'a' }]);
    expect(dropped).toEqual(['input.web_search_call']);
  });

  it('a shell call that the client ran and the model could no longer read', () => {
    const list = messages([
      {
        type: 'local_shell_call',
        id: 'x',
        call_id: 'c9',
        status: 'completed',
        action: { type: 'exec', command: ['ls'] },
      },
      { type: 'local_shell_call_output', id: 'c9', call_id: 'c9', output: 'a.txt' },
    ]);
    expect(list).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [chatCall('c9', 'local_shell', '{"action":{"type":"exec","command":["ls"]}}')],
      },
      { role: 'tool', tool_call_id: 'c9', content: 'a.txt' },
    ]);
  });

  it('sealed items that vanished without a word', () => {
    for (const type of ['compaction', 'item_reference'])
      expect(failure(() => messages([{ type, id: 'x', encrypted_content: 'y' }]))).toMatchObject({
        code: 'NOT_TRANSLATABLE',
        field: 'input[0]',
      });
  });
});
