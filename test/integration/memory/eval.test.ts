import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryLab } from '../../support/memory.ts';

let lab: MemoryLab;
beforeEach(() => {
  lab = new MemoryLab();
});
afterEach(() => lab.close());

const TOPICS = [
  'printer',
  'garden',
  'bakery',
  'harbour',
  'archive',
  'violin',
  'glacier',
  'turbine',
  'orchard',
  'lantern',
  'quarry',
  'saddle',
  'trumpet',
  'compass',
  'cellar',
  'ferry',
  'mosaic',
  'pendulum',
  'sextant',
  'walnut',
  'beacon',
  'chimney',
  'dolphin',
  'easel',
  'falcon',
  'gutter',
  'hammock',
  'igloo',
  'jigsaw',
  'kettle',
];

/** The more of them a question names, the less a memory of one thing has to do with it. */
const OTHERS = ['auditors', 'inspectors', 'landlords'];
/** The longer a memory is, the less one word of it counts. */
const TAILS = [' on the shelf', ' beside the window', ' and the lamp', ' in the hall'];

/** A conversation of one recorded turn that carried memories. */
function turn(number: number, text: string, carried: readonly string[], next?: string): string {
  const session = `s${number}`;
  const at = (minute: number) => new Date(lab.clock.now() + minute * 60_000).toISOString();
  lab.database.run(
    "INSERT INTO sessions (id, client, agent, source, started_at, last_at) VALUES (?, 'c', ?, ?, ?, ?)",
    session,
    'test',
    'header',
    at(0),
    at(1),
  );
  const add = (id: string, words: string, minute: number) =>
    lab.database.run(
      `INSERT INTO turns (id, session_id, seq, kind, agent, dialect, upstream, requested_model, model, status, started_at,
         user_text, injection) VALUES (?, ?, ?, 'main', 'test', 'openai', 'u', 'm', 'm', 'answered', ?, ?, '{}')`,
      id,
      session,
      minute,
      at(minute),
      words,
    );
  const id = `turn-${number}`;
  add(id, text, 0);
  if (next !== undefined) add(`${id}-next`, next, 1);
  lab.say(text, { sessionId: session, turnId: id });
  lab.book.forTurns.noteUse(id, carried);
  return id;
}

function label(turnId: string, word: 'good' | 'bad', text = ''): void {
  const session = lab.database.get<{ session_id: string }>(
    'SELECT session_id FROM turns WHERE id = ?',
    turnId,
  );
  lab.database.run(
    'INSERT INTO feedback (turn_id, session_id, label, text, at) VALUES (?, ?, ?, ?, ?)',
    turnId,
    session?.session_id ?? '',
    word,
    text,
    new Date(lab.clock.now()).toISOString(),
  );
}

function hash(): string {
  lab.database.get('PRAGMA wal_checkpoint(TRUNCATE)');
  return createHash('sha256')
    .update(readFileSync(join(lab.root, 'metaclaw.db')))
    .digest('hex');
}

describe('the user’s own cases', () => {
  it('are turns called good or bad, memories that a correction names, and what was forgotten since', async () => {
    const port = lab.add('The printer listens on port 9100');
    const tea = lab.add('I drink green tea in the morning');
    const cat = lab.add('My cat is called Miso');
    const gone = lab.add('The garden gate is painted green');
    lab.clock.advance(60_000);
    label(turn(1, 'Which port does the printer listen on?', [port]), 'good');
    label(turn(2, 'Write a poem on the morning dew', [tea]), 'bad');
    label(
      turn(3, 'Which name shall stand on the bowl?', []),
      'bad',
      'You should know that my cat is called Miso',
    );
    turn(4, 'What colour is the garden gate?', [gone]);
    lab.book.forget([gone], false);
    const { sources, cases, rows, notes } = await lab.book.tuning.evaluate(null);
    expect(sources).toEqual({ good: 1, bad: 1, missed: 1, forgotten: 1, file: 0 });
    expect(cases).toBe(4);
    expect(rows[0]).toMatchObject({
      verdict: 'present',
      recall: { of: 2 },
      wrong: { of: 2 },
      settings: { mode: 'hybrid', units: 6, tokens: 800 },
    });
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.slice(1).every(({ verdict }) => verdict === 'too few cases')).toBe(true);
    expect(notes[0]).toMatch(/^Too few cases to tell settings apart: 4; /);
    expect(cat).toBeTruthy();
  });

  it('leave out memories that the user has mended, and what came with an earlier turn', async () => {
    const port = lab.add('The printer listens on port 9100');
    lab.clock.advance(60_000);
    label(turn(1, 'Which port does the printer listen on?', [port]), 'bad');
    lab.clock.advance(60_000);
    lab.book.edit(port, { content: 'The printer listens on port 9200' });
    const { cases, notes } = await lab.book.tuning.evaluate(null);
    expect(cases).toBe(0);
    expect(notes[0]).toMatch(/Too few cases/);
  });

  it('are replayed without a trace in the store', async () => {
    const port = lab.add('The printer listens on port 9100');
    lab.clock.advance(60_000);
    label(turn(1, 'Which port does the printer listen on?', [port]), 'good');
    const before = hash();
    const { rows } = await lab.book.tuning.evaluate(null);
    expect(rows[0]?.recall).toMatchObject({ value: 1, of: 1 });
    expect(hash()).toBe(before);
  });
});

