import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { similarity, vectorBytes, vectorKey } from '../../../src/engine/platform/vectors.ts';
import type { EmbeddingSource } from '../../../src/engine/ports.ts';
import { type Database, openDatabase } from '../../../src/engine/store/database.ts';
import type { Embeddings } from '../../../src/engine/upstream/embeddings.ts';
import { Upstream } from '../../../src/engine/upstream/index.ts';
import { type Config, configSchema } from '../../../src/shared/config.ts';
import { AppError } from '../../../src/shared/errors.ts';
import { fakeClock } from '../../support/clock.ts';
import { openMeter } from '../../support/meter.ts';
import { REAL_CLOCK } from '../../support/proxy.ts';
import { SILENT_LOG } from '../../support/sessions.ts';
import { type Reply, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { embeddingAnswer } from '../../support/upstream-embeddings.ts';

const PATIENT_MS = 5000;

let upstream: ScriptedUpstream;
let database: Database;
let meter: ReturnType<typeof openMeter>;
let config: Config;
let provider: Upstream;
let embeddings: Embeddings;
let texts: string[];

const settings = (over: Record<string, unknown> = {}, llm: Record<string, unknown> = {}) =>
  configSchema.parse({
    llm: { provider: 'custom', api_base: upstream.url, api_key: 'sk-good', model_id: 'chat', ...llm },
    embeddings: { model: 'embed-small', ...over },
  });
const source: EmbeddingSource = (after) => ({
  texts: texts.slice(after, after + 10),
  next: after + 10 < texts.length ? after + 10 : null,
});
const asked = () => upstream.requests.filter(({ kind }) => kind === 'embeddings');
const inputs = () => asked().flatMap(({ json }) => json.input as string[]);
const until = async (check: () => boolean) => {
  for (let n = 0; n < 400 && !check(); n += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(check()).toBe(true);
};
const stored = (text: string) => embeddings.stored([vectorKey(text)]).size === 1;
const begin = () => {
  embeddings = provider.embeddings(SILENT_LOG, database);
  embeddings.serve(source);
  embeddings.start();
};

beforeEach(async () => {
  upstream = await startUpstream({ apiKey: 'sk-good' });
  ({ database } = openDatabase(':memory:'));
  meter = openMeter();
  config = settings();
  texts = [];
  provider = new Upstream({ config: () => config, clock: REAL_CLOCK, log: SILENT_LOG, meter });
});
afterEach(async () => {
  await embeddings.stop();
  await provider.close();
  await upstream.close();
  database.close();
});

describe('questions', () => {
  it('get vectors that compare by meaning; each is asked for once', async () => {
    begin();
    const one = await embeddings.query('Which database is it?', PATIENT_MS);
    const same = await embeddings.query('We run postgres', PATIENT_MS);
    const other = await embeddings.query('My puppy barks', PATIENT_MS);
    if (!one || !same || !other) throw new Error('a vector is missing');
    expect(similarity(one, same)).toBeGreaterThan(0.8);
    expect(similarity(one, other)).toBeLessThan(0.4);
    await embeddings.query('Which  database is it?\n', PATIENT_MS);
    expect(asked()).toHaveLength(3);
    expect(asked()[0]?.json).toEqual({ model: 'embed-small', input: ['Which database is it?'] });
  });

  it('that are not answered in time get theirs the next time, and are asked once', async () => {
    let answer: (() => void) | null = null;
    upstream.always('embeddings', (request, response) => {
      answer = () => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(embeddingAnswer(request.json)));
      };
    });
    begin();
    expect(await embeddings.query('slow', 1)).toBeNull();
    await until(() => answer !== null);
    const second = embeddings.query('slow', PATIENT_MS);
    (answer as unknown as () => void)();
    expect(await second).not.toBeNull();
    expect(await embeddings.query('slow', 0)).not.toBeNull();
    expect(asked()).toHaveLength(1);
  });

  it('go out without their secrets, and are entered in the ledger', async () => {
    begin();
    await embeddings.query('my key is sk-TEST1234567890abcdefghij, is it good?', PATIENT_MS);
    expect(inputs()[0]).not.toContain('sk-TEST');
    await until(() => meter.calls.length > 0);
    expect(meter.calls).toMatchObject([
      { purpose: 'embeddings', model: 'embed-small', httpStatus: 200, usage: { outputTokens: 0 } },
    ]);
    expect(meter.calls[0]?.usage?.inputTokens).toBeGreaterThan(5);
  });

  it('of which the endpoint wants no more go without for a while', async () => {
    upstream.always('embeddings', {
      status: 429,
      body: { error: { message: 'slow down' } },
      headers: { 'retry-after': '60' },
    });
    begin();
    expect(await embeddings.query('one', PATIENT_MS)).toBeNull();
    expect(await embeddings.query('two', PATIENT_MS)).toBeNull();
    expect(asked()).toHaveLength(1);
    expect(embeddings.describe()).toMatch(/slow down.*searched by words/);
  });

  it('ask nothing when the day is used up', async () => {
    meter.admit = () => {
      throw new AppError('CANCELLED', 'The cap of the day is reached.');
    };
    begin();
    expect(await embeddings.query('one', PATIENT_MS)).toBeNull();
    expect(asked()).toHaveLength(0);
    expect(embeddings.describe()).toMatch(/cap of the day/);
  });

  it.each([
    ['no JSON', { status: 200, body: 'oops' }],
    ['no list', { status: 200, body: { data: 'x' } }],
    ['too few', { status: 200, body: { data: [] } }],
    ['a wrong index', { status: 200, body: { data: [{ index: 1, embedding: [1, 0] }] } }],
    ['words for numbers', { status: 200, body: { data: [{ index: 0, embedding: { a: 1 } }] } }],
    ['an empty vector', { status: 200, body: { data: [{ index: 0, embedding: [] }] } }],
    ['NaN', { status: 200, body: { data: [{ index: 0, embedding: [1, null] }] } }],
    ['zeros', { status: 200, body: { data: [{ index: 0, embedding: [0, 0] }] } }],
    ['odd base64', { status: 200, body: { data: [{ index: 0, embedding: 'AAA=' }] } }],
    ['a refusal', { status: 404, body: { error: { message: 'no such model' } } }],
    ['an error page', { status: 502, body: '<html>bad gateway</html>' }],
  ] satisfies [string, Reply][])('answered with %s have no vector, and nothing breaks', async (_, reply) => {
    upstream.always('embeddings', reply);
    begin();
    expect(await embeddings.query('one', PATIENT_MS)).toBeNull();
  });

  it('are answered in any order, with or without an index, as numbers or as base64', async () => {
    begin();
    const wanted = ['database', 'puppy', 'airline'];
    upstream.always('embeddings', (request, response) => {
      const whole = embeddingAnswer({ ...request.json, encoding_format: 'base64' });
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...whole, data: (whole.data as unknown[]).reverse() }));
    });
    embeddings.want(wanted);
    await until(() => wanted.every(stored));
    upstream.reset();
    const again = provider.embeddings(SILENT_LOG, openDatabase(':memory:').database);
    for (const text of wanted) {
      const kept = embeddings.stored([vectorKey(text)]).get(vectorKey(text));
      const asked = await again.query(text, PATIENT_MS);
      expect(kept && asked && similarity(kept, asked)).toBeCloseTo(1, 5);
    }
    await again.stop();
  });
});

