/** What OpenClaw hands to a plugin's hooks. */
export interface AgentMessage {
  role: string;
  content: string | { type: string; text?: string }[];
}

interface SearchResult {
  unit: { memory_id: string; memory_type: string; content: string; summary: string; tags: string[] };
  score: number;
  reason?: string;
}

/**
 * The OpenClaw memory plugin of the original as a sidecar meets it: its calls with their bodies, what it reads of the
 * replies and how it words them. It polls until the sidecar is healthy, recalls before each prompt, buffers the new
 * turns after each run, and flushes when a session ends. Its count of what was sent lives in memory.
 */
export class MemoryPlugin {
  readonly #base: string;
  readonly #scope: string;
  readonly #sent = new Map<string, number>();
  /** What its hooks logged as errors; a gateway shows them to the user. */
  readonly errors: string[] = [];

  constructor(base: string, { scope = 'default' }: { scope?: string } = {}) {
    this.#base = base;
    this.#scope = scope;
  }

  async waitForReady(): Promise<boolean> {
    const response = await fetch(`${this.#base}/health`);
    return response.ok;
  }

  /** `before_prompt_build`; the newer context engine adds the same block to the system prompt. */
  async beforePrompt(prompt: string): Promise<{ prependContext?: string }> {
    try {
      const reply = await this.#request('/retrieve', { task_description: prompt, scope_id: this.#scope });
      return reply.unit_count > 0 && reply.rendered_prompt ? { prependContext: reply.rendered_prompt } : {};
    } catch (error) {
      this.errors.push(String(error));
      return {};
    }
  }

  /** `agent_end` with the whole history of the session. */
  async agentEnd(sessionId: string, messages: readonly AgentMessage[]): Promise<void> {
    try {
      const turns: { prompt_text: string; response_text: string }[] = [];
      let prompt: string | null = null;
      for (const { role, content } of messages) {
        const text =
          typeof content === 'string'
            ? content
            : content.flatMap((part) => (part.type === 'text' ? (part.text ?? []) : [])).join('\n');
        if (text === '') continue;
        if (role === 'user') prompt = text;
        else if (role === 'assistant' && prompt !== null) {
          turns.push({ prompt_text: prompt, response_text: text });
          prompt = null;
        }
      }
      for (const turn of turns.slice(this.#sent.get(sessionId) ?? 0)) {
        const reply = await this.#request('/buffer_turn', {
          session_id: sessionId,
          turn,
          scope_id: this.#scope,
        });
        if (typeof reply.flushed !== 'boolean') throw new Error('flushed is missing');
      }
      this.#sent.set(sessionId, turns.length);
    } catch (error) {
      this.errors.push(String(error));
    }
  }

  /** `session_end`. */
  async sessionEnd(sessionId: string): Promise<number> {
    const reply = await this.#request('/flush_session', {
      session_id: sessionId,
      final: true,
      scope_id: this.#scope,
    });
    this.#sent.delete(sessionId);
    if (typeof reply.added !== 'number') throw new Error('added is missing');
    return reply.added;
  }

  /** Its tool for models, and `openclaw metaclaw search`. */
  async searchTool(query: string, limit?: number): Promise<string> {
    const results = await this.#search(query, limit);
    if (results.length === 0) return 'No memories found matching the query.';
    return results
      .map((r, i) =>
        [
          `[${i + 1}] ${r.unit.summary || r.unit.content.slice(0, 120)}`,
          `    id: ${r.unit.memory_id} | type: ${r.unit.memory_type} | score: ${r.score.toFixed(3)}`,
          `    tags: ${r.unit.tags.join(', ') || 'none'}`,
          ...(r.reason ? [`    reason: ${r.reason}`] : []),
        ].join('\n'),
      )
      .join('\n\n');
  }

  /** `/recall` */
  async recall(query: string): Promise<string> {
    const results = await this.#search(query);
    if (results.length === 0) return 'No memories found.';
    return results
      .map(
        (r, i) =>
          `[${i + 1}] ${r.unit.summary || r.unit.content.slice(0, 120)} (score: ${r.score.toFixed(3)})`,
      )
      .join('\n');
  }

  async storeTool(content: string, more: { type?: string; tags?: string[]; importance?: number } = {}) {
    const { type = 'semantic', tags, importance } = more;
    const reply = await this.#request('/store', {
      content,
      memory_type: type,
      scope_id: this.#scope,
      ...(tags === undefined ? {} : { tags }),
      ...(importance === undefined ? {} : { importance }),
    });
    return String(reply.memory_id);
  }

  /** `/remember` */
  async remember(text: string): Promise<string> {
    return `Remembered (id: ${await this.storeTool(text)})`;
  }

  async forgetTool(memoryId: string): Promise<string> {
    await this.#request('/forget', { memory_id: memoryId });
    return `Memory ${memoryId} archived.`;
  }

  /** Its status tool; `/memory-status` reads the first three. */
  async statusTool(): Promise<string> {
    const [health, stats] = await Promise.all([this.#request('/health'), this.#request('/stats')]);
    return [
      `Status: ${health.status}`,
      `Memories: ${health.memories}`,
      `Scope: ${health.scope}`,
      ...Object.entries(stats).map(([name, value]) => `  ${name}: ${value}`),
    ].join('\n');
  }

  /** What its context engine does when OpenClaw compacts. */
  compact() {
    return this.#request('/consolidate', { scope_id: this.#scope });
  }

  /** `openclaw metaclaw upgrade`: triggers, then polls until a state that ends it. */
  async upgrade(): Promise<string> {
    await this.#request('/upgrade/trigger', {});
    return String((await this.#request('/upgrade/status')).state);
  }

  async #search(query: string, limit?: number): Promise<SearchResult[]> {
    const body = { query, scope_id: this.#scope, ...(limit === undefined ? {} : { limit }) };
    return (await this.#request('/search', body)).results;
  }

  // biome-ignore lint/suspicious/noExplicitAny: it reads replies unchecked, which is what is tested
  async #request(path: string, body?: object): Promise<any> {
    const response = await fetch(`${this.#base}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'Content-Type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!response.ok)
      throw new Error(`Sidecar ${path} failed (${response.status}): ${await response.text()}`);
    return response.json();
  }
}
