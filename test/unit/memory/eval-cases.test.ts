import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCaseFile } from '../../../src/engine/memory/eval/case-file.ts';
import { readWorlds } from '../../support/memory-cases.ts';

function file(name: string, text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'metaclaw-cases-')), name);
  writeFileSync(path, text);
  return path;
}

describe('a file of cases', () => {
  it('is a list in YAML', () => {
    const { cases, sessions } = readCaseFile(
      file(
        'c.yaml',
        '- ask: Which port?\n  user: nora\n  want: [port 8081]\n- {ask: Hello!, nothing: true}\n',
      ),
    );
    expect(sessions).toEqual([]);
    expect(cases).toEqual([
      {
        ask: 'Which port?',
        kind: '',
        scope: { user: 'nora', workspace: '', agent: '' },
        want: [['port 8081']],
        not: [],
        nothing: false,
        at: null,
      },
      expect.objectContaining({ ask: 'Hello!', nothing: true, want: [] }),
    ]);
  });
  it('is one JSON object a line, or a JSON document', () => {
    const line = JSON.stringify({ ask: 'Which port?', want: ['port'], at: '2026-01-01T00:00:00Z' });
    for (const path of [
      file('c.jsonl', `${line}\n\n${line}\n`),
      file('c.json', `{"cases": [${line}, ${line}]}`),
    ])
      expect(readCaseFile(path).cases.map(({ ask, at }) => [ask, at])).toEqual([
        ['Which port?', '2026-01-01T00:00:00Z'],
        ['Which port?', '2026-01-01T00:00:00Z'],
      ]);
  });
  it.each([
    ['c.yaml', '- {want: [a]}', /cases\.0\.ask/],
    ['c.yaml', '[]', /has no cases/],
    ['c.yaml', '- ask: "open', /neither YAML nor JSON/],
    ['c.json', '"a text"', /expected object/i],
  ])('%s with %s is refused with what is wrong', (name, text, message) => {
    expect(() => readCaseFile(file(name, text))).toThrow(message);
  });
  it('that is not there is named', () => {
    expect(() => readCaseFile('/nowhere/c.yaml')).toThrow('/nowhere/c.yaml');
  });
});

describe('the labelled conversations', () => {
  const worlds = [...readWorlds('tune'), ...readWorlds('heldout')];
  const cases = worlds.flatMap((world) => world.cases.map((one) => ({ ...one, world })));

  it('are many, and ask for nothing in a third of the cases at least', () => {
    expect(cases.length).toBeGreaterThanOrEqual(400);
    expect(cases.filter(({ nothing }) => nothing).length / cases.length).toBeGreaterThan(1 / 3);
    for (const language of ['en', 'zh', 'ja', 'es', 'fr'])
      expect(cases.filter(({ world }) => world.language === language).length).toBeGreaterThanOrEqual(80);
    for (const kind of 'update negation name number preference project procedure temporal history user workspace'.split(
      ' ',
    ))
      expect(cases.filter((one) => one.kind === kind).length, kind).toBeGreaterThanOrEqual(10);
    expect(worlds.some(({ sessions }) => sessions.some(({ exchanges }) => exchanges.length > 300))).toBe(
      true,
    );
  });
  it('name only what was said, once', () => {
    for (const { name, sessions, cases } of worlds) {
      const ids = sessions.flatMap(({ exchanges }) => exchanges.map(({ id }) => id)).filter(Boolean);
      expect(new Set(ids).size, name).toBe(ids.length);
      expect(ids, name).toEqual(
        expect.arrayContaining(cases.flatMap(({ want, not }) => [...want.flat(), ...not])),
      );
    }
  });
  it('are not the same in both sets', () => {
    const asked = (set: string) =>
      new Set(
        cases
          .filter(
            ({ world, kind }) => world.name.startsWith(set) && !['user', 'name', 'update'].includes(kind),
          )
          .map(({ ask }) => ask),
      );
    const held = asked('heldout');
    const shared = [...asked('tune')].filter((ask) => held.has(ask));
    expect(shared).toEqual([]);
  });
});
