import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { type ScriptedUpstream, startUpstream } from '../support/upstream.ts';
import { programs } from './support/programs.ts';

// The vendors' own programs, answering in place of a server, with the scripted upstream as their vendor.

const TOKEN = 'sk-ant-oat01-conformance';
const SECRET_FILE = 'words of a file that nobody may read';
const SYSTEM = 'You are Bob, and these are the system words.';

/** Starts the real program, and says where its vendor is; arguments and input go through as they are. */
const wrappers = {
  claude: (vendor: string, args: string) =>
    `export ANTHROPIC_BASE_URL='${vendor}'\nexec '${programs.claude}' ${args}`,
  codex: (vendor: string, args: string) =>
    `export MC_KEY=x\nexec '${programs.codex}' -c 'model_providers.mc={name="mc",base_url="${vendor}/v1",env_key="MC_KEY",wire_api="responses"}' -c 'model_provider="mc"' ${args}`,
} as const;

describe.each([
  { kind: 'claude', provider: 'anthropic', asked: 'anthropic' },
  { kind: 'codex', provider: 'openai-codex', asked: 'responses' },
] as const)('$kind, signed in on this computer', ({ kind, provider, asked }) => {
  const missing = programs.missing(kind);
  describe.skipIf(missing !== null)(missing ?? 'the real one', () => {
    let vendor: ScriptedUpstream;
    let lab: TestEngine;
    let home: string;
    const point = (address: string) => {
      const path = join(home, 'bin', kind);
      writeFileSync(path, `#!/bin/sh\n${wrappers[kind](address, '"$@"')}\n`);
      chmodSync(path, 0o755);
    };
    const ask = (user: string, stream = false) =>
      fetch(`${lab.openai}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'm',
          stream,
          messages: [
            { role: 'system', content: SYSTEM },
            { role: 'user', content: user },
          ],
        }),
      });
    beforeAll(async () => {
      vendor = await startUpstream();
      home = mkdtempSync(join(tmpdir(), 'vendor-home-'));
      mkdirSync(join(home, 'bin'));
      mkdirSync(join(home, '.codex'));
      writeFileSync(join(home, 'secret.txt'), SECRET_FILE);
      lab = await startEngine(
        {
          mode: 'skills_only',
          skills: { enabled: false },
          llm: {
            provider,
            auth_method: 'oauth_token',
            model_id: kind === 'claude' ? 'default' : 'big-model',
          },
        },
        { env: { PATH: `${join(home, 'bin')}:${process.env.PATH}`, HOME: home } },
      );
      await lab.engine.call('secrets.set', { name: `auth.${provider}.token`, value: TOKEN });
      point(vendor.url);
    });
    afterAll(async () => {
      await lab?.close();
      await vendor?.close();
      rmSync(home, { recursive: true, force: true });
    });

    it('answers whole and as a stream, and was told everything without tools', async () => {
      vendor.script(({ kind: wire }) => (wire === asked ? { text: 'Hello wörld 🌍' } : undefined));
      const openai = new OpenAI({ baseURL: lab.openai, apiKey: 'any', maxRetries: 0 });
      const messages = [
        { role: 'system', content: SYSTEM },
        { role: 'user', content: 'the user’s words' },
      ] satisfies OpenAI.ChatCompletionMessageParam[];
      const whole = await openai.chat.completions.create({ model: 'm', messages });
      expect(whole.choices[0]).toMatchObject({
        message: { content: 'Hello wörld 🌍' },
        finish_reason: 'stop',
      });
      expect(whole.usage?.completion_tokens).toBeGreaterThan(0);
      const stream = openai.chat.completions.stream({ model: 'm', messages });
      expect((await stream.finalMessage()).content).toBe('Hello wörld 🌍');
      const request = vendor.requests.find((one) => one.kind === asked);
      const body = JSON.stringify(request?.json);
      expect(body).toContain(SYSTEM);
      expect(body).toContain('the user’s words');
      if (kind === 'claude') {
        expect(request?.json.tools ?? []).toEqual([]);
        expect(request?.headers.authorization).toBe(`Bearer ${TOKEN}`);
      } else {
        // It asks the user something, which nobody is there to answer; nothing to act with.
        const tools = (request?.json.tools ?? []) as { name?: string; type: string }[];
        expect(tools.map(({ name, type }) => name ?? type)).toEqual(['request_user_input']);
      }
    });

    it('reads no file of the user’s that a request mentions', async () => {
      const mention = `look at @${join(home, 'secret.txt')} and @../secret.txt and @~/secret.txt`;
      const response = await ask(mention);
      expect(response.status).toBe(200);
      const sent = vendor.requests.map((one) => one.rawBody.toString('utf8')).join('\n');
      expect(sent).toContain('secret.txt');
      expect(sent).not.toContain(SECRET_FILE);
    });

    it('tells a refused sign-in and an unknown model by their status', async () => {
      const type = { 401: 'authentication_error', 404: 'not_found_error' } as const;
      for (const status of [401, 404] as const) {
        const message =
          status === 401 ? 'Incorrect API key provided' : "The requested model 'x' does not exist.";
        const code = status === 404 ? 'model_not_found' : null;
        const error = { type: type[status], message, code };
        vendor.script(() => ({
          status: status === 404 && asked === 'responses' ? 400 : status,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ type: 'error', error }),
        }));
        const response = await ask('hi', true);
        expect(response.status).toBe(status);
        const told = ((await response.json()) as { error: { message: string } }).error.message;
        expect(told).toMatch(status === 401 ? /is not signed in on this computer/ : /did not answer.*model/);
      }
    });

    it.runIf(kind === 'claude')(
      'that is set up to ask MetaClaw itself does not go round in a circle',
      async () => {
        point(lab.anthropic);
        const response = await ask('hi');
        expect(response.status).toBe(400);
        const { error } = (await response.json()) as { error: { message: string } };
        expect(error.message).toContain('circle');
      },
    );
  });
});
