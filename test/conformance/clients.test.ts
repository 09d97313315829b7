import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Dialect, SkillProposal, TurnDetail, TurnSummary } from '../../src/shared/model.ts';
import type { UpstreamRequest } from '../support/upstream.ts';
import { CLIENTS } from './support/clients/all.ts';
import { type Answer, type Client, PROXY_KEY } from './support/clients/kind.ts';
import { difference, findInjected } from './support/injected.ts';
import { EVOLVER, type Lab, MODEL, startLab } from './support/lab.ts';
import {
  ANSWERS,
  CORRECTION,
  NEXT_TASK,
  OUTPUT,
  SKILL,
  scriptedModel,
  TASK,
  toolResults,
} from './support/model.ts';
import { allText, providerTools, toolNames } from './support/said.ts';
import type { Tapped } from './support/tap.ts';

const WIRES: readonly Dialect[] = ['openai', 'anthropic', 'responses'];
/** Claude Code's mark for Anthropic's accounting; it means nothing to anybody else. */
const ANTHROPIC_ONLY = 'x-anthropic-billing-header:';
const CASES = CLIENTS.flatMap((kind) => WIRES.map((wire) => ({ kind, wire, name: kind.name })));

/** Everything that one conversation left behind. */
interface Story {
  answers: Record<'task' | 'correction' | 'next', Answer>;
  proposal: SkillProposal;
  turns: TurnSummary[];
  details: TurnDetail[];
  /** Model calls as the client sent them and as the provider got them, in order. */
  sent: Tapped[];
  received: UpstreamRequest[];
}