describe('texts', () => {
  it('are embedded in batches in the background, each once, also over a restart', async () => {
    texts = Array.from({ length: 150 }, (_, n) => `Note number ${n}`);
    begin();
    await until(() => texts.every(stored));
    expect(inputs()).toHaveLength(150);
    expect(Math.max(...asked().map(({ json }) => json.input.length))).toBeLessThanOrEqual(64);
    await embeddings.stop();
    begin();
    embeddings.want(['a new one', 'Note number 3']);
    await until(() => stored('a new one'));
    expect(inputs()).toHaveLength(151);
  });

  it('share the vector that a question had', async () => {
    begin();
    await embeddings.query('We moved to postgres', PATIENT_MS);
    embeddings.want(['We moved to postgres']);
    await until(() => stored('We moved to postgres'));
    expect(asked()).toHaveLength(1);
  });

  it('that the endpoint refuses do not keep the others from theirs', async () => {
    upstream.always('embeddings', (request, response) => {
      const bad = (request.json.input as string[]).some((text) => text.includes('cursed'));
      response.writeHead(bad ? 400 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(bad ? { error: { message: 'cannot' } } : embeddingAnswer(request.json)));
    });
    texts = ['one', 'two', 'cursed', 'three', 'four'];
    begin();
    await until(() => ['one', 'two', 'three', 'four'].every(stored));
    const calls = asked().length;
    embeddings.want(['cursed', 'five']);
    await until(() => stored('five'));
    expect(asked()).toHaveLength(calls + 1);
  });

  it('that are too long are embedded by their beginning', async () => {
    upstream.always('embeddings', (request, response) => {
      const long = (request.json.input as string[]).some((text) => text.length > 600);
      response.writeHead(long ? 400 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(long ? { error: { message: 'too long' } } : embeddingAnswer(request.json)));
    });
    const long = 'word '.repeat(3000);
    texts = [long];
    begin();
    await until(() => stored(long));
  });

  it('wait while the endpoint is down, and get their vectors when it is back', async () => {
    await embeddings?.stop();
    const clock = fakeClock();
    const other = new Upstream({ config: () => config, clock, log: SILENT_LOG, meter });
    upstream.always('embeddings', { status: 503, body: { error: { message: 'loading' } } });
    embeddings = other.embeddings(SILENT_LOG, database);
    embeddings.serve(source);
    texts = ['one'];
    embeddings.start();
    await until(() => /loading/.test(embeddings.describe()));
    expect(asked()).toHaveLength(1);
    upstream.reset();
    clock.advance(5000);
    await until(() => stored('one'));
    expect(embeddings.describe()).toBe(
      `Meaning is compared by embed-small at ${new URL(upstream.url).host}.`,
    );
    await other.close();
  });

  it('that are forgotten lose their vectors', async () => {
    texts = ['secret plan', 'other'];
    begin();
    await until(() => texts.every(stored));
    embeddings.drop(['secret plan']);
    expect(stored('secret plan')).toBe(false);
    expect(stored('other')).toBe(true);
    expect(database.get<{ n: number }>('SELECT count(*) AS n FROM vectors')?.n).toBe(1);
  });

  it('of another model stay until this one has made all anew', async () => {
    texts = ['one', 'two'];
    begin();
    await until(() => texts.every(stored));
    upstream.always('embeddings', { status: 503, body: {} });
    config = settings({ model: 'embed-large' });
    embeddings.configure();
    expect(stored('one')).toBe(false);
    await until(() => /503/.test(embeddings.describe()));
    const models = () =>
      database.all<{ model: string }>('SELECT DISTINCT model FROM vectors').map(({ model }) => model);
    expect(models()).toEqual([expect.stringContaining('embed-small')]);
    upstream.reset();
    config = settings({ model: 'embed-large', api_key: 'sk-good' });
    config = { ...config, embeddings: { ...config.embeddings, model: 'embed-large2' } };
    embeddings.configure();
    await until(() => texts.every(stored));
    await until(() => models().length === 1);
    expect(models()).toEqual([expect.stringContaining('embed-large2')]);
  });

  it('are embedded anew when the model behind the name makes vectors of another size', async () => {
    texts = ['one', 'two'];
    begin();
    await until(() => texts.every(stored));
    upstream.always('embeddings', (request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(embeddingAnswer(request.json, 32)));
    });
    expect((await embeddings.query('three', PATIENT_MS))?.length).toBe(32);
    await until(() => embeddings.stored([vectorKey('one')]).get(vectorKey('one'))?.length === 32);
  });

  it('whose vectors nobody uses lose them after a day', async () => {
    begin();
    const id = embeddings.id ?? '';
    await embeddings.stop();
    const add = (text: string, at: number) =>
      database.run(
        'INSERT INTO vectors (model, key, vector, at) VALUES (?, ?, ?, ?)',
        id,
        vectorKey(text),
        vectorBytes(Float32Array.of(1, 0)),
        at,
      );
    add('old', 1);
    add('old but in use', 1);
    add('young', Date.now());
    texts = ['old but in use'];
    begin();
    await until(() => !stored('old'));
    expect([stored('old but in use'), stored('young')]).toEqual([true, true]);
  });
});

