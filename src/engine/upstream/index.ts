import type { Config } from '../../shared/config.ts';
import type {
  LearnedQuirk,
  LocalServer,
  ProviderPreset,
  ProviderTest,
  VendorProgram,
} from '../../shared/contract.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Dialect } from '../../shared/model.ts';
import type { ProviderTrouble } from '../../shared/status.ts';
import type { OwnPurpose } from '../../shared/usage.ts';
import type { Logger } from '../platform/logger.ts';
import type { CallMeter, ChatModel, Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import { addressExtras, apiRoot, isLocalUrl } from './address.ts';
import { createChatModel } from './chat-model.ts';
import { installedPrograms } from './cli-login/find.ts';
import { CliLogin } from './cli-login/index.ts';
import { PROGRAMS_CHOICE } from './cli-login/programs.ts';
import { testProgram } from './cli-login/provider-test.ts';
import { programBase, programRoute } from './cli-login/route.ts';
import { withCredentials } from './credentials.ts';
import type { EmbeddingTarget } from './embed-call.ts';
import { Embeddings } from './embeddings.ts';
import type { Env } from './env-proxy.ts';
import { Connections, type UpstreamReply } from './exchange.ts';
import { failureError, hostPort } from './failure.ts';
import { LearnedQuirks } from './learned.ts';
import { lessonOf, withLesson } from './lesson.ts';
import { findLocalServers, type LocalPorts } from './local.ts';
import { openrouterHeaders, openrouterOptions } from './openrouter.ts';
import { outageOf, Rests, retryAfterMs, UNREACHABLE } from './outage.ts';
import { presetOf, providerPresets, type Quirks, quirksOf, wireOf } from './presets.ts';
import { testProvider } from './provider-test.ts';
import type { Route, UpstreamRequest } from './route.ts';

export type { BodySink, UpstreamReply } from './exchange.ts';
export type { Quirks } from './presets.ts';
export type { Route, UpstreamRequest } from './route.ts';

export interface ProviderInput {
  provider: string;
  baseUrl: string;
  model: string;
  wire: 'auto' | Dialect;
  apiKey?: string | undefined;
}

export interface UpstreamDeps {
  config: () => Config;
  clock: Clock;
  log: Logger;
  /** Keeps what refusals taught; null: in memory only. */
  database?: Database | null;
  /** May name proxies (`HTTPS_PROXY`, `NO_PROXY` and the like). Default: none. */
  env?: Env;
  /** Private folder of the vendors' programs that answer on this computer. Default: a temporary one. */
  programsFolder?: string;
  /** Called when the provider's trouble began or ended. */
  onTrouble?: () => void;
  /** Counts our own calls and keeps the day's cap. */
  meter: CallMeter;
}

const ANTHROPIC_VERSION = '2023-06-01';

/** The providers: which one answers a model name, and the calls to it. */
export class Upstream {
  readonly #deps: UpstreamDeps;
  readonly #connections: Connections;
  readonly #learned: LearnedQuirks;
  readonly #rests: Rests;
  readonly #programs: CliLogin;
  #trouble: ProviderTrouble | null = null;

  constructor(deps: UpstreamDeps) {
    this.#deps = deps;
    this.#connections = new Connections(deps.env);
    this.#learned = new LearnedQuirks(deps.database ?? null, deps.log);
    this.#rests = new Rests(deps.clock);
    const { clock, log, env = {}, programsFolder: folder } = deps;
    this.#programs = new CliLogin({ clock, log, env, folder });
  }

  /**
   * Route of a request. The served name and unknown names go to `llm.model_id`, names in `llm.models` pass as they
   * are, and an agent's own `llm` settings win. A client of the Responses API is answered on that wire where the
   * provider is known to have it. Throws PROVIDER_NOT_SET.
   */
  resolve(requestedModel: string, agent: string, dialect?: Dialect): Route {
    const config = this.#deps.config();
    const own = config.agents[agent]?.llm ?? {};
    const llm = config.llm;
    // A provider or address of the agent's own brings its own key; only the model may be inherited then.
    const apart =
      Boolean(own.api_base) ||
      (Boolean(own.provider) && own.provider !== 'custom' && own.provider !== llm.provider);
    const provider = (apart ? own.provider : llm.provider) || 'custom';
    const given = (apart ? own.api_base : llm.api_base) ?? '';
    // Whoever lets the caller's credentials go to one provider did not say that of another.
    const method = own.auth_method ?? (apart || own.api_key ? 'api_key' : llm.auth_method);
    const base = programBase(provider, method, given) ?? (given || presetBase(provider, config));
    const modelId = own.model_id || llm.model_id;
    const models = [...(own.models ?? []), ...llm.models];
    // Names that Claude Code will list carry the prefix; behind it stands a name of ours.
    const asked = models.includes(requestedModel) ? requestedModel : requestedModel.replace(/^claude-/, '');
    const model = models.includes(asked) ? asked : modelId || requestedModel;
    const passthrough = method === 'passthrough';
    if (base === '')
      throw new AppError('PROVIDER_NOT_SET', 'No model provider is set up yet.', {
        hint: 'Run `metaclaw setup`, or open the window and choose a provider.',
        field: 'llm.api_base',
      });
    if (model === '')
      throw new AppError('PROVIDER_NOT_SET', 'No model is set.', {
        hint: 'Run `metaclaw config llm.model_id NAME`, or name a model in the request.',
        field: 'llm.model_id',
      });
    const wire = wireOf((apart ? own.wire : llm.wire) ?? 'auto', provider, base, dialect);
    const apiKey = own.api_key || (apart ? '' : llm.api_key);
    const token = method === 'oauth_token' ? apiKey : '';
    return (
      programRoute(base, provider, model, token) ??
      this.#route(provider, base, wire, model, apiKey, passthrough)
    );
  }

  /**
   * The routes of a request in the order in which they are asked: the resolved one, then `llm.fallbacks`; those that
   * failed lately stand last. An agent with a provider of its own has no fallbacks: its words go nowhere else. What is
   * private and answered by a model of this computer does not leave it.
   */
  chain(first: Route, agent: string, isPrivate = false): Route[] {
    const config = this.#deps.config();
    const own = config.agents[agent]?.llm ?? {};
    if (own.api_base || own.provider) return [first];
    const others = config.llm.fallbacks.flatMap((fallback) => {
      const provider = fallback.provider || 'custom';
      const base = fallback.api_base || presetBase(provider, config);
      const model = fallback.model_id || first.model;
      const program = programBase(provider, undefined, fallback.api_base);
      if (program !== null)
        return programRoute(program, provider, fallback.model_id || PROGRAMS_CHOICE, '') ?? [];
      try {
        const wire = wireOf(fallback.wire, provider, base);
        return [this.#route(provider, base, wire, model, fallback.api_key, false)];
      } catch (error) {
        // A fallback without a usable address must not keep the first provider from answering.
        this.#deps.log.warn({ err: error, provider }, 'a fallback is left out');
        return [];
      }
    });
    const staysHere = isPrivate && isLocalUrl(first.baseUrl);
    const routes = [first, ...others.filter((route) => !staysHere || isLocalUrl(route.baseUrl))];
    const resting = new Set(routes.filter((route) => this.#rests.isResting(route)));
    return [...routes.filter((route) => !resting.has(route)), ...resting];
  }

  /** A good answer: the provider is back. */
  answered(route: Route): void {
    this.#rests.end(route);
  }

  /** A refusal: true when the next provider should be asked, because this one is at fault. */
  failed(route: Route, reply: Pick<UpstreamReply, 'status' | 'headers'>, text: string): boolean {
    const outage = outageOf(route, reply, text, this.#deps.clock.now());
    if (outage) this.#rests.begin(route, outage);
    return outage !== null;
  }

  /** Milliseconds that a refusal asks to wait; null when it does not say. */
  askedWaitMs({ headers }: Pick<UpstreamReply, 'headers'>): number | null {
    return retryAfterMs(headers, this.#deps.clock.now());
  }

  /** No answer came. */
  unreachable(route: Route): void {
    this.#rests.begin(route, UNREACHABLE);
  }

  /** Providers that are passed over for the moment, in words; empty without fallbacks. */
  detours(): string[] {
    if (this.#deps.config().llm.fallbacks.length === 0) return [];
    return this.#rests
      .list()
      .map(
        ({ name, reason }) =>
          `${name} is passed over for now (${REST_WORDS[reason]}); the next of llm.fallbacks answers.`,
      );
  }

  /**
   * Learns from a refused request what this model at this host does not take. Returns the route as it is to be spoken
   * to instead, what was complained of, and what to remember once that has proved right; null when the refusal teaches
   * nothing or the user's own setting stands.
   */
  learn(
    route: Route,
    status: number,
    errorText: string,
    sentBody: Uint8Array,
  ): { route: Route; gist: string; remember: () => void } | null {
    if (route.program !== null) return null;
    const taught = lessonOf(route, status, errorText, sentBody);
    if (taught === null) return null;
    const { lesson, lasting, gist } = taught;
    const fixed = this.#userQuirks(route);
    if (Object.keys(lesson).some((name) => name in fixed)) return null;
    return {
      route: { ...route, quirks: withLesson(route.quirks, lesson) },
      gist,
      remember: () => {
        if (lasting) this.#learned.add(route, lesson);
      },
    };
  }

  /** What refusals taught so far, the newest first. */
  learnedQuirks(): LearnedQuirk[] {
    return this.#learned.list();
  }

  /** Forgets it for a host's models, or for one of them; null: for all. Returns of how many models. */
  forgetQuirks(host: string | null, model: string | null): number {
    return this.#learned.forget(host, model);
  }

  /** Names that clients may ask for, the served one first. */
  models(): string[] {
    const { model_id, models } = this.#deps.config().llm;
    return [...new Set([model_id, ...models].filter((name) => name !== ''))];
  }

  /** Sends a request on a route. Rejects with AppError UPSTREAM_* when no answer came. */
  async send(route: Route, request: UpstreamRequest): Promise<UpstreamReply> {
    const { program } = route;
    if (program !== null) return this.#programs.send({ ...route, program }, request);
    const url = new URL(`${route.baseUrl}${request.path}`);
    for (const [name, value] of new URLSearchParams(route.query))
      if (!url.searchParams.has(name)) url.searchParams.append(name, value);
    const headers = withCredentials(route, request.headers);
    if (route.wire === 'anthropic') headers['anthropic-version'] ??= ANTHROPIC_VERSION;
    try {
      return await this.#connections.send({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: request.method,
        headers,
        body: request.body,
        ...(request.signal ? { signal: request.signal } : {}),
      });
    } catch (error) {
      throw failureError(error, route.baseUrl);
    }
  }

  /** A model for background work: `rl.evolver_*` where set, else the LLM. Throws PROVIDER_NOT_SET when used without one. */
  chatModel(purpose: Exclude<OwnPurpose, 'provider-test'>): ChatModel {
    return createChatModel({
      route: () => this.#evolverRoute(),
      send: (route, request) => this.send(route, request),
      meter: this.#deps.meter,
      purpose,
    });
  }

  /** The embeddings endpoint of the settings; it must be told when they change. */
  embeddings(log: Logger, database: Database): Embeddings {
    const { clock, meter } = this.#deps;
    return new Embeddings({
      target: () => this.#embeddingTarget(),
      send: (route, request) => this.send(route, request),
      meter,
      database,
      clock,
      log,
    });
  }

  /** The model that `chatModel` asks; null without a provider. */
  backgroundModel(): { upstream: string; host: string; model: string } | null {
    try {
      const { name: upstream, host, model } = this.#evolverRoute();
      return { upstream, host, model };
    } catch {
      // No provider, or an address that is none: asking says which.
      return null;
    }
  }

  /** Tries a provider for real, step by step; stops at the first failure and says what to do. */
  test(input: ProviderInput, signal?: AbortSignal): Promise<ProviderTest> {
    const preset = presetOf(input.provider);
    const { llm } = this.#deps.config();
    const apiKey =
      input.apiKey ?? (input.provider === llm.provider || input.provider === 'custom' ? llm.api_key : '');
    const method = input.provider === llm.provider ? llm.auth_method : 'api_key';
    const own = programBase(input.provider, method, input.baseUrl);
    const token = method === 'oauth_token' ? apiKey : '';
    const program = own && programRoute(own, input.provider, input.model || PROGRAMS_CHOICE, token);
    const asker = {
      send: (route: Route, request: UpstreamRequest) => this.send(route, request),
      meter: this.#deps.meter,
      purpose: 'provider-test' as const,
      sessionId: null,
      clock: this.#deps.clock,
      signal: signal ?? null,
    };
    if (program) return testProgram({ ...asker, route: program, env: this.#deps.env ?? {} });
    const base = input.baseUrl || presetBase(input.provider, this.#deps.config());
    return testProvider({
      preset,
      route: () =>
        this.#route(
          input.provider,
          base,
          wireOf(input.wire, input.provider, base),
          input.model,
          apiKey,
          false,
        ),
      ...asker,
    });
  }

  presets(): ProviderPreset[] {
    return providerPresets();
  }

  /** The vendors' programs that are installed on this computer. */
  programs(): Promise<VendorProgram[]> {
    return installedPrograms(this.#deps.env ?? {});
  }

  /** Model servers that run on this computer, and vendors' programs that can answer. `ports` is for tests. */
  async detectLocal(ports?: Partial<LocalPorts>): Promise<LocalServer[]> {
    const [servers, programs] = await Promise.all([
      findLocalServers(this.#deps.clock, this.#connections, ports),
      this.programs(),
    ]);
    const asServers = programs.map(({ provider, title }) => ({
      preset: provider,
      name: title,
      baseUrl: '',
      models: [PROGRAMS_CHOICE],
    }));
    return [...servers, ...asServers];
  }

  /** The provider's last failure, until it answers again. */
  trouble(): ProviderTrouble | null {
    return this.#trouble;
  }

  /** Notes how a call ended: null for a good answer. */
  note(trouble: { status: number | null; message: string } | null): void {
    if (trouble === null && this.#trouble === null) return;
    const since = this.#trouble?.since ?? new Date(this.#deps.clock.now()).toISOString();
    this.#trouble = trouble && { ...trouble, since };
    this.#deps.onTrouble?.();
  }

  async close(): Promise<void> {
    await Promise.all([this.#connections.close(), this.#programs.close()]);
  }

  #route(
    provider: string,
    base: string,
    wire: Dialect,
    model: string,
    apiKey: string,
    passthrough: boolean,
  ): Route {
    const baseUrl = apiRoot(base, wire);
    const isOpenrouter = presetOf(provider).id === 'openrouter' || new URL(baseUrl).host === 'openrouter.ai';
    const { openrouter } = this.#deps.config();
    return {
      name: provider,
      baseUrl,
      host: new URL(baseUrl).host,
      program: null,
      wire,
      model,
      apiKey,
      passthrough,
      headers: isOpenrouter ? openrouterHeaders(openrouter) : {},
      ...addressExtras(base),
      options: isOpenrouter ? openrouterOptions(openrouter, model) : {},
      quirks: {
        ...withLesson(quirksOf(provider, baseUrl, model), this.#learned.of(baseUrl, model)),
        ...this.#userQuirks({ baseUrl }),
      },
    };
  }

  /** `llm.compat` stands above everything that is known or learned, for the provider that it is about. */
  #userQuirks({ baseUrl }: Pick<Route, 'baseUrl'>): Partial<Quirks> {
    const config = this.#deps.config();
    const { compat, provider, api_base } = config.llm;
    const quirks: Partial<Quirks> = {};
    if (compat.developer_role !== 'auto') quirks.developerRole = compat.developer_role === 'true';
    if (compat.one_leading_system !== 'auto') quirks.oneLeadingSystem = compat.one_leading_system === 'true';
    if (compat.text_only !== 'auto') quirks.textOnly = compat.text_only === 'true';
    if (compat.reasoning !== 'auto') quirks.reasoning = compat.reasoning;
    if (compat.max_tokens_field !== 'auto')
      Object.assign(quirks, { maxTokensField: compat.max_tokens_field, renameMaxTokens: true });
    if (Object.keys(quirks).length === 0) return quirks;
    const base = api_base || presetBase(provider || 'custom', config);
    return hostPort(baseUrl) === hostOfBase(base) ? quirks : {};
  }

  #embeddingTarget(): EmbeddingTarget | { why: string } {
    const { embeddings, private: isPrivate } = this.#deps.config();
    const { model, api_base: base, api_key: key, dimensions } = embeddings;
    if (model === '') return { why: NO_EMBEDDINGS };
    if (isPrivate)
      return {
        why: 'Private mode is on: nothing goes to the embeddings endpoint, texts are searched by words.',
      };
    try {
      if (base !== '') return { route: this.#route('custom', base, 'openai', model, key, false), dimensions };
      const route = this.resolve('', '');
      if (route.program !== null || route.wire === 'anthropic')
        return {
          why: `${route.name} has no embeddings endpoint: set embeddings.api_base. Until then texts are searched by words.`,
        };
      const own = { wire: 'openai', model, apiKey: key || route.apiKey, passthrough: false } as const;
      return { route: { ...route, ...own, options: {} }, dimensions };
    } catch (error) {
      return { why: `Embeddings: ${messageOf(error)} Until then texts are searched by words.` };
    }
  }

  #evolverRoute(): Route {
    const { rl } = this.#deps.config();
    const llm = () => this.resolve('', '');
    if (rl.evolver_api_base === '' && rl.evolver_provider === '')
      return rl.evolver_model === '' ? llm() : { ...llm(), model: rl.evolver_model };
    const provider = rl.evolver_provider || 'custom';
    const base = rl.evolver_api_base || presetBase(provider, this.#deps.config());
    const program = programBase(provider, undefined, rl.evolver_api_base);
    const ofProgram = program && programRoute(program, provider, rl.evolver_model || PROGRAMS_CHOICE, '');
    if (ofProgram) return ofProgram;
    if (base === '') return { ...llm(), ...(rl.evolver_model ? { model: rl.evolver_model } : {}) };
    const model = rl.evolver_model || this.#deps.config().llm.model_id;
    return this.#route(provider, base, wireOf('auto', provider, base), model, rl.evolver_api_key, false);
  }
}

const NO_EMBEDDINGS = 'No embeddings endpoint is set (embeddings.model): texts are searched by words.';

const REST_WORDS = {
  limit: 'its rate limit is reached',
  key: 'it refuses the key',
  payment: 'it wants to be paid',
  model: 'it does not know the model',
  program: 'its program is not installed',
  down: 'it does not answer',
} as const;

/** Throws CONFIG_INVALID, saying why, for a base URL that no provider can be reached at. */
export function checkAddress(baseUrl: string): void {
  apiRoot(baseUrl, 'openai');
}

/** Host and port of an address as the user spelt it; empty for what is none. */
function hostOfBase(base: string): string {
  try {
    return hostPort(apiRoot(base, 'openai'));
  } catch {
    return '';
  }
}

/** Address of a preset; Bedrock's carries its region. */
function presetBase(provider: string, config: Config): string {
  // The original's name for OpenAI's models with a key of OpenAI's.
  const { baseUrl, id } = presetOf(provider === 'openai-codex' ? 'openai' : provider);
  return id === 'bedrock' ? baseUrl.replace('us-east-1', config.llm.bedrock_region) : baseUrl;
}
