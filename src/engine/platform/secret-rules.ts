import {
  GENERIC_PASSWORD,
  isPlaceholder,
  isRandomLooking,
  looksLikeCode,
  STOP_WORDS,
} from './secret-values.ts';

export interface SecretRule {
  kind: string;
  pattern: RegExp;
  /** The part of the match that is the secret; null when it only looks like one. */
  secret(match: RegExpExecArray): { start: number; end: number } | null;
}

const whole = (match: RegExpExecArray) => ({ start: 0, end: match[0].length });

/** The span of a captured group, which stands at the end of the match or before `after` more characters. */
export function tail(match: RegExpExecArray, group: string, after = 0): { start: number; end: number } {
  const end = match[0].length - after;
  return { start: end - group.length, end };
}

const START = '(?<![A-Za-z0-9_-])';
export const PASSWORD_WORD =
  '(?:password|passwd|passphrase|passwort|pwd|mot de passe|contraseña|senha|密码|密碼|口令|パスワード|비밀번호)';
const KEY_WORD =
  '(?:api[ _-]?key|access[ _-]?key(?:[ _-]?id)?|secret[ _-]?key|private[ _-]?key|signing[ _-]?key|(?:account|shared[ _-]?access|storage|auth|app|service)[ _-]?key|app[ _-]?secret|encryption[ _-]?key|(?:access|auth|refresh|bearer|session|id|bot)[ _-]?token|client[ _-]?secret|secret|token|credential|密钥|密鑰|令牌)s?';
/** Between a name and its value: closing quote of the name, then `=`, `:`, `=>`, `:=` or full-width colon. */
const ASSIGN = '(?:\\\\{0,7}["\'`])?\\]?[ \\t]{0,4}(?:=>|:=|=|:|：)[ \\t]{0,4}';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** An unquoted value ends at white space, quotes, closing brackets, separators and CJK punctuation. */
export const BARE = '[^\\s"\'`,;&)\\]}<>|\\\\，。；、！？）】」]';