describe('the endpoint', () => {
  it('is none until a model is named', async () => {
    config = settings({ model: '' });
    begin();
    expect(embeddings.id).toBeNull();
    expect(await embeddings.query('x', PATIENT_MS)).toBeNull();
    expect(embeddings.describe()).toMatch(/No embeddings endpoint is set/);
    config = settings();
    embeddings.configure();
    expect(await embeddings.query('x', PATIENT_MS)).not.toBeNull();
  });

  it('may be another one than the provider’s, such as a local server without a key', async () => {
    const local = await startUpstream();
    config = settings({ api_base: `${local.url}/v1`, model: 'nomic-embed-text' });
    begin();
    expect(await embeddings.query('x', PATIENT_MS)).not.toBeNull();
    expect(local.last).toMatchObject({ path: '/v1/embeddings' });
    expect(local.last.headers.authorization).toBeUndefined();
    await local.close();
  });

  it('is asked for a size only where one is set', async () => {
    config = settings({ model: 'text-embedding-3-small', dimensions: 16 });
    begin();
    expect((await embeddings.query('x', PATIENT_MS))?.length).toBe(16);
    config = settings({ model: 'embed-small', dimensions: 16 });
    embeddings.configure();
    expect(await embeddings.query('x', PATIENT_MS)).toBeNull();
    expect(embeddings.describe()).toMatch(/does not support specifying dimensions/);
  });

  it('cannot be Anthropic’s, and that is said', () => {
    config = settings({}, { wire: 'anthropic' });
    begin();
    expect(embeddings.describe()).toMatch(/no embeddings endpoint.*embeddings\.api_base/);
  });

  it('with a wrong address is said', () => {
    config = settings({ api_base: 'ftp://x' });
    begin();
    expect(embeddings.describe()).toMatch(/not an http or https address/);
  });

  it('that refuses the key is asked again with another key', async () => {
    config = settings({ api_key: 'sk-wrong' });
    texts = ['one'];
    begin();
    await until(() => /401/.test(embeddings.describe()));
    expect(asked()).toHaveLength(1);
    config = settings();
    embeddings.configure();
    await until(() => stored('one'));
  });
});