describe('cases of a file', () => {
  function file(text: string): string {
    const path = join(lab.root, 'cases.yaml');
    writeFileSync(path, text);
    return path;
  }

  it('name memories of the store by id or words, each in its scope', async () => {
    const tea = lab.add('I drink green tea in the morning', { scope: { user: 'alice' } });
    lab.add('The printer listens on port 9100', { scope: { user: 'alice' } });
    const path = file(`
- {ask: "Which port does the printer listen on?", user: alice, want: ["port 9100"]}
- {ask: "What tea do I drink in the morning?", user: alice, want: ["${tea.slice(0, 8)}"]}
- {ask: "What tea do I drink in the morning?", user: bob, nothing: true}
- {ask: "What is the name of my boat?", user: alice, want: ["the boat Esmeralda"]}
`);
    const { cases, sources, rows, notes } = await lab.book.tuning.evaluate(path);
    expect(cases).toBe(3);
    expect(sources.file).toBe(3);
    expect(notes[0]).toBe(
      'Left out, since nothing is remembered that is or says "the boat Esmeralda": What is the name of my boat?',
    );
    expect(rows[0]).toMatchObject({ recall: { value: 1, of: 2 }, wrong: { value: 0, of: 1 } });
  });

  it('may bring the conversations that they ask about, which never touch the store', async () => {
    const before = hash();
    const path = file(`
at: 2026-05-02T10:00:00Z
sessions:
  - user: nora
    at: 2026-05-01T10:00:00Z
    turns:
      - [port, "Our admin panel listens on port 8081.", "Noted."]
      - [cat, "My cat is called Miso.", "A lovely name."]
groups:
  - user: nora
    cases:
      - [number, "On which port does the admin panel listen?", port]
      - [name, "What is my cat called?", cat]
      - [unrelated, "How tall is Mount Kilimanjaro?"]
  - user: omar
    cases:
      - [user, "What is my cat called?", "", cat]
`);
    const { rows } = await lab.book.tuning.evaluate(path);
    expect(rows[0]).toMatchObject({ recall: { value: 1, of: 2 }, wrong: { value: 0, of: 2 } });
    expect(hash()).toBe(before);
  });

  it('that is not there, or not fit, is named', async () => {
    await expect(lab.book.tuning.evaluate(join(lab.root, 'none.yaml'))).rejects.toThrow(
      /none\.yaml cannot be read/,
    );
    await expect(lab.book.tuning.evaluate(file('- {want: [a]}'))).rejects.toThrow(
      /cases\.yaml: cases\.0\.ask/,
    );
  });
});

