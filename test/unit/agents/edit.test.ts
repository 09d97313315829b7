import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ValueChange } from '../../../src/engine/agents/edit/format.ts';
import {
  changesBack,
  drifted,
  editSettings,
  type FormatName,
  readSettings,
  tracesOf,
} from '../../../src/engine/agents/edit/index.ts';

const ours: readonly ValueChange[] = [
  {
    path: ['models', 'providers', 'metaclaw'],
    value: { baseUrl: 'http://127.0.0.1:30000/a/x/v1', apiKey: 'k' },
  },
  { path: ['model'], value: 'metaclaw/served' },
];

const FILES: readonly { name: string; format: FormatName; text: string; changes?: readonly ValueChange[] }[] =
  [
    { name: 'an empty JSON file', format: 'json', text: '' },
    { name: 'JSON with two spaces', format: 'json', text: '{\n  "theme": "dark",\n  "model": "a/b"\n}\n' },
    {
      name: 'JSON with tabs and no last line break',
      format: 'json',
      text: '{\n\t"model": "a/b",\n\t"n": 1e3\n}',
    },
    {
      name: 'JSON on one line',
      format: 'json',
      text: '{"model":"a/b","models":{"providers":{"o":{"x":[1,2]}}}}',
    },
    {
      name: 'JSON with comments and trailing commas',
      format: 'json',
      text: '// mine\n{\n  // models\n  "models": { "providers": { "ollama": { "baseUrl": "http://x", /* keep */ }, }, },\n  "model": "a/b", // tail\n}\n',
    },
    {
      name: 'JSON with CRLF and a byte order mark',
      format: 'json',
      text: '\ufeff{\r\n  "model": "a/b",\r\n  "models": {}\r\n}\r\n',
    },
    { name: 'an empty YAML file', format: 'yaml', text: '' },
    {
      name: 'YAML with comments, anchors and odd quotes',
      format: 'yaml',
      text: "# mine\nbase: &base\n  a: no # stays a word\nother:\n  <<: *base\nmodel: 'a/b'   # tail\nlist:\n- 1\n-   2\n\n# end\n",
    },
    {
      name: 'YAML with CRLF',
      format: 'yaml',
      text: 'model: a/b\r\nmodels:\r\n  providers:\r\n    x:\r\n      y: 1\r\n',
    },
    { name: 'an empty TOML file', format: 'toml', text: '' },
    {
      name: 'TOML with comments and tables',
      format: 'toml',
      text: '# mine\nmodel = "a/b" # tail\n\n[models.providers.o]\nbaseUrl = \'x\'   # odd\n\n[[profiles]]\nmodel = "z"\n[[profiles]]\nmodel = "y"\n',
    },
    {
      name: 'TOML with CRLF and a byte order mark',
      format: 'toml',
      text: '\ufeffmodel = "a/b"\r\n[t]\r\nx = 1\r\n',
    },
    {
      name: 'a dotenv file',
      format: 'dotenv',
      text: '# mine\nexport BASE=\'http://x\' # tail\nKEY="a b"\nEMPTY=\n',
      changes: [
        { path: ['BASE'], value: 'http://127.0.0.1:30000/a/x' },
        { path: ['NEW'], value: 'two words' },
      ],
    },
    { name: 'an empty dotenv file', format: 'dotenv', text: '', changes: [{ path: ['NEW'], value: 'a' }] },
  ];

