import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isInternal, ownWords } from '../../../src/engine/platform/user-text.ts';
import { Facts } from '../../../src/engine/proxy/facts.ts';
import { skim } from '../../../src/engine/proxy/skim.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/clients');

interface Captured {
  client: string;
  requests: { url: string; headers: [string, string][]; body: Record<string, unknown> }[];
}

/** The user's words of each chat request in the order of a fixture. */
const WORDS: Record<string, string[]> = {
  'chat-default': [
    'Run echo and tell me what it printed.',
    'Run echo and tell me what it printed.',
    'Second message in the same session.',
  ],
  'anthropic-default': [
    'Run echo and tell me what it printed.',
    'Run echo and tell me what it printed.',
    'Second message in the same session.',
  ],
  'weixin-llm': ['hello from wechat', 'hello from wechat'],
  opencode: [
    '"Run echo and tell me what it printed."',
    '"Run echo and tell me what it printed."',
    '"Run echo and tell me what it printed."',
  ],
};

function factsOf(name: string): Facts[] {
  const { requests } = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as Captured;
  return requests
    .filter((request) => /\/(chat\/completions|messages)(\?|$)/.test(request.url))
    .map((request) => {
      const headers = Object.fromEntries(request.headers.map(([key, value]) => [key.toLowerCase(), value]));
      const dialect = request.url.includes('/messages') ? 'anthropic' : 'openai';
      const body = skim(Buffer.from(JSON.stringify(request.body)));
      return new Facts({ dialect, skim: body, headers, agent: null, clientAddress: 'loopback' });
    });
}

describe("the user's own words", () => {
  it.each(Object.keys(WORDS))('are found in what %s sent', (name) => {
    expect(factsOf(name).map((facts) => facts.userText)).toEqual(WORDS[name]);
  });

  it.each(
    readdirSync(FOLDER).filter(
      (file) => !/^(codex|gemini|responses|plug-openai-responses|weixin-ilink)/.test(file),
    ),
  )('hold no wrapper of a client in %s', (file) => {
    for (const facts of factsOf(file.replace('.json', ''))) {
      expect(facts.userText).not.toMatch(/OPENCLAW|system-reminder|^\[\w{3} \d{4}|Runtime: agent=/);
      expect(facts.userText).not.toBe('');
    }
  });

  it('know their agent by its marks when nothing names it', () => {
    expect(factsOf('claude')[0]?.agent).toBe('claude-code');
    expect(factsOf('opencode')[1]?.agent).toBe('opencode');
    expect(factsOf('chat-default')[0]?.agent).toBe('openclaw');
    expect(factsOf('anthropic-default')[0]?.agent).toBe('openclaw');
  });

  it.each([
    ['[Tue 2026-12-01 02:57 UTC] hello', 'hello'],
    ['[Queued user message from a previous active turn]\n[Tue 2026-12-01 02:57 UTC] hello', 'hello'],
    ['[Tue 2026-12-01 02:57 UTC] [Queued user message from a previous active turn, resent]: hello', 'hello'],
    ['<system-reminder>\nbe kind\n</system-reminder>\nfix the bug', 'fix the bug'],
    ['fix it\n<system-reminder>a</system-reminder>', 'fix it'],
    ['hi <<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>x<<<END_OPENCLAW_INTERNAL_CONTEXT>>>', 'hi'],
    ['Conversation info (untrusted metadata):\n```json\n{"a":1}\n```\n\nWhat is up?', 'What is up?'],
    ['[1] first item\n[2026] a year', '[1] first item\n[2026] a year'],
    ['explain <system> tags', 'explain <system> tags'],
    ['[2026-12-01 02:57] [WARN] from my log', '[WARN] from my log'],
  ])('%j → %j', (raw, words) => {
    expect(ownWords(raw)).toBe(words);
  });

  it('tell a message of the client from one that also holds words', () => {
    const context = '<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>x<<<END_OPENCLAW_INTERNAL_CONTEXT>>>';
    expect(isInternal(context)).toBe(true);
    expect(isInternal(`${context} and this`)).toBe(false);
  });

  it('stay in linear time on hostile text', () => {
    const start = performance.now();
    for (const piece of ['<system-reminder>', '[Queued user message', 'A (untrusted m):\n```\n', '\n\n\n'])
      ownWords(piece.repeat(50_000));
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe('digests', () => {
  it('make every earlier request of a conversation a prefix of the later one', () => {
    for (const name of ['chat-default', 'anthropic-default', 'gatewayA', 'claude']) {
      const all = factsOf(name).map((facts) => facts.digests());
      for (let at = 1; at < all.length; at += 1) {
        const before = all[at - 1] ?? [];
        expect(all[at]?.slice(0, before.length), `${name} request ${at + 1}`).toEqual(before);
      }
    }
  });
});
