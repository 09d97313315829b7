import { Command, CommanderError } from 'commander';
import { version } from '../../package.json';
import { stateHome } from '../engine/platform/paths.ts';
import { addAgentsCommand } from './agents.ts';
import { addAuthCommand } from './auth.ts';
import { addCheckCommands } from './checks.ts';
import { addConfigCommand } from './config.ts';
import type { Context } from './context.ts';
import { addFeedbackCommand } from './feedback.ts';
import { addMemoryCommand } from './memory/index.ts';
import { addQuirksCommand } from './quirks.ts';
import { addSessionsCommand } from './sessions.ts';
import { addSetupCommand } from './setup.ts';
import { addSkillsCommand } from './skills/index.ts';
import { addStartCommand } from './start.ts';
import { addStatusCommand } from './status.ts';
import { addStopCommand } from './stop.ts';
import { createTerminal, printError } from './terminal.ts';
import { addUsageCommand } from './usage.ts';

/** Bad usage, as shells have it. */
const USAGE = 2;

/** The `metaclaw` program. */
export function buildProgram(context: Context): Command {
  const program = new Command('metaclaw')
    .description('A local proxy that makes your agent learn skills.')
    .version(context.version)
    .showSuggestionAfterError()
    .showHelpAfterError('  Add --help to see how it is used.')
    .configureOutput({
      writeOut: (text) => context.terminal.out(text.trimEnd()),
      writeErr: (text) => context.terminal.err(text.trimEnd()),
      outputError: (text, write) => write(text.replace(/^error: /, 'metaclaw: ')),
    })
    .exitOverride();
  addSetupCommand(program, context);
  addStartCommand(program, context);
  addStopCommand(program, context);
  addStatusCommand(program, context);
  addConfigCommand(program, context);
  addAuthCommand(program, context);
  addSkillsCommand(program, context);
  addMemoryCommand(program, context);
  addAgentsCommand(program, context);
  addUsageCommand(program, context);
  addSessionsCommand(program, context);
  addQuirksCommand(program, context);
  addFeedbackCommand(program, context);
  addCheckCommands(program, context);
  return program;
}

async function main(): Promise<void> {
  const { argv, env, execPath } = process;
  const terminal = createTerminal(process.stdin, process.stdout, process.stderr);
  const context: Context = {
    terminal,
    env,
    home: stateHome(env),
    version,
    command: [execPath, argv[1] ?? ''],
    exit: (code) => {
      process.exitCode = code;
    },
  };
  try {
    await buildProgram(context).parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : USAGE;
      return;
    }
    printError(terminal, error, { json: argv.includes('--json'), debug: Boolean(env.METACLAW_DEBUG) });
    process.exitCode = 1;
  }
}

void main();
