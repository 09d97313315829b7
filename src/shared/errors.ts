/** Expected failures: every one has a code from this table, the HTTP status it maps to, and a hint that says what to do. */
export const ERROR_STATUS = {
  BAD_INPUT: 400,
  CONFIG_INVALID: 400,
  CONFIG_KEY_UNKNOWN: 400,
  SKILL_INVALID: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  HOST_NOT_ALLOWED: 403,
  ORIGIN_NOT_ALLOWED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  ALREADY_RUNNING: 409,
  PORT_IN_USE: 409,
  BODY_TOO_LARGE: 413,
  MEDIA_TYPE: 415,
  UPGRADE: 426,
  NOT_TRANSLATABLE: 400,
  SECRET_NOT_READABLE: 500,
  STATE_TOO_NEW: 500,
  STORE_UNREADABLE: 500,
  NOT_RUNNING: 503,
  PROVIDER_NOT_SET: 503,
  UPSTREAM_REFUSED: 502,
  UPSTREAM_UNREACHABLE: 502,
  UPSTREAM_TIMEOUT: 504,
  CANCELLED: 499,
  INTERNAL: 500,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** An error as it crosses a process boundary (IPC, control HTTP, CLI `--json`). */
export interface ErrorJson {
  code: ErrorCode;
  message: string;
  /** What the reader can do about it, one sentence. */
  hint?: string;
  /** Short id that also stands in the log, for unexpected failures. */
  ref?: string;
  /** The config key, file or input field that is at fault. */
  field?: string;
}

/** An expected failure. Everything else that is thrown is a bug and is handled at the edges. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly field: string | undefined;
  readonly ref: string | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint?: string; field?: string; ref?: string; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.hint = options.hint;
    this.field = options.field;
    this.ref = options.ref;
  }

  /** HTTP status for this code. */
  get status(): number {
    return ERROR_STATUS[this.code];
  }

  toJSON(): ErrorJson {
    return {
      code: this.code,
      message: this.message,
      ...(this.hint === undefined ? {} : { hint: this.hint }),
      ...(this.field === undefined ? {} : { field: this.field }),
      ...(this.ref === undefined ? {} : { ref: this.ref }),
    };
  }

  static fromJSON(json: ErrorJson): AppError {
    const code: ErrorCode = json.code in ERROR_STATUS ? json.code : 'INTERNAL';
    return new AppError(code, json.message, json);
  }
}

/** The readable part of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Makes every switch over a union exhaustive at compile time. */
export function assertNever(value: never): never {
  throw new Error(`Unhandled case: ${JSON.stringify(value)}`);
}
