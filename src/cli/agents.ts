import { type Command, InvalidArgumentError } from 'commander';
import { AGENT_IDS, type AgentId, type AgentPlan, type AgentSummary } from '../shared/connections.ts';
import { AppError } from '../shared/errors.ts';
import { wantsJson } from './config.ts';
import { confirmed } from './confirm.ts';
import { type Context, withCalls } from './context.ts';
import { table } from './terminal.ts';

const STATES: Readonly<Record<AgentSummary['state'], string>> = {
  absent: 'not here',
  unsupported: 'left alone',
  free: 'not connected',
  connected: 'connected',
  drifted: 'changed since',
};

/** `metaclaw agents list|plan|connect|verify|disconnect|snippet` */
export function addAgentsCommand(program: Command, context: Context): void {
  const { terminal } = context;
  const agents = program
    .command('agents')
    .description('connect the agents of this computer, and put them back as they were');

  agents
    .command('list')
    .description('show the agents that are known and what answers them')
    .option('--json', 'print one JSON document')
    .action((_options, self: Command) =>
      withCalls(context, async (call) => {
        const all = await call('agents.list', {});
        if (wantsJson(self)) return terminal.json({ agents: all });
        const here = all.filter(({ state }) => state !== 'absent');
        if (here.length > 0) terminal.out(table(here.map(row)));
        const absent = all.filter(({ state }) => state === 'absent').map(({ id }) => id);
        if (absent.length > 0) terminal.out(`Not found on this computer: ${absent.join(', ')}.`);
        for (const { name, detail } of here) if (detail !== null) terminal.out(`${name}: ${detail}`);
      }),
    );

  agents
    .command('plan')
    .description('show what a connection would change; changes nothing')
    .argument('<agent>', AGENT_IDS.join(', '), agentId)
    .option('--json', 'print one JSON document')
    .action((id: AgentId, _options, self: Command) =>
      withCalls(context, async (call) => {
        const plan = await call('agents.plan', { id });
        if (wantsJson(self)) terminal.json(plan);
        else show(context, plan);
      }),
    );

  agents
    .command('connect')
    .description('point an agent at MetaClaw; shows the changes first')
    .argument('<agent>', AGENT_IDS.join(', '), agentId)
    .option('--yes', 'do not ask')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  metaclaw agents connect codex\n  metaclaw agents connect claude-code --yes',
    )
    .action((id: AgentId, { yes }: { yes?: true }, self: Command) =>
      withCalls(context, async (call, live) => {
        const plan = await call('agents.plan', { id });
        if (!wantsJson(self)) show(context, plan);
        if (!plan.done) await confirmed(context, 'Make these changes?', yes);
        const agent = await call('agents.connect', { id, hash: plan.hash });
        if (wantsJson(self)) return terminal.json(agent);
        if (plan.done) return;
        terminal.out(`${agent.name} is connected. See that it works: metaclaw agents verify ${id}`);
        terminal.out(`Put everything back: metaclaw agents disconnect ${id}`);
        if (!live) terminal.err('warning: MetaClaw does not run; until it does, the agent gets no answers.');
      }),
    );

  agents
    .command('verify')
    .description('wait for a request of the agent, to see that it comes through')
    .argument('<agent>', AGENT_IDS.join(', '), agentId)
    .option('--wait <seconds>', 'how long', seconds, 60)
    .option('--json', 'print one JSON document')
    .action((id: AgentId, { wait }: { wait: number }, self: Command) =>
      withCalls(context, async (call, live) => {
        if (!live)
          throw new AppError('NOT_RUNNING', 'MetaClaw does not run, so no request can come through.', {
            hint: 'Start it first: metaclaw start -d',
          });
        if (!wantsJson(self)) terminal.err(`Say something to the agent now; waiting ${wait} s.`);
        const result = await call('agents.verify', { id, seconds: wait });
        if (wantsJson(self)) terminal.json(result);
        else if (result.requestAt !== null) terminal.out('A request of the agent came through.');
        else {
          terminal.out(`No request came from ${id}.`);
          terminal.out(result.detail ?? hints[result.state]);
        }
        if (result.requestAt === null) context.exit(1);
      }),
    );

  agents
    .command('disconnect')
    .description('put an agent’s settings back; what was changed since stays')
    .argument('<agent>', AGENT_IDS.join(', '), agentId)
    .option('--json', 'print one JSON document')
    .action((id: AgentId, _options, self: Command) =>
      withCalls(context, async (call) => {
        const result = await call('agents.disconnect', { id });
        if (wantsJson(self)) return terminal.json(result);
        for (const file of result.restored) terminal.out(`Put back: ${file}`);
        for (const place of result.kept) terminal.out(`Changed since, so it stays: ${place}`);
        if (result.restored.length + result.kept.length === 0) terminal.out('Nothing of ours was left.');
      }),
    );

  agents
    .command('snippet')
    .description('print what any other agent needs to be told')
    .option('--json', 'print one JSON document')
    .action((_options, self: Command) =>
      withCalls(context, async (call) => {
        const { openai, anthropic, model, keySet, curl } = await call('proxy.endpoints', {});
        if (wantsJson(self)) return terminal.json({ openai, anthropic, model, keySet, curl });
        terminal.out(
          table([
            ['OpenAI base URL', openai],
            ['Anthropic base URL', anthropic],
            ['model', model],
            ['key', keySet ? 'the one in proxy.api_key' : 'any; none is asked for'],
            ['try it', curl],
          ]),
        );
      }),
    );
}

const hints: Readonly<Record<AgentSummary['state'], string>> = {
  absent: 'It is not on this computer.',
  unsupported: 'Its settings are left alone.',
  free: 'It is not connected.',
  connected: 'Its settings point here. A session that ran before keeps its former provider: begin a new one.',
  drifted: 'Its settings were changed since.',
};

function row({ id, version, state, provider }: AgentSummary): string[] {
  return [id, version ?? '-', STATES[state], provider ?? '-'];
}

function show({ terminal }: Context, plan: AgentPlan): void {
  if (plan.done) terminal.out('Connected already; nothing would change.');
  for (const { diff } of plan.files) terminal.out(diff.trimEnd());
  for (const command of plan.commands) terminal.out(`$ ${command}`);
  if (!plan.done) for (const note of plan.notes) terminal.out(note);
}

function agentId(value: string): AgentId {
  const id = AGENT_IDS.find((one) => one === value);
  if (id === undefined)
    throw new InvalidArgumentError(`Known: ${AGENT_IDS.join(', ')}. For others: metaclaw agents snippet`);
  return id;
}

function seconds(value: string): number {
  const number = Number(value);
  if (!Number.isFinite(number) || number < 0 || number > 600)
    throw new InvalidArgumentError('From 0 to 600.');
  return number;
}