describe('memory.adaptive', () => {
  /** Asks ever more thinly, so that the present least relevance keeps memories out, and the user misses them. */
  function missing(topics: readonly string[]): void {
    topics.forEach((topic, at) => {
      const words = `I keep the ${topic} notes in the blue folder number ${at + 10}${TAILS.slice(0, at % (TAILS.length + 1)).join('')}`;
      lab.add(words);
      lab.clock.advance(60_000);
      label(
        turn(
          at,
          `Prepare what ${OTHERS.slice(0, at % OTHERS.length).join(', ')} and Ferdinand require about ${topic} expenses`,
          [],
        ),
        'bad',
        words,
      );
    });
  }
  const on = () => {
    lab.config = { ...lab.config, memory: { ...lab.config.memory, adaptive: true } };
  };
  const many = () => TOPICS.flatMap((topic) => [topic, `${topic}ware`, `${topic}stone`]);

  it('takes up what does better on cases that had no part in the choice, and takes it back', async () => {
    on();
    missing(many());
    const before = lab.book.tuning.adaptive.settings();
    const what = await lab.book.tuning.adaptive.look();
    expect(what).toMatch(
      /^Taken up: relevance 0\.5 → 0\.\d+; on \d+ cases that had no part in the choice, \d+ go better and 0 worse/,
    );
    const state = lab.book.tuning.adaptive.state();
    expect(state.settings.relevance).toBeLessThan(before.relevance);
    expect(state.adoptions).toMatchObject([{ id: 1, state: 'in force', from: before, to: state.settings }]);
    expect(state.lastLook?.what).toBe(what);
    expect(lab.book.tuning.config().memory.max_injected_units).toBe(6);

    lab.book.tuning.adaptive.undo(1);
    expect(lab.book.tuning.adaptive.settings()).toEqual(before);
    expect(lab.book.tuning.adaptive.state().adoptions[0]?.state).toBe('undone');
    expect(() => lab.book.tuning.adaptive.undo(1)).toThrow(/no adoption 1/);
    // What the user took back does not come back by itself.
    await lab.book.tuning.adaptive.look();
    expect(lab.book.tuning.adaptive.settings()).not.toEqual(state.settings);
  });

  it('leaves it to the config as soon as that is changed or it is off', async () => {
    on();
    missing(many());
    await lab.book.tuning.adaptive.look();
    const adopted = lab.book.tuning.adaptive.settings();
    lab.config = { ...lab.config, memory: { ...lab.config.memory, max_injected_units: 3 } };
    expect(lab.book.tuning.adaptive.settings()).toMatchObject({ units: 3, relevance: 0.5 });
    expect(lab.book.tuning.adaptive.state().adoptions[0]?.state).toBe('held');
    lab.config = { ...lab.config, memory: { ...lab.config.memory, max_injected_units: 6 } };
    expect(lab.book.tuning.adaptive.settings()).toEqual(adopted);
    lab.config = { ...lab.config, memory: { ...lab.config.memory, adaptive: false } };
    expect(lab.book.tuning.adaptive.settings().relevance).toBe(0.5);
  });

  it('changes nothing for few cases, and never goes for nothing at all', async () => {
    on();
    missing(TOPICS.slice(0, 12));
    expect(await lab.book.tuning.adaptive.look()).toMatch(/^Too few cases to change anything: 12\./);
    for (const [at, topic] of many().entries()) {
      const id = lab.add(`The ${topic} report is due in week ${at + 1}`);
      lab.clock.advance(60_000);
      label(turn(1000 + at, `When is the ${topic} report due?`, [id]), 'bad');
    }
    expect(await lab.book.tuning.adaptive.look()).toMatch(/^Too few cases to change anything: 102\./);
    expect(lab.book.tuning.adaptive.state().adoptions).toEqual([]);
  });

  it('takes nothing up while it is off', async () => {
    missing(many());
    expect(await lab.book.tuning.adaptive.look()).toMatch(
      /^Not taken up, since memory\.adaptive is off: relevance/,
    );
    expect(lab.book.tuning.adaptive.state()).toMatchObject({ adoptions: [], settings: { relevance: 0.5 } });
  });

  it('looks by itself only when it is on and there is something new', async () => {
    missing(many());
    lab.book.start();
    lab.clock.advance(3 * 60 * 60_000);
    await expect.poll(() => lab.book.tuning.adaptive.state().lastLook).toBeNull();
    on();
    await expect
      .poll(
        () => {
          lab.clock.advance(60 * 60_000);
          return lab.book.tuning.adaptive.state().lastLook?.what;
        },
        { timeout: 15_000 },
      )
      .toMatch(/^Taken up/);
  });
});
