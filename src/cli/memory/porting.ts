import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { resolveConfigPath } from '../../engine/platform/paths.ts';
import type { Call } from '../../shared/contract.ts';
import { AppError } from '../../shared/errors.ts';
import type { MemoryScope } from '../../shared/memory.ts';
import { wantsJson } from '../config.ts';
import { type Context, withCalls } from '../context.ts';
import { count, memories, scopeOption } from './shared.ts';

const FORMATS = ['auto', 'original', 'mem0', 'jsonl', 'markdown'] as const;

interface ImportOptions {
  fromOriginal?: true;
  format: (typeof FORMATS)[number];
  scope?: MemoryScope;
  dryRun?: true;
}

/** Taking memories in and out: `import`, `export`. */
export function addPorting(memory: Command, context: Context): void {
  const { terminal } = context;
  memory
    .command('import')
    .description('take in memories from a file; what is known already is not taken twice')
    .argument(
      '[path]',
      'JSONL, Markdown, an export of mem0, or the original’s memory.db; - for standard input',
    )
    .option('--from-original', 'the original’s store; memory.store_path when no path is given')
    .addOption(new Option('--format <format>', 'of the file').choices(FORMATS).default('auto'))
    .addOption(scopeOption('whose they are, where the file does not say'))
    .option('--dry-run', 'only say what would be taken')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  metaclaw memory import --from-original --dry-run\n  metaclaw memory import notes.md --scope workspace:api\n  metaclaw memory import - --format jsonl < memories.jsonl',
    )
    .action((path: string | undefined, options: ImportOptions, self: Command) =>
      withCalls(context, async (call) => {
        const { scope, dryRun, fromOriginal } = options;
        const format = fromOriginal ? 'original' : options.format;
        if (path === undefined && !fromOriginal)
          throw new AppError('BAD_INPUT', 'Name the file to import.', {
            hint: 'For the original’s own store: metaclaw memory import --from-original',
            field: 'path',
          });
        const take = (file: string) =>
          call('memory.import', {
            path: file,
            format,
            ...(scope === undefined ? {} : { scope }),
            dryRun: dryRun ?? false,
          });
        const result =
          path === '-'
            ? await withTemporary(`import.${format === 'markdown' ? 'md' : 'jsonl'}`, async (file) => {
                writeFileSync(file, await terminal.readAll(), { mode: 0o600 });
                return take(file);
              })
            : await take(path === undefined ? await originalStore(context, call) : resolve(path));
        if (wantsJson(self)) terminal.json(result);
        else {
          const did = dryRun ? 'Would take' : 'Taken';
          terminal.out(
            `${did}: ${memories(result.added)} and ${count(result.turns, 'thing')} said. ${result.merged} known already.`,
          );
          for (const { line, reason } of result.skipped) terminal.err(`skipped: ${line}: ${reason}`);
        }
        if (result.added + result.merged + result.turns === 0 && result.skipped.length > 0) context.exit(1);
      }),
    );
  memory
    .command('export')
    .description('write all memories, and what was said, to a file')
    .argument('<file>', 'or - for standard output')
    .addOption(
      new Option('--format <format>', 'jsonl can be imported without loss; markdown is for reading')
        .choices(['jsonl', 'markdown'])
        .default('jsonl'),
    )
    .option('--force', 'write over a file that is there')
    .option('--json', 'print one JSON document')
    .action((file: string, options: { format: 'jsonl' | 'markdown'; force?: true }, self: Command) =>
      withCalls(context, async (call) => {
        const { format } = options;
        if (file === '-')
          return withTemporary('export', async (to) => {
            await call('memory.export', { to, format });
            terminal.out(readFileSync(to, 'utf8').trimEnd());
          });
        const to = resolve(file);
        if (!options.force && existsSync(to))
          throw new AppError('CONFLICT', `${to} is there already.`, {
            hint: 'Choose another name, or add --force to write over it.',
            field: 'file',
          });
        const result = await call('memory.export', { to, format });
        if (wantsJson(self)) return terminal.json({ ...result, to });
        terminal.out(`Exported ${memories(result.units)} and ${count(result.turns, 'thing')} said to ${to}.`);
      }),
    );
}

/** Where the original keeps its store, by the config file. */
async function originalStore({ home }: Context, call: Call): Promise<string> {
  const { value } = await call('config.get', { path: 'memory.store_path' });
  return resolveConfigPath(home, String(value));
}

/** A file in a folder of its own that only this user can read, gone afterwards. */
async function withTemporary<T>(name: string, use: (file: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'metaclaw-'));
  try {
    return await use(join(folder, name));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
