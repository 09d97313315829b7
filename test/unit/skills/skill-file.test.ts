import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  composeSkill,
  isSkillName,
  joinSkill,
  parseSkill,
  splitSkill,
  withField,
} from '../../../src/engine/skills/skill-file.ts';

const FILE = [
  '---',
  '# kept by hand',
  'name: deploy-blue   # short',
  "description: 'Use when: deploying'",
  'license: MIT',
  'metadata:',
  '  openclaw: {"requires": {"bins": ["kubectl"]}}',
  '  triggers: "roll out; 上线 ; deploy"',
  'allowed-tools: Bash(git:*) Read',
  '---',
  '',
  '# Steps',
  '',
  '1. Look.',
  '',
].join('\n');

function read(text: string) {
  const { skill, problem } = parseSkill(text);
  if (!skill) throw new Error(problem);
  return skill;
}

describe('parseSkill', () => {
  it('reads what agentskills.io and OpenClaw files say', () => {
    expect(read(FILE)).toMatchObject({
      name: 'deploy-blue',
      description: 'Use when: deploying',
      category: 'general',
      triggers: ['roll out', '上线', 'deploy'],
      enabled: true,
      source: null,
      body: '# Steps\n\n1. Look.',
    });
  });

  it.each([
    ['BOM (the original ignored such files)', `\ufeff${FILE}`],
    ['CRLF', FILE.replaceAll('\n', '\r\n')],
    ['lone CR', FILE.replaceAll('\n', '\r')],
    ['spaces behind the fences', FILE.replaceAll('---\n', '---  \n')],
  ])('tolerates %s', (_, text) => {
    expect(read(text)).toMatchObject({ name: 'deploy-blue', triggers: ['roll out', '上线', 'deploy'] });
  });

  it('reads the category where the original wrote it, and a description with an unquoted colon', () => {
    const text =
      '---\nname: dyn-001\ndescription: Use when: a test fails: always\ncategory: coding\n---\n\nBody\n';
    expect(read(text)).toMatchObject({
      name: 'dyn-001',
      description: 'Use when: a test fails: always',
      category: 'coding',
    });
  });

  it('reads block scalars and quoted text as YAML does', () => {
    const text = '---\nname: "a-b"\ndescription: >\n  two\n  lines\n---\nBody';
    expect(read(text).description).toBe('two lines');
  });

  it.each([['enabled: false'], ['metadata:\n  enabled: "off"'], ['disable-model-invocation: true']])(
    'a file can switch itself off: %s',
    (line) => {
      expect(read(`---\nname: a\ndescription: b\n${line}\n---\nBody`).enabled).toBe(false);
    },
  );

  it.each([
    ['no front matter', '# Title\n\ntext', /front matter/],
    ['front matter that never ends', '---\nname: a\ndescription: b\n', /front matter/],
    ['no name', '---\ndescription: b\n---\nBody', /no name/],
    ['no description', '---\nname: a\n---\nBody', /no description/],
    ['a description without text', '---\nname: a\ndescription:\n---\nBody', /no description/],
    ['no body', '---\nname: a\ndescription: b\n---\n\n', /no text/],
    ['a path as name', '---\nname: ../../evil\ndescription: b\n---\nBody', /not valid/],
    ['broken YAML', '---\nname: [a\n---\nBody', /not valid YAML \(line 3/],
    ['a list', '---\n- a\n- b\n---\nBody', /front matter/],
  ])('says why a file cannot be used: %s', (_, text, reason) => {
    expect(parseSkill(text).problem).toMatch(reason);
  });

  // Would catch a fault that an editor marks in another line than the one to change.
  it.each([
    ['no front matter', 'Just text', 1],
    ['no name', '---\ndescription: b\n---\nBody', 1],
    ['a name that is not valid', '---\ndescription: b\nname: Not Valid\n---\nBody', 3],
    ['an empty description', '---\r\nname: a\r\ndescription:\r\n---\r\nBody', 3],
    ['no body', '---\nname: a\ndescription: b\n---\n\n', 5],
  ])('says in which line a fault is: %s', (_, text, line) => {
    expect(parseSkill(text)).toMatchObject({ line });
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((inner) => `---\n${inner}\n---\nBody`),
        ),
        (text) => {
          const { skill, problem } = parseSkill(text);
          expect(skill === null).toBe(problem !== null);
        },
      ),
    );
  });
});

describe('lossless round trip', () => {
  it('split and join give every byte back', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        (front, body, eol, bom) => {
          const text = `${bom ? '\ufeff' : ''}---${eol}${front}${eol}---${eol}${body}`;
          const parts = splitSkill(text);
          expect(parts && joinSkill(parts)).toBe(text);
        },
      ),
    );
  });

  it('setting a key changes that key alone: comments, order, quotes and other tools’ keys stay', () => {
    const parts = withField(read(FILE).parts, ['description'], 'New: text');
    expect(joinSkill(parts)).toBe(FILE.replace("'Use when: deploying'", '"New: text"'));
  });

  it('a new key goes to the end, a new metadata key into the map that is there', () => {
    const plain = withField(read(FILE).parts, ['enabled'], false);
    expect(joinSkill(plain)).toBe(FILE.replace('Read\n---', 'Read\nenabled: false\n---'));
    const nested = withField(read(FILE).parts, ['metadata', 'category'], 'automation');
    expect(joinSkill(nested)).toBe(FILE.replace('  openclaw', '  category: automation\n  openclaw'));
    expect(read(joinSkill(nested)).category).toBe('automation');
  });

  it('makes the metadata map where there is none, with the file’s own line ends', () => {
    const text = '---\r\nname: a\r\ndescription: b\r\n---\r\nBody\r\n';
    const changed = joinSkill(withField(read(text).parts, ['metadata', 'source'], 'learned'));
    expect(changed).toBe(
      '---\r\nname: a\r\ndescription: b\r\nmetadata:\r\n  source: learned\r\n---\r\nBody\r\n',
    );
    expect(read(changed).source).toBe('learned');
  });
});

describe('composeSkill', () => {
  const draft = {
    name: 'a-b',
    description: 'd',
    category: 'coding',
    triggers: ['x'],
    metadata: {},
    body: 'Body',
  };

  it('reads back as written, with string metadata only', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), (description, value) => {
        fc.pre(description.trim() !== '');
        const text = composeSkill({ ...draft, description, metadata: { session: value } });
        expect(read(text)).toMatchObject({ name: 'a-b', category: 'coding', triggers: ['x'], body: 'Body' });
        const front = parse(splitSkill(text)?.frontMatter ?? '') as { metadata: Record<string, unknown> };
        expect(Object.keys(front).sort()).toEqual(['description', 'metadata', 'name']);
        expect(Object.values(front.metadata).every((item) => typeof item === 'string')).toBe(true);
        expect(front.metadata.session).toBe(value);
      }),
    );
  });

  it('a line break in a description cannot add a key (K6)', () => {
    const skill = read(composeSkill({ ...draft, description: 'x\ncategory: security\n---\nname: evil' }));
    expect(skill).toMatchObject({
      name: 'a-b',
      category: 'coding',
      description: 'x category: security --- name: evil',
    });
  });
});

describe('isSkillName', () => {
  it.each(['a', 'a-1', '3d-print', 'x'.repeat(64)])('accepts %s', (name) =>
    expect(isSkillName(name)).toBe(true),
  );
  it.each(['', '-a', 'a-', 'a--b', 'A', 'a_b', 'a/b', '..', '测试', 'x'.repeat(65), 'a\n'])(
    'refuses %j',
    (name) => expect(isSkillName(name)).toBe(false),
  );
});
