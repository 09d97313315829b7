// @ts-check
// The one voice of the scripts: a line a step, on a stream that the caller chooses (the CLI keeps stdout clean).

/** @type {NodeJS.WritableStream} */
let stream = process.stdout;

/** Sends the step lines to stderr, for callers whose stdout belongs to someone else. */
export function sayOnStderr() {
  stream = process.stderr;
}

/**
 * Prints one line about a step that really does something.
 * @param {string} line
 */
export function say(line) {
  stream.write(`metaclaw: ${line}\n`);
}

/** An expected failure of a step: its message is all that a person needs, so no stack is shown. */
export class StepError extends Error {
  /**
   * @param {string} message
   * @param {string} [detail] output of the tool that failed
   */
  constructor(message, detail = '') {
    super(message);
    this.name = 'StepError';
    this.detail = detail;
  }
}

/**
 * Runs a script's main function and turns its failure into one clear error and exit code 1.
 * @param {() => Promise<void> | void} main
 */
export async function runScript(main) {
  try {
    await main();
  } catch (error) {
    if (error instanceof StepError) {
      if (error.detail.trim() !== '') process.stderr.write(`${tail(error.detail, 40)}\n`);
      process.stderr.write(`metaclaw: error: ${error.message}\n`);
    } else {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    }
    process.exit(1);
  }
}

/**
 * Keeps the last lines of a tool's output: the end is where the cause stands.
 * @param {string} text
 * @param {number} lines
 */
export function tail(text, lines) {
  return text.trimEnd().split('\n').slice(-lines).join('\n');
}