for (const { kind, wire, name } of CASES) {
  const missing = kind.missing();
  const title = `${name} over a provider that speaks ${wire}`;
  describe.skipIf(missing !== null)(missing === null ? title : `${title} (skipped: ${missing})`, () => {
    let lab: Lab;
    let client: Client;
    let story: Story;
    const isSame = kind.dialect === wire;

    beforeAll(async () => {
      lab = await startLab(wire);
      lab.upstream.script(scriptedModel(kind));
      client = await kind.install(`${lab.tap.url}/a/${kind.agent}`, MODEL);
      story = await converse(lab, client);
      process.stdout.write(`${title}: ${measure(story)}\n`);
    });
    afterAll(async () => {
      await client?.remove();
      await lab?.close();
    });

    const mains = () => story.turns.filter((turn) => turn.kind === 'main');
    const firstSession = () => mains().filter((turn) => turn.sessionId === mains()[0]?.sessionId);

    it('serves a task with a tool, a second message and another session', () => {
      expect(story.answers.task.text).toContain(ANSWERS.task);
      expect(story.answers.correction.text).toContain(ANSWERS.correction);
      expect(story.answers.next.text).toContain(ANSWERS.next);
      for (const { ended } of Object.values(story.answers))
        expect(ended).toMatchObject({ code: 0, timedOut: false });
      expect(story.received.some((request) => toolResults(request).join().includes(OUTPUT))).toBe(true);
      expect(story.sent.filter(({ status }) => status !== 200)).toEqual([]);
    });

    it('records the conversation as one session of main turns, and the next one beside it', () => {
      expect(firstSession().length).toBeGreaterThanOrEqual(3);
      expect(new Set(mains().map((turn) => turn.sessionId)).size).toBe(2);
      expect(firstSession().map((turn) => turn.seq)).toEqual(firstSession().map((_, index) => index + 1));
      expect(new Set(story.turns.map((turn) => turn.status))).toEqual(new Set(['answered']));
      expect(story.sent.map(({ replyHeaders }) => replyHeaders['x-metaclaw-turn'])).toEqual(
        story.turns.map((turn) => turn.id),
      );
    });

    it('names the agent and keeps the user’s own words', () => {
      expect(new Set(story.turns.map((turn) => turn.agent))).toEqual(new Set([kind.agent]));
      const words = mains().map((turn) => turn.userText);
      expect([...new Set(words)]).toEqual([TASK, CORRECTION, NEXT_TASK]);
    });

    it('keeps the proxy’s key from the provider', () => {
      expect(
        story.received.map(({ rawHeaders, rawBody }) => `${rawHeaders} ${rawBody}`).join(),
      ).not.toContain(PROXY_KEY);
    });

    it('takes calls that the client makes for itself for what they are', () => {
      const withoutTools = story.sent
        .map(({ body }) => JSON.parse(body.toString('utf8')))
        .filter((body) => !body.tools?.length).length;
      expect(story.turns.filter((turn) => turn.kind === 'side')).toHaveLength(withoutTools);
    });

    it.runIf(isSame)('changes nothing but what it adds, byte for byte', () => {
      expect(story.received).toHaveLength(story.sent.length);
      for (const [index, request] of story.received.entries())
        expect(
          difference(findInjected(request.rawBody).rest, story.sent[index]?.body.toString('utf8') ?? ''),
        ).toBeNull();
    });

    it.runIf(!isSame)('carries instructions, tools and words into the other dialect', () => {
      expect(story.received).toHaveLength(story.sent.length);
      for (const [index, request] of story.received.entries()) {
        const from = JSON.parse(story.sent[index]?.body.toString('utf8') ?? '{}');
        expect(toolNames(request.json)).toEqual(toolNames(from));
        const dropped = String(story.sent[index]?.replyHeaders['x-metaclaw-dropped'] ?? '');
        for (const type of providerTools(from)) expect(dropped).toContain(`tools.${type}`);
        const to = allText(request.json).join('\n');
        const lost = allText(from).filter((text) => !to.includes(text) && !text.startsWith(ANTHROPIC_ONLY));
        expect(lost).toEqual([]);
      }
    });

    it('adds skills once, the same bytes over the session, and only to the user’s turns', () => {
      const bodies = new Map(story.received.map((request, index) => [index, findInjected(request.rawBody)]));
      const first = new Set<string>();
      for (const [index, turn] of story.turns.entries()) {
        const { system, messages } = bodies.get(index) ?? { system: [], messages: [] };
        if (turn.kind === 'side') {
          expect([...system, ...messages]).toEqual([]);
          continue;
        }
        expect(system).toHaveLength(1);
        const added = [...system, ...messages].join('').match(/## [^\\]+/g) ?? [];
        expect(added).toEqual([...new Set(added)]);
        expect(added.length).toBeGreaterThan(0);
        if (turn.sessionId === mains()[0]?.sessionId) first.add(system.join());
      }
      expect(first.size).toBe(1);
    });

    it('puts what a later message needed back at its place', () => {
      const later = story.received
        .map((request) => findInjected(request.rawBody).messages)
        .filter((messages) => messages.length > 0);
      for (const messages of later) expect(messages).toEqual(later[0]);
    });

    it('records what was sent and what came', () => {
      for (const [index, detail] of story.details.entries()) {
        expect(detail.usage?.outputTokens).toBeGreaterThan(0);
        if (detail.kind === 'side') continue;
        expect(JSON.parse(detail.requestBody ?? 'null')).toEqual(
          JSON.parse(story.sent[index]?.body.toString('utf8') ?? ''),
        );
        expect(JSON.parse(detail.sentBody ?? 'null')).toEqual(story.received[index]?.json);
      }
      const texts = story.details.map((detail) => detail.replyText);
      expect(texts).toEqual(expect.arrayContaining(Object.values(ANSWERS)));
    });

    it('carries the accepted skill in the next session', () => {
      expect(story.proposal.name).toBe(SKILL.name);
      const next = mains().find((turn) => turn.userText === NEXT_TASK);
      expect(next?.injection.items.map((item) => item.id)).toContain(SKILL.name);
      expect(story.received.at(-1)?.rawBody.toString('utf8')).toContain('Profile it.');
    });
  });
}

async function converse(lab: Lab, client: Client): Promise<Story> {
  const say = async (text: string) => {
    const answer = await client.say(text);
    if (answer.ended.code !== 0)
      throw new Error(`the client failed: ${JSON.stringify(answer.ended, null, 1)}\n${await lab.log()}`);
    return answer;
  };
  const task = await say(TASK);
  const correction = await say(CORRECTION);
  const session = (await lab.turns()).find((turn) => turn.kind === 'main')?.sessionId ?? '';
  await lab.host.call('sessions.end', { id: session });
  const proposal = await until(async () => (await lab.host.call('proposals.list', {}))[0]).catch(
    async (error: Error) => {
      throw new Error(`${error.message}\n${await lab.log()}`);
    },
  );
  await lab.host.call('proposals.accept', { id: proposal.id });
  client.startAnew();
  const next = await say(NEXT_TASK);
  const turns = await until(async () => {
    const all = await lab.turns();
    return all.every((turn) => turn.status !== 'open') && all;
  });
  return {
    answers: { task, correction, next },
    proposal,
    turns,
    details: await Promise.all(turns.map(({ id }) => lab.host.call('turns.get', { id }))),
    sent: lab.tap.requests.filter(({ path }) =>
      /\/(?:chat\/completions|messages|responses)(?:\?|$)/.test(path),
    ),
    received: lab.upstream.chats.filter((request) => request.json.model !== EVOLVER),
  };
}

/** One line for people: how long the client took, and how soon MetaClaw's answers began. */
function measure({ answers, sent }: Story): string {
  const seconds = Object.values(answers).map(({ ended }) => (ended.ms / 1000).toFixed(1));
  const first = sent.map(({ firstByteMs }) => firstByteMs).sort((a, b) => a - b);
  const bytes = Math.max(...sent.map(({ body }) => body.length));
  return `${seconds.join(', ')} s; ${sent.length} calls up to ${Math.round(bytes / 1024)} KiB, first byte after ${first[first.length >> 1]?.toFixed(1)} ms (median), ${first.at(-1)?.toFixed(1)} ms (most)`;
}

async function until<T>(probe: () => Promise<T | null | undefined | false>): Promise<T> {
  const end = Date.now() + 10_000;
  while (Date.now() < end) {
    const found = await probe();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`it did not happen within 10 s: ${probe}`);
}
