import { lookup } from 'node:dns/promises';
import type { ProviderPreset, ProviderTest, ProviderTestStep } from '../../shared/contract.ts';
import { AppError } from '../../shared/errors.ts';
import type { Clock } from '../ports.ts';
import { chatPath, providerWords, questionBody } from './chat-model.ts';
import { explainFailure, hostPort } from './failure.ts';
import { type Asker, askOwn } from './own-call.ts';
import type { Route } from './route.ts';

export interface ProviderTestDeps extends Asker {
  preset: ProviderPreset;
  /** Throws when the address is none. */
  route: () => Route;
  clock: Clock;
  signal: AbortSignal | null;
}

const STEPS = ['address', 'connection', 'key', 'models', 'answer'] as const;
const LIST_MS = 12_000;
const ANSWER_MS = 60_000;
const MOST_BYTES = 8 * 1024 * 1024;

/** A step that failed, with the one thing to do about it. */
class StepFailed extends Error {
  readonly step: ProviderTestStep['id'];
  readonly fix: string;

  constructor(step: ProviderTestStep['id'], message: string, fix: string) {
    super(message);
    this.step = step;
    this.fix = fix;
  }
}

interface Answer {
  status: number;
  text: string;
  isJson: boolean;
}

/** The live test of the wizard: each step is a real call, and what it finds out is said in words. */
export async function testProvider(deps: ProviderTestDeps): Promise<ProviderTest> {
  const steps: ProviderTestStep[] = [];
  const models: string[] = [];
  let began = performance.now();
  const pass = (id: ProviderTestStep['id'], detail: string, state: 'ok' | 'skipped' = 'ok') => {
    const now = performance.now();
    steps.push({ id, state, detail, ms: Math.round(now - began), fix: null });
    began = now;
  };
  try {
    const route = await checkAddress(deps);
    pass('address', route.baseUrl);
    const list = await ask(deps, route, 'connection', '/models', null, LIST_MS);
    pass('connection', `${hostPort(route.baseUrl)} answers.`);
    checkKey(deps.preset, route, list);
    pass('key', route.apiKey === '' ? 'No key is needed.' : 'The key was accepted.');
    models.push(...readModels(list));
    if (models.length > 0) pass('models', describeModels(models, route.model));
    else pass('models', 'The provider lists no models.', 'skipped');
    if (route.model === '') pass('answer', 'Choose a model to get an answer from it.', 'skipped');
    else {
      const body = questionBody(route, { system: '', user: 'Reply with the word ready.', maxTokens: 64 });
      const answer = await ask(deps, route, 'answer', chatPath(route), body, ANSWER_MS);
      checkAnswer(route, answer, models);
      pass('answer', `${route.model} answered.`);
    }
  } catch (error) {
    const failed = error instanceof StepFailed ? error : asStepFailed(error);
    const ms = Math.round(performance.now() - began);
    const at = STEPS.indexOf(failed.step);
    // A later call can show that an earlier step did not hold after all, e.g. a key that only lists models.
    steps.length = Math.min(steps.length, at);
    steps.push({ id: failed.step, state: 'failed', detail: failed.message, ms, fix: failed.fix });
    for (const id of STEPS.slice(at + 1)) steps.push({ id, state: 'skipped', detail: '', ms: 0, fix: null });
  }
  return { ok: steps.every((step) => step.state !== 'failed'), steps, models };
}

async function checkAddress(deps: ProviderTestDeps): Promise<Route> {
  const route = deps.route();
  const { hostname } = new URL(route.baseUrl);
  try {
    await lookup(hostname.replace(/^\[|\]$/g, ''));
  } catch (error) {
    const failure = explainFailure(error, route.baseUrl);
    throw new StepFailed('address', failure.message, failure.fix);
  }
  return route;
}

function asStepFailed(error: unknown): StepFailed {
  if (error instanceof AppError)
    return new StepFailed('address', error.message, error.hint ?? 'Correct the address.');
  throw error;
}

async function ask(
  deps: ProviderTestDeps,
  route: Route,
  step: ProviderTestStep['id'],
  path: string,
  body: object | null,
  limitMs: number,
): Promise<Answer> {
  const abort = new AbortController();
  let late = false;
  const cancel = deps.clock.after(limitMs, () => {
    late = true;
    abort.abort();
  });
  const onAbort = () => abort.abort();
  deps.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const { status, text } =
      body === null
        ? await look(deps, route, path, abort.signal)
        : await askOwn(deps, route, { path, body, signal: abort.signal }, MOST_BYTES);
    return { status, text, isJson: isJson(text) };
  } catch (error) {
    const place = step === 'answer' ? 'answer' : 'connection';
    if (late)
      throw new StepFailed(
        place,
        `${hostPort(route.baseUrl)} did not answer within ${limitMs / 1000} seconds.`,
        step === 'answer'
          ? 'Try a smaller model, or wait until the server has loaded it.'
          : 'Check that the address can be reached from this network, then try again.',
      );
    const failure = explainFailure(error instanceof AppError ? error.cause : error, route.baseUrl);
    throw new StepFailed(failure.kind === 'dns' ? 'address' : place, failure.message, failure.fix);
  } finally {
    cancel();
    deps.signal?.removeEventListener('abort', onAbort);
  }
}