describe.each(FILES)('$name', ({ format, text, changes = ours }) => {
  // Would catch an edit that reformats, that loses a comment, or that cannot be taken back to the byte.
  it('is edited, left alone by a second edit, and restored', () => {
    const edited = editSettings('f', format, text, changes);
    for (const { path, value } of changes)
      expect(readAt(readSettings('f', format, edited), path)).toEqual(value);
    expect(editSettings('f', format, edited, changes)).toBe(edited);
    for (const comment of text.match(/(?:#|\/\/|\/\*) ?(?:mine|keep|tail|end|odd|models|stays a word)/g) ??
      [])
      if (format !== 'dotenv' || !comment.includes('tail')) expect(edited).toContain(comment);
    const traces = tracesOf('f', format, text, changes);
    const values = readSettings('f', format, edited);
    expect(drifted(values, traces)).toEqual([]);
    const back = changesBack(values, traces);
    expect(back.kept).toEqual([]);
    const restored = editSettings('f', format, edited, back.changes);
    expect(readSettings('f', format, restored)).toEqual(readSettings('f', format, text));
  });
});

describe('taking changes back', () => {
  const text = '{"model":"a/b"}';
  const traces = tracesOf('f', 'json', text, ours);

  // Would catch an undo that takes the user's own provider away with ours.
  it('leaves what others added inside a section that we made', () => {
    const edited = editSettings('f', 'json', text, [
      ...ours,
      { path: ['models', 'providers', 'mine'], value: { baseUrl: 'http://mine' } },
    ]);
    const { changes, kept } = changesBack(readSettings('f', 'json', edited), traces);
    expect(kept).toEqual([]);
    expect(readSettings('f', 'json', editSettings('f', 'json', edited, changes))).toEqual({
      model: 'a/b',
      models: { providers: { mine: { baseUrl: 'http://mine' } } },
    });
  });

  // Would catch an undo that writes over the model that the user has chosen since.
  it('leaves what was changed since, and names it', () => {
    const edited = editSettings('f', 'json', text, [...ours, { path: ['model'], value: 'mine/own' }]);
    const values = readSettings('f', 'json', edited);
    expect(drifted(values, traces)).toEqual(['model']);
    const { changes, kept } = changesBack(values, traces);
    expect(kept).toEqual(['model']);
    expect(readSettings('f', 'json', editSettings('f', 'json', edited, changes))).toEqual({
      model: 'mine/own',
    });
  });

  it('finds nothing to do where all of it is gone', () => {
    expect(changesBack({ model: 'a/b' }, traces)).toEqual({ changes: [], kept: [] });
  });
});

describe('items of a list', () => {
  const mine = { name: 'mine', keys: ['k'] };
  const entry = { name: 'metaclaw', keys: ['k2'] };
  const text = '{\n  // models\n  "list": [\n    // mine\n    { "name": "mine", "keys": ["k"] }\n  ]\n}\n';
  const add = [{ path: ['list'], item: entry }];

  // Would catch a list that is written anew, which takes the comments in it away.
  it('are added behind the others and taken out again', () => {
    const edited = editSettings('f', 'json', text, add);
    expect(readSettings('f', 'json', edited)).toEqual({ list: [mine, entry] });
    expect(edited).toContain('// mine');
    expect(editSettings('f', 'json', edited, add)).toBe(edited);
    const traces = tracesOf('f', 'json', text, add);
    const later = editSettings('f', 'json', edited, [{ path: ['list'], item: { name: 'later' } }]);
    expect(drifted(readSettings('f', 'json', later), traces)).toEqual([]);
    const { changes, kept } = changesBack(readSettings('f', 'json', later), traces);
    expect(kept).toEqual([]);
    const restored = editSettings('f', 'json', later, changes);
    expect(readSettings('f', 'json', restored)).toEqual({ list: [mine, { name: 'later' }] });
    expect(restored).toContain('// mine');
  });

  it.each(['{}', '', '{"list":[]}'])('begin a list in %j', (start) => {
    const edited = editSettings('f', 'json', start, add);
    expect(readSettings('f', 'json', edited)).toEqual({ list: [entry] });
    const back = changesBack(readSettings('f', 'json', edited), tracesOf('f', 'json', start, add));
    expect(readSettings('f', 'json', editSettings('f', 'json', edited, back.changes))).toEqual(
      readSettings('f', 'json', start),
    );
  });

  it('that the user had already stay when ours are taken back', () => {
    const own = JSON.stringify({ list: [entry] });
    expect(tracesOf('f', 'json', own, add)).toEqual([]);
  });
});

describe('refusals', () => {
  it.each([
    ['json', '{"a":', 'f cannot be read'],
    ['json', '[1]', 'f cannot be read'],
    ['yaml', 'a: [', 'f cannot be read'],
    ['yaml', '- 1\n', 'f cannot be read'],
    ['toml', 'a = ', 'f cannot be read'],
  ] as const)('names the file of %s text that is broken: %s', (format, text, message) => {
    expect(() => editSettings('f', format, text, [{ path: ['x'], value: 1 }])).toThrow(message);
  });

  it.each(['json', 'yaml', 'toml'] as const)(
    'does not put a section through a plain value in %s',
    (format) => {
      const text = editSettings('f', format, '', [{ path: ['models'], value: 'none' }]);
      expect(() => editSettings('f', format, text, ours)).toThrow('models of f is not a section.');
    },
  );

  // Would catch a replaced line that was only the first of a value that goes on.
  it('does not break a dotenv value of several lines', () => {
    const text = 'KEY="a\nb"\nX=1\n';
    expect(() => editSettings('f', 'dotenv', text, [{ path: ['KEY'], value: 'c' }])).toThrow(
      'KEY goes over several lines',
    );
  });
});

// Would catch any value that a format spells so that it reads back as another one.
it('gives back every value that it is given', () => {
  const key = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
  const leaf = fc.oneof(fc.string(), fc.integer({ min: -1e9, max: 1e9 }), fc.boolean());
  const change = fc.record({ path: fc.array(key, { minLength: 1, maxLength: 3 }), value: leaf });
  fc.assert(
    fc.property(
      fc.constantFrom('json', 'yaml', 'toml'),
      fc.array(change, { maxLength: 4 }),
      (format, changes) => {
        let text = '';
        for (const one of changes) {
          let edited: string;
          try {
            edited = editSettings('f', format, text, [one]);
          } catch (error) {
            expect(String(error)).toMatch(/is not a section|cannot be edited|is empty/);
            continue;
          }
          expect(readAt(readSettings('f', format, edited), one.path)).toEqual(one.value);
          text = edited;
        }
      },
    ),
    { numRuns: 300 },
  );
});

function readAt(values: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], values);
}
