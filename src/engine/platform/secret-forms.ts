import { BARE, PASSWORD_WORD, type SecretRule, tail } from './secret-rules.ts';
import { isPlaceholder, looksLikeCode, STOP_WORDS } from './secret-values.ts';

/** Words that mean a password only where a value follows that no word looks like. */
const SHORT_WORD = '(?<![A-Za-z0-9_])(?:pass|pw|pass(?:code|word)s?|mdp|login|kennwort|contrasena)';
const ANY_WORD = `(?:${PASSWORD_WORD}|${SHORT_WORD})`;

/** How secrets are written down in prose, notes, tables and command lines. Bounded like all rules. */
export const WRITTEN_FORMS: readonly SecretRule[] = [
  {
    kind: 'password',
    // pass: …, pw=…, **Password:** …, Password → …, password - …, password's …
    pattern: new RegExp(
      `${ANY_WORD}(?:['’]s[ \\t]|\\*{0,3}[ \\t]{0,4}(?:[:=：→]|->|=>|[-–—][ \\t])\\*{0,3})[ \\t]{0,4}["'\`“]?(?<value>${BARE}{5,100})`,
      'giu',
    ),
    secret: strong,
  },
  {
    kind: 'password',
    // "the password for the router is …", "pass for db is …", "密码现在是 …"
    pattern: new RegExp(
      `${ANY_WORD}[ \\t](?:for|of|to|on|at|in|für|von|pour|du|de|para)(?:[ \\t][\\p{L}\\d._'’@-]{1,30}){1,5}?[ \\t](?:is|was|est|ist|es)[ \\t:]{1,4}["'\`“]?(?<value>${BARE}{5,100})`,
      'giu',
    ),
    secret: strong,
  },
  {
    kind: 'password',
    // A cell of a table.
    pattern: new RegExp(`${ANY_WORD}[ \\t*\`]{0,6}\\|[ \\t*\`]{0,20}(?<value>${BARE}{5,100})`, 'giu'),
    secret: strong,
  },
  {
    kind: 'pin',
    pattern:
      /(?<![A-Za-z0-9_])(?:pin(?:[ -]?code)?|passcode|otp|tan)[ \t]{0,4}(?:(?:number|code)[ \t])?(?:is[ \t]|[:=：])[ \t]{0,4}(?<value>\d{4,10})(?!\d)/gi,
    secret: (match) => tail(match, match.groups?.value ?? ''),
  },
  {
    kind: 'password',
    // curl -u user:password, --user user:password
    pattern:
      /\b(?:curl|wget|http|https|xh)\b[^\n|;]{0,200}?\s(?:-u|--(?:proxy-)?user)[ =]{1,2}(?:\\{0,7}["'])?[\w.@+-]{1,64}:(?<value>[^\s"'\\]{4,100})/g,
    secret: (match) => {
      const value = match.groups?.value ?? '';
      return isPlaceholder(value) || looksLikeCode(value, '') ? null : tail(match, value);
    },
  },
  {
    kind: 'password',
    // mysql -psecret, sshpass -p secret, redis-cli -a secret
    pattern:
      /(?<![\w-])(?:(?:mysql|mariadb)[\w-]{0,12}(?:[ \t]+[^\s-][^\s]{0,60}|[ \t]+-[^p\s][^\s]{0,60}){0,8}[ \t]+-p|sshpass[ \t]+-p[ \t]?|redis-cli(?:[ \t]+[^\s]{1,60}){0,6}?[ \t]+-a[ \t]+)(?:\\{0,7}["'])?(?<value>[^\s"'\\]{4,100})/g,
    secret: (match) => {
      const value = match.groups?.value ?? '';
      return isPlaceholder(value) ? null : tail(match, value);
    },
  },
  {
    kind: 'secret',
    // --api-key …, --token …
    pattern:
      /(?<![\w-])--?(?:[a-z]{1,12}-){0,2}(?:api-?key|token|secret|access-key|password|passwd|pass)[ \t]+(?:\\{0,7}["'])?(?<value>[^\s"'\\]{6,200})/gi,
    secret: strong,
  },
  {
    kind: 'token',
    // Discord: three parts, the first of which is a number in base64.
    pattern: /(?<![\w.-])[MNO][A-Za-z\d_-]{23,27}\.[A-Za-z\d_-]{6}\.[A-Za-z\d_-]{27,40}(?![\w-])/g,
    secret: (match) => ({ start: 0, end: match[0].length }),
  },
  {
    kind: 'private-key',
    pattern:
      /\bprivate[ _-]?key["']?[ \t]{0,4}(?:is|[:=])?[ \t]{0,4}["']?(?<value>(?:0x)?[0-9a-f]{64})(?![0-9a-f])/gi,
    secret: (match) => tail(match, match.groups?.value ?? ''),
  },
  {
    kind: 'seed-phrase',
    pattern:
      /(?:(?:seed|recovery|backup|secret)[ _-]?phrase|mnemonic|助记词|助記詞)[^\n\p{L}]{0,8}(?:(?:is|are)[^\n\p{L}]{1,4})?(?<value>[a-z]{3,8}(?:[ ,\t]{1,2}[a-z]{3,8}){11,23})(?![a-z])/giu,
    secret: (match) => tail(match, match.groups?.value ?? ''),
  },
  {
    kind: 'card',
    pattern: /(?<![\d.-])[3-6]\d{3}(?<gap>[ -]?)\d{4}\k<gap>\d{4}\k<gap>\d{3,4}(?![\d.-])/g,
    secret: (match) => {
      const grouped = match.groups?.gap !== '';
      const around = match.input.slice(Math.max(0, match.index - 40), match.index);
      const named = /card|visa|master|amex|karte|carte|tarjeta|卡/i.test(around);
      return (grouped || named) && passesLuhn(match[0].replace(/\D/g, ''))
        ? { start: 0, end: match[0].length }
        : null;
    },
  },
];

/** A value that no word or piece of code looks like: letters mixed with digits or signs. */
function strong(match: RegExpExecArray): { start: number; end: number } | null {
  const raw = match.groups?.value ?? '';
  const value = raw.replace(/[.!?…:*`]+$/u, '');
  if (value.length < 5 || isPlaceholder(value) || STOP_WORDS.has(value.toLowerCase())) return null;
  if (looksLikeCode(value, '') || /^(?:[./~]|https?:)|[=<>]/.test(value)) return null;
  if (!/\p{L}/u.test(value) || !/\d/.test(value)) return null;
  if (/^(?:v?\d+(?:\.\d+)*[a-z]{0,3}|[a-z]+[-_]?\d{1,2}|\d+(?:st|nd|rd|th|ms|px|kb|mb))$/i.test(value))
    return /^[a-z]+\d{1,2}$/i.test(value) && /[a-z][A-Z]|^[A-Z]+[a-z]/.test(value)
      ? tail(match, value, raw.length - value.length)
      : null;
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-/i.test(value) || /^\d{4}-\d\d-\d\d/.test(value)) return null;
  return tail(match, value, raw.length - value.length);
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const digit = Number(digits[digits.length - 1 - at]);
    const value = at % 2 === 1 ? digit * 2 : digit;
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}
