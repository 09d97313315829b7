import { describe, expect, it } from 'vitest';
import { isSilentReply, type KindFacts, turnKind } from '../../../src/engine/sessions/turn-kind.ts';

const facts = (over: Partial<KindFacts>): KindFacts => ({
  headers: {},
  fields: {},
  maxTokens: null,
  hasTools: false,
  messageCount: 2,
  endsWithToolResult: false,
  systemText: 'You are a helpful assistant.',
  firstUserText: over.userText ?? 'Fix the flaky test',
  userText: 'Fix the flaky test',
  ...over,
});

describe('turnKind', () => {
  it('believes an explicit type before anything else', () => {
    expect(turnKind(facts({ headers: { 'x-turn-type': ' Main ' }, userText: '', maxTokens: 1 }))).toBe(
      'main',
    );
    expect(turnKind(facts({ headers: { 'x-turn-type': 'heartbeat' } }))).toBe('side');
    expect(turnKind(facts({ fields: { turn_type: 'main' }, maxTokens: 1 }))).toBe('main');
    expect(turnKind(facts({ headers: { 'x-turn-type': 'side' }, fields: { turn_type: 'main' } }))).toBe(
      'side',
    );
    expect(turnKind(facts({ headers: { 'x-turn-type': '' } }))).toBe('main');
  });

  // The original took it for a side turn: clients that name their session learned nothing.
  it('is main for a named session without a type', () => {
    expect(turnKind(facts({ headers: { 'x-session-id': 's' } }))).toBe('main');
  });

  // Learning from a client's own calls fills the library with skills about titles (J05, L02).
  const side: [string, Partial<KindFacts>][] = [
    ['one token', { maxTokens: 1 }],
    ['no token', { maxTokens: 0 }],
    ['connection test', { userText: 'ping', messageCount: 1, maxTokens: 20 }],
    ['greeting test', { userText: 'Hi', messageCount: 2, maxTokens: 16 }],
    [
      'image probe',
      {
        userText: 'What is the single dominant color of this image? Reply with the name.',
        messageCount: 1,
        maxTokens: 200,
      },
    ],
    ['opencode title', { systemText: 'You are a title generator. You output ONLY a thread title.' }],
    [
      'opencode title by its opening',
      { firstUserText: 'Generate a title for this conversation:\n', messageCount: 3 },
    ],
    [
      'opencode summary',
      { systemText: 'You are a helpful AI assistant tasked with summarizing conversations.' },
    ],
    [
      'Claude Code topic',
      {
        systemText:
          'You are Claude Code.\nAnalyze if this message indicates a new conversation topic. If it does…',
      },
    ],
    [
      'Open WebUI title',
      { userText: '### Task:\nGenerate a concise, 3-5 word title summarizing the chat history.' },
    ],
    [
      'Claude Code compaction',
      {
        userText: 'Your task is to create a detailed summary of the conversation so far',
        hasTools: true,
        messageCount: 40,
      },
    ],
    [
      'Claude Code suggestion',
      { userText: '[SUGGESTION MODE: suggest what the user might type]', hasTools: true },
    ],
    [
      'heartbeat',
      { userText: 'Read HEARTBEAT.md if it exists (workspace context). Follow it strictly.', hasTools: true },
    ],
    [
      'memory flush',
      { userText: 'Pre-compaction memory flush. Store durable memories now.', hasTools: true },
    ],
    ['cron', { userText: '[cron:3f2504e0 daily report] Write the report', hasTools: true }],
    ['nothing said', { userText: '' }],
  ];
  it.each(side)('side: %s', (_name, over) => {
    expect(turnKind(facts(over))).toBe('side');
  });

  // A side turn by mistake means that the user's own work is neither helped nor learned from.
  const main: [string, Partial<KindFacts>][] = [
    ['work', {}],
    ['greeting', { userText: 'hi', messageCount: 1 }],
    ['greeting with room', { userText: 'hi', messageCount: 1, maxTokens: 8192 }],
    ['greeting of an agent', { userText: 'hi', messageCount: 1, maxTokens: 32, hasTools: true }],
    ['tool loop', { userText: '', endsWithToolResult: true, hasTools: true }],
    ['a user who wants a title', { userText: 'Generate a title for this conversation', hasTools: true }],
    ['a task heading', { userText: '### Task: refactor the parser', hasTools: true }],
    ['a task heading without tools', { userText: '### Task: refactor the parser' }],
    ['talk about heartbeats', { userText: 'Why does the agent read HEARTBEAT.md each hour?' }],
    ['colours', { userText: 'What color is the sky?', messageCount: 1, maxTokens: 200 }],
    ['summary of a file', { userText: 'Summarize README.md' }],
  ];
  it.each(main)('main: %s', (_name, over) => {
    expect(turnKind(facts(over))).toBe('main');
  });
});

it('knows answers that say nothing', () => {
  for (const text of ['NO_REPLY', ' HEARTBEAT_OK\n', 'NO_REPLY.']) expect(isSilentReply(text)).toBe(true);
  for (const text of ['', 'No reply came.', 'NO_REPLY means silence', 'OK'])
    expect(isSilentReply(text)).toBe(false);
});
