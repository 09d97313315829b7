import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createParser } from 'eventsource-parser';
import { stringify } from 'yaml';
import type { Call, DemoEvent } from '../../shared/contract.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Clock, Ports } from '../ports.ts';
import { DEMO_EVOLVER, DEMO_MODEL, startDemoModel } from './model.ts';

/** The part of the engine that the demo drives. */
interface DemoEngine {
  call: Call;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface DemoOptions {
  /** The real engine's constructor: only the model is scripted. */
  createEngine: (ports: Ports) => Promise<DemoEngine>;
  skillsBank: string;
  version: string;
  clock: Clock;
  onEvent: (event: DemoEvent) => void;
}

const TIMEOUT_MS = 25_000;

/**
 * Shows the whole loop offline in a few seconds: a conversation, what was added to it, the skill that is learned
 * from it, its acceptance, and the next conversation that carries it. Goes through the real proxy, store and
 * learner, in a throw-away state folder that is removed in the end. Rejects with AppError when a step fails.
 */
export async function runDemo(options: DemoOptions): Promise<void> {
  const { onEvent } = options;
  const home = await mkdtemp(join(tmpdir(), 'metaclaw-demo-'));
  const model = await startDemoModel();
  let engine: DemoEngine | null = null;
  try {
    engine = await startEngine(options, home, model.baseUrl);
    const { openai } = await engine.call('proxy.endpoints', {});
    onEvent({
      step: 'start',
      text: `The demo proxy listens on ${openai}; a scripted model answers (${DEMO_MODEL}).`,
    });

    const first = await chat(openai, 'demo-1', [
      'A test passes on my machine but fails in CI. Where do I start debugging?',
    ]);
    onEvent({ step: 'first-turn', text: `Turn 1 was answered. ${describeInjected(first.injected)}` });
    const second = await chat(
      openai,
      'demo-1',
      [
        'A test passes on my machine but fails in CI. Where do I start debugging?',
        first.text,
        'No, we always rule out dependency drift first: clean install from the lock file, compare the trees, only then read the test. Remember that.',
      ],
      { 'x-session-done': 'true' },
    );
    onEvent({
      step: 'first-turn',
      text: `Turn 2 corrected it, and the session ended. ${describeInjected(second.injected)}`,
    });

    const waiting = engine;
    const proposal = await until(options.clock, 'no skill was proposed', async () => {
      const list = await waiting.call('proposals.list', { state: 'waiting' });
      return list[0] ?? null;
    });
    onEvent({
      step: 'learn',
      text: `The session taught a skill: ${proposal.name}. ${proposal.reason}`.trim(),
    });
    const accepted = await engine.call('proposals.accept', { id: proposal.id });
    onEvent({ step: 'accept', text: `Accepted: ${accepted.skill} is in the library now.` });

    const third = await chat(openai, 'demo-2', [
      'This time a test fails only in CI and passes locally again. What should I check first?',
    ]);
    if (!third.injected.some((id) => id.includes(accepted.skill)))
      throw new AppError('INTERNAL', `The next conversation did not carry ${accepted.skill}.`);
    onEvent({
      step: 'second-turn',
      text: `A new conversation carried it. ${describeInjected(third.injected)}`,
    });
  } catch (error) {
    onEvent({ step: 'failed', text: `The demo stopped: ${messageOf(error)}` });
    throw error;
  } finally {
    await engine?.stop();
    await model.close();
    await rm(home, { recursive: true, force: true });
  }
  onEvent({
    step: 'done',
    text: 'That is the whole loop. The demo’s folder is gone; nothing of yours was touched.',
  });
}

async function startEngine(options: DemoOptions, home: string, baseUrl: string): Promise<DemoEngine> {
  const configFile = join(home, 'config.yaml');
  const config = {
    mode: 'skills_only',
    llm: { provider: 'custom', api_base: baseUrl, api_key: 'demo', model_id: DEMO_MODEL },
    proxy: { host: '127.0.0.1', port: 0 },
    skills: { dir: join(home, 'skills'), auto_accept: 'ask' },
    learning: { holdout: 0 },
    rl: { evolver_api_base: baseUrl, evolver_api_key: 'demo', evolver_model: DEMO_EVOLVER },
  };
  await writeFile(configFile, stringify(config), { mode: 0o600 });
  const engine = await options.createEngine({
    host: 'daemon',
    version: options.version,
    home,
    configFile,
    skillsBank: options.skillsBank,
    env: {},
    clock: options.clock,
    secrets: noSecrets(),
    overrides: {},
    logToStderr: false,
  });
  await engine.start();
  return engine;
}

/** The demo's keys stand in its throw-away config. */
function noSecrets(): Ports['secrets'] {
  return {
    get: () => null,
    set: () => {},
    clear: () => {},
    names: () => [],
    describe: () => ({ kind: 'file', detail: 'the demo keeps no secrets' }),
  };
}

/** One streamed turn; `texts` alternate user and assistant. */
async function chat(
  base: string,
  session: string,
  texts: readonly string[],
  headers: Record<string, string> = {},
): Promise<{ text: string; injected: string[] }> {
  const messages = texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));
  const response = await fetch(`${base}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-metaclaw-session': session, ...headers },
    body: JSON.stringify({
      model: DEMO_MODEL,
      stream: true,
      messages: [{ role: 'system', content: 'You are a careful software engineer.' }, ...messages],
    }),
  });
  const body = await response.text();
  if (!response.ok)
    throw new AppError('INTERNAL', `The demo proxy answered ${response.status}: ${body.slice(0, 200)}`);
  let text = '';
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === '[DONE]') return;
      const chunk = JSON.parse(data) as { choices: { delta: { content?: string } }[] };
      text += chunk.choices[0]?.delta.content ?? '';
    },
  });
  parser.feed(body);
  const injected = (response.headers.get('x-metaclaw-injected') ?? '').split(',').map((id) => id.trim());
  return { text, injected: injected.filter(Boolean) };
}

function describeInjected(ids: readonly string[]): string {
  return ids.length === 0 ? 'No skill fitted it yet.' : `Added to it: ${ids.join(', ')}.`;
}

async function until<T>(clock: Clock, failure: string, probe: () => Promise<T | null>): Promise<T> {
  const deadline = clock.now() + TIMEOUT_MS;
  for (;;) {
    const found = await probe();
    if (found !== null) return found;
    if (clock.now() > deadline) throw new AppError('INTERNAL', `${failure} within ${TIMEOUT_MS / 1000} s`);
    await new Promise<void>((resolve) => {
      clock.after(50, resolve);
    });
  }
}