export const RULES: readonly SecretRule[] = [
  {
    kind: 'api-key',
    // OpenAI, Anthropic, OpenRouter, DeepSeek and others.
    pattern: new RegExp(`${START}sk-(?<value>[A-Za-z0-9_-]{6,250})`, 'g'),
    secret: (match) => {
      const value = match.groups?.value ?? '';
      const digits = count(value, /\d/g);
      const certain = /[A-Z]/.test(value) && digits >= 1;
      return certain || (value.length >= 16 && digits >= 3) ? whole(match) : null;
    },
  },
  {
    kind: 'api-key',
    // Vendor prefixes that nothing else uses.
    pattern: new RegExp(
      `${START}(?:github_pat_[A-Za-z0-9_]{20,255}|gh[pousr]_[A-Za-z0-9]{20,255}|glpat-[A-Za-z0-9_-]{18,60}|xox[abeoprs]-[A-Za-z0-9-]{10,250}|xapp-[A-Za-z0-9-]{20,250}|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])|AIza[A-Za-z0-9_-]{30,60}|ya29\\.[A-Za-z0-9_-]{20,500}|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,250}|whsec_[A-Za-z0-9]{20,100}|npm_[A-Za-z0-9]{30,60}|hf_[A-Za-z0-9]{20,60}|gsk_[A-Za-z0-9]{20,80}|xai-[A-Za-z0-9]{20,120}|r8_[A-Za-z0-9]{30,60}|tvly-[A-Za-z0-9-]{16,60}|nvapi-[A-Za-z0-9_-]{20,100}|pypi-[A-Za-z0-9_-]{40,250}|dop_v1_[a-f0-9]{40,80}|SG\\.[A-Za-z0-9_-]{16,40}\\.[A-Za-z0-9_-]{20,80}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|tml-[A-Za-z0-9]{20,120}|hv[sbr]\\.[A-Za-z0-9_-]{20,200}|lin_(?:api|oauth)_[A-Za-z0-9]{20,80}|ntn_[A-Za-z0-9]{20,80}|GOCSPX-[A-Za-z0-9_-]{16,60}|dp\\.(?:st|pt|ct|sa|scim|audit)\\.[A-Za-z0-9._-]{20,80}|sbp_[a-f0-9]{40}|pplx-[A-Za-z0-9]{20,80}|ABSK[A-Za-z0-9+/]{30,300}={0,2}|figd_[A-Za-z0-9_-]{20,80}|sntry[su]_[A-Za-z0-9+/=_-]{20,300}|PMAK-[A-Za-z0-9-]{30,90}|ATATT3[A-Za-z0-9_=-]{30,250}|ATBB[A-Za-z0-9]{24,60}|dckr_pat_[A-Za-z0-9_-]{20,60}|glsa_[A-Za-z0-9_]{30,60}|AGE-SECRET-KEY-1[A-Z0-9]{40,80}|tskey-[a-z]{2,8}-[A-Za-z0-9-]{16,80}|xkeysib-[a-f0-9]{40,90}(?:-[A-Za-z0-9]{8,20})?|csk-[a-z0-9]{30,80}|tgp_v1_[A-Za-z0-9_-]{30,60}|jina_[a-f0-9]{20,60}[A-Za-z0-9]{0,40}|e2b_[a-f0-9]{30,60}|lsv2_(?:pt|sk)_[a-f0-9]{20,40}_[a-f0-9]{6,16}|NRAK-[A-Z0-9]{20,40}|key-[a-f0-9]{32})`,
      'g',
    ),
    secret: whole,
  },
  {
    kind: 'bot-token',
    // Telegram: <bot id>:<35 characters>.
    pattern: /(?<![A-Za-z0-9_-])\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g,
    secret: whole,
  },
  {
    kind: 'webhook',
    pattern: /hooks\.slack\.com\/services\/[A-Za-z0-9/_-]{20,100}/g,
    secret: whole,
  },
  {
    kind: 'jwt',
    pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,2000}/g,
    secret: whole,
  },
  {
    kind: 'token',
    pattern: /\b(?:Bearer|Basic|Token)[ \t]{1,4}(?<value>[A-Za-z0-9._~+/=-]{12,4000})/gi,
    secret: (match) => {
      const value = match.groups?.value ?? '';
      return isRandomLooking(value, 12) ? tail(match, value) : null;
    },
  },
  {
    kind: 'password',
    // scheme://user:password@host
    pattern: /:\/\/[^\s:@/"'<>\\]{0,100}:(?<value>[^\s@/"'<>\\]{1,200})@/g,
    secret: (match) => {
      const value = match.groups?.value ?? '';
      return isPlaceholder(value) || GENERIC_PASSWORD.test(value) ? null : tail(match, value, 1);
    },
  },
  {
    kind: 'password',
    // password = "…", password: '…', "password": "…", \"password\": \"…\"
    pattern: new RegExp(
      `${PASSWORD_WORD}${ASSIGN}(?<quote>\\\\{0,7}["'\`])(?<value>[^\\s"'\`\\\\]{3,200})\\k<quote>`,
      'giu',
    ),
    secret: (match) => {
      const { value = '', quote = '' } = match.groups ?? {};
      if (isPlaceholder(value) || STOP_WORDS.has(value.toLowerCase())) return null;
      return tail(match, value, quote.length);
    },
  },
  {
    kind: 'password',
    // PASSWORD=…, password: …
    pattern: new RegExp(`${PASSWORD_WORD}${ASSIGN}(?<value>${BARE}{3,200})(?<after>.?)`, 'giu'),
    secret: (match) => {
      const { value = '', after = '' } = match.groups ?? {};
      if (isPlaceholder(value) || STOP_WORDS.has(value.toLowerCase())) return null;
      if (looksLikeCode(value, after)) return null;
      const name = match[0].slice(0, match[0].length - value.length - after.length);
      const strong = /[\d!@#$%^&*~+]/.test(value);
      // Letters alone: a value only where nothing else can follow, as in an env file, a URL or a YAML line.
      const certain =
        strong || /[=：]$/.test(name) || (/:[ \t]+$/.test(name) && (after === '' || after === '\r'));
      return certain ? tail(match, value, after.length) : null;
    },
  },
  {
    kind: 'password',
    // "the password is …", "密码是…"
    pattern: new RegExp(
      `${PASSWORD_WORD}[ \\t]{0,4}(?:(?:is|was|est|ist|es|now|will be)(?::|：)?[ \\t]{1,4}|是|为|為)[ \\t]{0,4}["'\`“「]?(?<value>${BARE}{3,200})`,
      'giu',
    ),
    secret: (match) => {
      const raw = match.groups?.value ?? '';
      const value = raw.replace(/[.!?…:]+$/u, '');
      if (value.length < 3 || isPlaceholder(value) || STOP_WORDS.has(value.toLowerCase())) return null;
      if (/^[a-z]+(?:ed|ing|ly)$/.test(value) || /^\p{Script=Han}+$/u.test(value)) return null;
      return tail(match, value, raw.length - value.length);
    },
  },
  {
    kind: 'password',
    // "password hunter2": without any sign between, only what no word looks like.
    pattern: new RegExp(`${PASSWORD_WORD}[ \\t]{1,4}["'\`]?(?<value>${BARE}{4,100})`, 'giu'),
    secret: (match) => {
      const raw = match.groups?.value ?? '';
      const value = raw.replace(/[.!?…:]+$/u, '');
      if (value.length < 4 || isPlaceholder(value) || /[=:(/[{]/.test(value)) return null;
      const mixed = /[a-z]/i.test(value) && /\d/.test(value);
      return mixed && !/^(?:v?\d+(?:\.\d+)*[a-z]{0,2}|[a-z]+-\d{1,2}|\d+(?:st|nd|rd|th))$/i.test(value)
        ? tail(match, value, raw.length - value.length)
        : null;
    },
  },
  {
    kind: 'secret',
    // api_key: …, SECRET_KEY="…", token=…: only values that look random.
    pattern: new RegExp(
      `${KEY_WORD}${ASSIGN}(?:\\\\{0,7}["'\`])?(?:Bearer[ \\t]+)?(?<value>[A-Za-z0-9_.~+/$@!%*-]{8,4000}={0,2})`,
      'giu',
    ),
    secret: (match) => {
      const value = match.groups?.value ?? '';
      const quoted = /["'`]$/.test(match[0].slice(0, -value.length));
      const certain =
        quoted && value.length >= 12 && /\d/.test(value) && /^[\w~+=-]*[a-z][\w~+=-]*$/i.test(value);
      return certain || isRandomLooking(value, 10) || UUID.test(value) ? tail(match, value) : null;
    },
  },
  {
    kind: 'secret',
    // "my key is …", "token is …"
    pattern:
      /\b(?:key|token|secret)[ \t]{1,4}(?:is|was)(?::)?[ \t]{1,4}["'`]?(?<value>[A-Za-z0-9_~+/=-]{12,400})/gi,
    secret: (match) => {
      const value = match.groups?.value ?? '';
      return isRandomLooking(value, 12) ? tail(match, value) : null;
    },
  },
];

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
