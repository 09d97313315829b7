import { AppError, type ErrorJson, messageOf } from '../shared/errors.ts';

/** What commands talk through. */
export interface Terminal {
  /** One or more lines on standard output. */
  out(text: string): void;
  /** One or more lines on standard error. */
  err(text: string): void;
  /** The one JSON document of a `--json` command. */
  json(value: unknown): void;
  /** True when a person can be asked. */
  readonly interactive: boolean;
  /** A secret: asked for without an echo, or the first line of a pipe. Throws CANCELLED. */
  readSecret(question: string): Promise<string>;
  /** All of standard input. */
  readAll(): Promise<string>;
  /** From now on nothing that happens to the output ends the process: agents depend on a host, not on its reader. */
  outlive(): void;
}

/**
 * The terminal of this process. A reader that goes away (`metaclaw … | head`) ends a command quietly; output that
 * cannot be written otherwise (disk full) makes it a failed one.
 */
export function createTerminal(
  stdin: NodeJS.ReadStream,
  stdout: NodeJS.WriteStream,
  stderr: NodeJS.WriteStream,
): Terminal {
  let outlives = false;
  for (const stream of [stdout, stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!outlives) process.exit(error.code === 'EPIPE' ? (process.exitCode ?? 0) : 1);
    });
  const interactive = stdin.isTTY === true && stdout.isTTY === true;
  return {
    interactive,
    out: (text) => void stdout.write(`${harmless(text)}\n`),
    err: (text) => void stderr.write(`${harmless(text)}\n`),
    json: (value) => void stdout.write(`${JSON.stringify(value, null, 2)}\n`),
    readSecret: async (question) => {
      if (!stdin.isTTY) return firstLine(stdin);
      const { isCancel, password } = await import('@clack/prompts');
      const answer = await password({ message: question });
      if (isCancel(answer)) throw new AppError('CANCELLED', 'Nothing was changed.');
      return answer.trim();
    },
    readAll: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
      return Buffer.concat(chunks).toString('utf8');
    },
    outlive: () => {
      outlives = true;
    },
  };
}

/** Data must not steer the terminal: control characters other than line breaks and tabs are left out. */
export function harmless(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  return text.replace(/\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '');
}

/** A failed command: one line and a hint, or a JSON document. The stack only when asked for. */
export function printError(
  terminal: Terminal,
  error: unknown,
  options: { json: boolean; debug: boolean },
): void {
  const json: ErrorJson =
    error instanceof AppError ? error.toJSON() : { code: 'INTERNAL', message: messageOf(error) };
  if (options.json) {
    terminal.json({ error: json });
  } else {
    terminal.err(`metaclaw: ${json.message}`);
    if (json.hint) terminal.err(`  ${json.hint}`);
  }
  if (options.debug && error instanceof Error) terminal.err(error.stack ?? '');
}

/** Columns side by side; the last one is as long as it likes. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (all, row) => row.map((cell, n) => Math.max(all[n] ?? 0, cell.length)),
    [],
  );
  return rows
    .map((row) =>
      row
        .map((cell, n) => (n === row.length - 1 ? cell : cell.padEnd(widths[n] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

async function firstLine(stdin: NodeJS.ReadStream): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.includes('\n') || text.length > 20_000) break;
  }
  return (text.split(/\r?\n/)[0] ?? '').trim();
}
