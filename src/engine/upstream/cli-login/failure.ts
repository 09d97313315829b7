/** Why a program gave no whole answer. */
export interface ProgramFailure {
  /** The HTTP status that the vendor's own service gives for it. */
  status: number;
  /** The program's words. */
  message: string;
  /** When the vendor takes requests again, in seconds since the epoch. */
  resetsAt?: number | null;
}

/** Code of the error when there is no program to run. */
export const NOT_INSTALLED = 'program_not_installed';
const MAX_WORDS = 500;

/** Programs say in words what a service says by its status. In this order: the first that fits. */
const WORDS: readonly (readonly [status: number, words: RegExp])[] = [
  [429, /usage limit|rate.?limit|too many requests|quota|resource_exhausted|\b429\b/i],
  [402, /credit balance|payment required|insufficient (?:credit|balance)/i],
  [
    404,
    /model\b.{0,80}\b(?:not (?:found|exist|supported|available)|does not exist)|issue with the selected model/i,
  ],
  [
    401,
    /not (?:logged|signed) in|(?:log|sign) in\b|\/login|unauthori[sz]ed|unauthenticated|authenticat|authorization is required|auth method|api key (?:not valid|is invalid)|(?:incorrect|invalid) api key|token (?:has )?expired|\b401\b/i,
  ],
  [529, /overloaded|\b529\b/i],
  [413, /prompt is too long|context (?:window|length)|too large/i],
];

/** The status that fits a program's words; 502 for words that say nothing. */
export function statusOfWords(words: string): number {
  return WORDS.find(([, pattern]) => pattern.test(words))?.[0] ?? 502;
}

/** One readable line of what a program wrote, without colours and stack traces. */
export function firstWords(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal
  const plain = text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
  const lines = plain
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(?:at\s|warning\b|[{}\])])/i.test(line));
  return (lines.at(-1) ?? '').slice(0, MAX_WORDS);
}

/** The failure as a sentence for people, with the one thing to do about it. */
export function failureSentence(
  program: { title: string; signIn: string },
  { status, message }: ProgramFailure,
): string {
  const words = message.replace(/\s+/g, ' ').trim().slice(0, MAX_WORDS);
  if (status === 401 || status === 403)
    return `${program.title} is not signed in on this computer (${words}). ${program.signIn}`;
  return `${program.title} on this computer did not answer: ${words}`;
}

/** Seconds until the vendor takes requests again; null when it did not say. */
export function retryAfter({ resetsAt, message }: ProgramFailure, nowMs: number): number | null {
  if (resetsAt) return Math.max(1, Math.ceil(resetsAt - nowMs / 1000));
  const told = /(?:retry|try again) (?:in|after) (\d+(?:\.\d+)?)\s*s\b/i.exec(message)?.[1];
  return told === undefined ? null : Math.ceil(Number(told));
}