/** A GET, which costs nothing. */
async function look(deps: ProviderTestDeps, route: Route, path: string, signal: AbortSignal) {
  const headers = { accept: 'application/json', 'accept-encoding': 'identity' };
  const reply = await deps.send(route, { path, method: 'GET', headers, body: null, signal });
  return { status: reply.status, text: (await reply.body.bytes(MOST_BYTES)).toString('utf8') };
}

function checkKey(preset: ProviderPreset, route: Route, list: Answer): void {
  if (list.status === 401 || list.status === 403) throw keyFailed(preset, route, list);
  if (preset.needsKey && route.apiKey === '')
    throw new StepFailed(
      'key',
      `${preset.name} needs a key.`,
      `Paste a key${preset.keyEnv ? ` (${preset.keyEnv})` : ''}.`,
    );
}

function keyFailed(preset: ProviderPreset, route: Route, answer: Answer): StepFailed {
  const words = masked(route, providerWords(answer.text));
  if (route.apiKey === '')
    return new StepFailed('key', `The provider asks for a key (${answer.status}): ${words}`, 'Paste a key.');
  const name = preset.id === 'custom' ? hostPort(route.baseUrl) : preset.name;
  return new StepFailed(
    'key',
    answer.status === 401
      ? `${name} refused the key (401): ${words}`
      : `The key is not allowed to do this (403): ${words}`,
    answer.status === 401
      ? 'Paste the key again, whole and without spaces, or make a new one in the provider’s console.'
      : 'Use a key that has access to chat models, or check that the provider serves your region.',
  );
}

function readModels(list: Answer): string[] {
  if (list.status === 404 || list.status === 405 || list.status === 501) return [];
  if (list.status === 402 || list.status === 429) throw quotaFailed('models', list);
  if (list.status >= 500)
    throw new StepFailed(
      'models',
      `The provider has trouble (${list.status}): ${providerWords(list.text)}`,
      'Try again in a few minutes.',
    );
  if (!list.isJson)
    throw new StepFailed(
      'models',
      `The address answers with something that is no API: ${providerWords(list.text).slice(0, 120)}`,
      'Use the address of the API, not of the website; it often ends with /v1.',
    );
  const { data, models } = JSON.parse(list.text) as { data?: unknown; models?: unknown };
  const rows = Array.isArray(data) ? data : Array.isArray(models) ? models : [];
  return rows.flatMap((row: { id?: unknown; name?: unknown }) => {
    const id = row?.id ?? row?.name;
    return typeof id === 'string' ? [id] : [];
  });
}

function describeModels(models: readonly string[], wanted: string): string {
  const count = `${models.length} ${models.length === 1 ? 'model' : 'models'}`;
  if (wanted === '' || models.includes(wanted)) return `${count} available.`;
  return `${count} available; ${wanted} is not in the list.`;
}

/** The list that an answer has on each wire. */
const ANSWER_FIELDS = { openai: 'choices', anthropic: 'content', responses: 'output' } as const;

function checkAnswer(route: Route, answer: Answer, models: readonly string[]): void {
  const { status, text } = answer;
  const words = masked(route, providerWords(text));
  if (status === 401 || status === 403)
    throw new StepFailed(
      'key',
      `The provider refused the key (${status}): ${words}`,
      'Paste a key that may use this model.',
    );
  if (status === 402 || status === 429 || /insufficient.{0,10}(?:quota|balance|credit)/i.test(words))
    throw quotaFailed('answer', answer);
  if (
    status === 404 ||
    /model.{0,60}(?:not (?:found|exist|supported)|does not exist|unknown)|(?:no such|unknown) model/i.test(
      words,
    )
  ) {
    const near = models.slice(0, 3).join(', ');
    throw new StepFailed(
      'answer',
      `The provider does not know ${route.model} at this address (${status}): ${words}`,
      near === '' ? 'Check the model’s name and the address.' : `Choose one of its models, e.g. ${near}.`,
    );
  }
  if (status >= 500)
    throw new StepFailed(
      'answer',
      `The provider has trouble (${status}): ${words}`,
      'Try again in a few minutes.',
    );
  if (status !== 200)
    throw new StepFailed(
      'answer',
      `The provider refused the request (${status}): ${words}`,
      'Choose another model, or the other wire.',
    );
  const json = answer.isJson ? (JSON.parse(text) as Record<string, unknown>) : null;
  const shaped = Array.isArray(json?.[ANSWER_FIELDS[route.wire]]);
  if (!shaped)
    throw new StepFailed(
      'answer',
      'The answer has not the shape of a chat answer.',
      json === null
        ? 'Use the address of the API, not of the website; it often ends with /v1.'
        : `Set the wire to ${route.wire === 'anthropic' ? 'openai' : 'anthropic'}.`,
    );
}

function quotaFailed(step: ProviderTestStep['id'], answer: Answer): StepFailed {
  const waits = answer.status === 429 && !/quota|balance|credit|billing/i.test(answer.text);
  return new StepFailed(
    step,
    waits
      ? `The provider limits the rate right now (${answer.status}): ${providerWords(answer.text)}`
      : `The account has no credit left (${answer.status}): ${providerWords(answer.text)}`,
    waits ? 'Wait a minute, then try again.' : 'Add credit in the provider’s console, or use another key.',
  );
}

function masked(route: Route, words: string): string {
  return route.apiKey === '' ? words : words.replaceAll(route.apiKey, '***');
}

function isJson(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null;
  } catch {
    return false;
  }
}
