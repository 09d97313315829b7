import { mkdirSync } from 'node:fs';
import { type Logger as PinoLogger, pino } from 'pino';
import { createStream, type RotatingFileStream } from 'rotating-file-stream';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

interface LogMethod {
  (message: string): void;
  (fields: object, message: string): void;
}

/** What the engine logs with. Fields first, then one neutral sentence; secrets are masked on the way out. */
export interface Logger {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
  /** A logger whose lines carry these fields, e.g. `{ name: 'proxy' }`. */
  child(fields: { name: string } & Record<string, unknown>): Logger;
}

/** One line as the Logs screen shows it. `time` is ISO. */
interface LogLine {
  time: string;
  level: string;
  name: string;
  msg: string;
  fields: Record<string, unknown>;
}

export interface LogOptions {
  /** Folder of the log files; created when missing. Null keeps lines in memory only. */
  dir: string | null;
  level: LogLevel;
  /** Masks secrets in a piece of text. */
  redact: (text: string) => string;
  /** Where a readable line goes as well: a terminal. */
  stderr: ((line: string) => void) | null;
}

/** The log of one process: a rotating file of JSON lines, and the newest lines in memory for the screen. */
export interface Log {
  logger: Logger;
  /** The newest lines, oldest first, at most `RING_SIZE`. */
  recent(): readonly LogLine[];
  /** From now on, for every child too. */
  setLevel(level: LogLevel): void;
  /** Resolves when everything is on disk. */
  close(): Promise<void>;
}

export const RING_SIZE = 2000;
const FILE = 'metaclaw.log';
const FILE_SIZE = '5M';
const FILES_KEPT = 5;
const LEVELS: Record<number, string> = {
  10: 'debug',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'error',
};

const SEVERITY: Record<LogLevel, number> = { debug: 20, info: 30, warn: 40, error: 50 };

/** Fields whose value is masked whatever it looks like, compared in lower case without `-` and `_`. */
const SECRET_FIELDS = new Set([
  'apikey',
  'xapikey',
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'token',
  'accesstoken',
  'refreshtoken',
  'oauthtoken',
  'password',
  'secret',
]);

/**
 * Opens the log. Failing to write a log file (disk full, folder gone) is said once on the terminal and never
 * disturbs the caller. No pino transport: its worker thread cannot find its files in a bundle.
 */
export function createLog(options: LogOptions): Log {
  const ring: LogLine[] = [];
  const file = options.dir === null ? null : openFile(options.dir, (text) => options.stderr?.(text));

  const write = (raw: string): void => {
    const line = toLine(raw, options.redact);
    ring.push(line);
    if (ring.length > RING_SIZE) ring.shift();
    file?.write(
      `${JSON.stringify({ time: line.time, level: line.level, name: line.name, msg: line.msg, ...line.fields })}\n`,
    );
    options.stderr?.(pretty(line));
  };
  let threshold = SEVERITY[options.level];
  const root = pino(
    {
      level: 'debug',
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError },
    },
    { write },
  );
  return {
    logger: adapt(root, (level) => SEVERITY[level] >= threshold),
    recent: () => ring,
    setLevel: (level) => {
      threshold = SEVERITY[level];
    },
    close: () =>
      new Promise((resolve) => {
        if (file === null || file.destroyed) resolve();
        else file.end(() => resolve());
      }),
  };
}

/** A logger that goes nowhere, for tests and one-shot commands. */
export function silentLogger(): Logger {
  return adapt(pino({ level: 'silent' }, { write: () => {} }), () => false);
}

/** `isWanted` is asked for each line: pino's own children would keep the level that they were made with. */
function adapt(logger: PinoLogger, isWanted: (level: LogLevel) => boolean): Logger {
  const method =
    (level: LogLevel): LogMethod =>
    (first: object | string, message?: string) => {
      if (!isWanted(level)) return;
      if (typeof first === 'string') logger[level](first);
      else logger[level](first, message);
    };
  return {
    debug: method('debug'),
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
    child: (fields) => adapt(logger.child(fields), isWanted),
  };
}

function openFile(dir: string, complain: (text: string) => void): RotatingFileStream | null {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    complain(`The log folder cannot be made: ${String(error)}`);
    return null;
  }
  const stream = createStream(
    (index: number | Date | null) => (typeof index === 'number' ? `metaclaw.${index}.log` : FILE),
    {
      path: dir,
      size: FILE_SIZE,
      rotate: FILES_KEPT,
      mode: 0o600,
    },
  );
  let said = false;
  stream.on('error', (error) => {
    if (!said) complain(`The log cannot be written: ${error.message}`);
    said = true;
  });
  return stream;
}

function toLine(raw: string, redact: (text: string) => string): LogLine {
  const { time, level, name, msg, ...fields } = JSON.parse(raw) as Record<string, unknown>;
  return {
    time: String(time),
    level: LEVELS[Number(level)] ?? 'info',
    name: typeof name === 'string' ? name : 'metaclaw',
    msg: redact(typeof msg === 'string' ? msg : ''),
    fields: mask(fields, redact) as Record<string, unknown>,
  };
}

function mask(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item) => mask(item, redact));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      SECRET_FIELDS.has(key.toLowerCase().replace(/[-_]/g, '')) && inner !== '' && inner !== null
        ? '[redacted]'
        : mask(inner, redact),
    ]),
  );
}

function pretty(line: LogLine): string {
  const fields = Object.entries(line.fields)
    .map(([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('');
  // A value that came over the wire must not steer the terminal.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  const text = `${line.name}: ${line.msg}${fields}`.replace(/[\x00-\x1f\x7f-\x9f]/g, ' ');
  return `${line.time.slice(11, 19)} ${line.level.padEnd(5)} ${text}`;
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  return {
    type: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
