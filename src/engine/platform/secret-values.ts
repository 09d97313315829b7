/** Values that stand for a secret instead of being one. */
export function isPlaceholder(value: string): boolean {
  return (
    value.startsWith('[redacted') ||
    /^[$%<{[(*#]/.test(value) ||
    /^(.)\1*$/u.test(value) ||
    /^(?:x{3,}|your[-_ ]?.*|my[-_]?(?:password|secret|key|token).*|example.*|changeme.*|placeholder.*|dummy.*|redacted.*|secret:[\w.]+|\.\.\.)$/i.test(
      value,
    ) ||
    /(?:…|\.{3})$/.test(value)
  );
}

export const GENERIC_PASSWORD = /^(?:pass|password|passwd|pwd|pw|secret|\d{1,5})$/i;

/** A call, property or variable instead of a literal value. */
export function looksLikeCode(value: string, after: string): boolean {
  if (/[([{]/.test(value)) return true;
  if (/^[A-Za-z_][\w]*(?:\??\.[A-Za-z_][\w]*)+$/.test(value)) return true;
  if (/passw|passwd|pwd|secret/i.test(value) && /^[A-Za-z_][\w-]*$/.test(value)) return true;
  return /^[A-Za-z_]+$/.test(value) && /^[)\],;}>|]$/.test(after);
}

/** Long enough, letters and digits mixed, and not a plain word, path, number, identifier or hash. */
export function isRandomLooking(value: string, minLength: number): boolean {
  if (value.length < minLength || isPlaceholder(value)) return false;
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (/^[a-z]+(?:[_.-][a-z]+)*[_.-]?\d{1,4}$/i.test(value)) return false;
  if (/^(?:[A-Za-z_][\w]*)(?:\.[A-Za-z_]\w*)+$/.test(value)) return false;
  if (/^[./~]|^https?:|\/.*\/.*\./.test(value)) return false;
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-/i.test(value)) return false;
  if (/^\d{4}-\d\d-\d\dT?/.test(value)) return false;
  const distinct = new Set(value.slice(0, 64)).size;
  return distinct >= 7;
}

/** Words that follow "password is" or stand as its type or label, and are none. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'required requires optional missing empty wrong incorrect invalid valid correct weak strong short long expired reset set unset not too the and or for from with ' +
    'your our their this that these those one any all used stored saved hashed encrypted changed never always being case only also ' +
    'string str number boolean bool text varchar char null none nil undefined true false void any unknown optional object password passwd pwd secret hidden ' +
    'input field label type name value env key token bytes buffer credential credentials auth login yes ok needed asked shown visible secure insecure safe ' +
    'plain protected masked available unavailable unknown here there what why how when where who which correct same different new old current default ' +
    'securestring secretstr promise'
  ).split(' '),
);
