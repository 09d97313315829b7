import type { SafetyFinding } from '../../shared/model.ts';
import { redact } from '../platform/redact.ts';
import { RULES_ELSEWHERE } from './safety-elsewhere.ts';
import type { Rule } from './safety-rule.ts';

/**
 * What a skill must not say without a person having looked. Deliberately wide: a false alarm only means that the
 * proposal waits. Rules read a normalised text (NFKC, one space between words), so that look-alike forms count.
 */
const RULES: readonly Rule[] = [
  {
    rule: 'remote-code',
    message: 'Runs code that it downloads.',
    pattern:
      /\b(?:curl|wget|iwr|invoke-webrequest|fetch)\b[^\n]{0,200}(?:\||&&|;|>)\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b|\b(?:curl|wget|iwr|irm)\b[^\n]{0,200}\|\s*(?:sudo\s+)?(?:python\d?|node|perl|ruby|iex|source)\b|\b(?:bash|sh|zsh|eval|source|iex)\b[^\n]{0,20}(?:<\(|\$\(|`|\()\s*(?:curl|wget|iwr|irm)\b|\b(?:eval|exec)\s*\(\s*(?:requests|urllib|fetch|atob|base64)|\bnpx\s+(?:-y|--yes)\b|\bpip\d?\s+install\s+(?:git\+)?https?:/i,
  },
  {
    rule: 'exfiltration',
    message: 'Sends data of the user somewhere.',
    pattern:
      /\b(?:send|post|upload|forward|transmit|exfiltrate|leak|share|email|copy|report|submit)\b[^.\n]{0,80}\b(?:conversation|transcript|chat (?:log|history)|credentials?|passwords?|secrets?|tokens?|api[ _-]?keys?|cookies?|env(?:ironment)?(?: variables| file)?|ssh keys?|private keys?|user data|personal data|memor(?:y|ies)|system prompt|contents? of)\b[^.\n]{0,80}\b(?:to|at|via|with)\b|\b(?:curl|wget|nc|ncat|scp|rsync|http\.post|requests\.post)\b[^\n]{0,120}(?:-d\b|--data|-F\b|--form|-T\b|--upload-file|@|\.env\b|\.ssh\b|id_rsa|\/etc\/(?:passwd|shadow))|\bwebhook\.site\b|\brequestbin\b|\bngrok\b|\bpastebin\b|!\[[^\]]*\]\(\s*https?:[^)]*[?&=][^)]*\)|(?:发送|上传|转发|泄露)[^。\n]{0,30}(?:密码|密钥|令牌|对话|聊天记录|凭证|隐私|环境变量)/i,
  },
  {
    rule: 'checks-off',
    message: 'Switches checks or safety off, or forces its way.',
    pattern:
      /--(?:no-verify|force(?!-with-lease)|no-check\w*|skip-\w+|insecure|disable-\w+|dangerously-[\w-]+|yolo|allow-root|no-sandbox|ignore-\w+|privileged|break-system-packages)\b|\bgit\s+push\s+(?:-\w*f|\S+\s+-f)\b|\bcurl\s+(?:-\w*k)\b|\brm\s+-(?:\w*r\w*f|\w*f\w*r)\b|\bchmod\s+(?:-R\s+)?0?777\b|\bverify\s*=\s*false\b|\brejectUnauthorized\s*[:=]\s*false|NODE_TLS_REJECT_UNAUTHORIZED|StrictHostKeyChecking\s*[= ]\s*no|\bset\s+\+e\b|\|\|\s*true\b|\b(?:eslint-disable|biome-ignore|ts-nocheck|ts-ignore|noqa|nosec|pragma: no cover)\b|\b(?:skip|disable|bypass|ignore|comment out|delete|remove|turn off|suppress)\b[^.\n]{0,30}\b(?:tests?|test suite|linter|lint|type ?check(?:s|ing)?|ci|hooks?|checks?|validation|review|approval|confirmation|warnings?|safety|security|firewall|antivirus|certificate|ssl|tls|authentication|permissions?|sandbox|selinux)\b|\b(?:without|never|do not|don't)\s+(?:ask(?:ing)?|wait(?:ing)?)\b[^.\n]{0,40}\b(?:confirm\w*|approval|permission|user)\b|(?:跳过|禁用|关闭|忽略|绕过)[^。\n]{0,10}(?:测试|检查|校验|验证|审查|确认|警告|防火墙|权限|安全)/i,
  },
  {
    rule: 'prompt-injection',
    message: 'Speaks to the model as an attack would: overrides instructions, hides things from the user.',
    pattern:
      /\b(?:ignore|disregard|forget|override|overrule)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|all|any|other|system|user'?s?|developer|safety)\b[^.\n]{0,30}\b(?:instructions?|prompts?|rules?|guidelines?|messages?|policies|requests?)\b|\b(?:reveal|print|repeat|output|show)\b[^.\n]{0,20}\b(?:system prompt|hidden instructions|your instructions)\b|\byou are now\b|\bact as (?:root|admin|dan|an? unrestricted)\b|\bjailbreak\b|\b(?:do not|don't|never)\s+(?:tell|inform|mention|show|reveal|disclose)\b[^.\n]{0,40}\b(?:user|human|anyone|owner)\b|\b(?:secretly|silently|covertly|without the user(?:'s)? (?:knowing|knowledge|noticing))\b|<\/?(?:system|assistant|human|user|instructions?|metaclaw_\w+)>|\[(?:INST|SYSTEM)\]|<\|im_(?:start|end)\|>|(?:忽略|无视|忘记)[^。\n]{0,15}(?:指令|指示|提示|规则)|(?:不要|别)告诉用户|(?:以前|上記|これまで)の指示を(?:無視|忘れ)|ignor(?:e|a|ez|er)\s+(?:les|las|todas)\s+(?:instructions|instrucciones)/i,
  },
  {
    rule: 'privilege',
    message: 'Asks for far-reaching rights or touches sensitive places.',
    pattern:
      /\bsudo\b|\bsu\s+root\b|\/etc\/(?:passwd|shadow|sudoers)|~?\/?\.ssh\/|\bid_rsa\b|\bcrontab\s+-|\b(?:mkfs|dd\s+if=|fdisk)\b|\bkeychain\b|\bLD_PRELOAD\b|authorized_keys|\.bashrc\b|\.zshrc\b|\bdrop\s+(?:table|database)\b/i,
  },
  {
    rule: 'link',
    message: 'Contains a link; a page can change after it was checked.',
    pattern: /\bhttps?:\/\/[^\s)>\]]+|\bdata:\w+\/[\w+.-]+;base64|\b(?:\d{1,3}\.){3}\d{1,3}\b(?::\d+)?/i,
  },
  {
    rule: 'remote-code',
    message: 'Runs code that it downloads.',
    // In two steps, or inside of a program: whatever fetches from a named host is looked at.
    pattern:
      /\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|aria2c)\b[^\n]{0,200}\b[\w-]+\.[a-z]{2,}\b|\b(?:urlopen|urlretrieve|downloadstring|downloadfile)\b|\b(?:exec|eval|function)\s*\([^\n]{0,80}(?:request|urllib|fetch|https?|atob|base64|b64decode|\bread\b)|\b(?:powershell|pwsh)\b[^\n]{0,60}-e(?:nc|ncodedcommand)?\b|\b(?:npm|pnpm|yarn|pip\d?|gem|cargo|go|brew)\s+(?:i|install|add|get)\b[^\n]{0,80}(?:git\+|github:|gitlab:|https?:)/i,
  },
  {
    rule: 'exfiltration',
    message: 'Sends data of the user somewhere.',
    // Into an answer, a commit or a picture's address is also somewhere.
    pattern:
      /(?<!\b(?:never|not|don't|avoid|without|stop)\s{1,2}(?:\w{1,12}\s){0,2})\b(?:include|includ(?:es|ing)|append|paste|print|echo|embed|insert|attach|reveal|disclose|expose|quote|write|put|add)\b[^.\n]{0,60}(?:\b(?:api[ _-]?keys?|passwords?|credentials?|secrets?|private keys?|access tokens?|cookies?|environment variables?)\b|\b[A-Z][A-Z0-9]*_?(?:API_?KEY|ACCESS_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)\b)|~?\/?\.(?:aws|gnupg|kube|docker|azure|config\/gcloud)\/|\.(?:netrc|npmrc|pypirc|pgpass|git-credentials)\b|!\[[^\]]*\]\([^)]*(?:\/\/|[?&]\w+=)[^)]*\)|<img\b/i,
  },
  {
    rule: 'checks-off',
    message: 'Switches checks or safety off, or forces its way.',
    pattern:
      /\b(?:always|automatically|auto|blindly|silently|quietly)[ -](?:approve|accept|allow|confirm|say yes|grant)\w*\b|\brm\s+--(?:recursive|force)\b/i,
  },
  {
    rule: 'hidden-text',
    message: 'Contains text that a reader of the page does not see.',
    pattern: /<!--|^\[\/\/\]:\s*#|display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0/im,
  },
  {
    rule: 'link',
    message: 'Contains a link; a page can change after it was checked.',
    pattern:
      /(?<![:\w/])\/\/[\w-]+(?:\.[\w-]+)+|\b[\w-]+(?:\.[\w-]+)*\.(?:com|net|org|io|dev|app|xyz|ru|cn|example|site|info|me|cc|top|ly|gg)\/\S/i,
  },
  {
    rule: 'encoded',
    message: 'Contains a long encoded block that nobody can read.',
    pattern:
      /[A-Za-z0-9+/]{80,}={0,2}|(?:\\x[0-9a-f]{2}){8,}|(?:%[0-9a-f]{2}){10,}|\bbase64\s+(?:-d|--decode)\b/i,
  },
];

/** Characters that a reader cannot see but a model reads: tags, direction marks, zero-width letters and fillers. */
const HIDDEN =
  /\u034f|\u17b4|\u17b5|[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|[\u{1d173}-\u{1d17a}]/u;
/** Marks of which form a character has: those of no emoji, and several in a row, which can spell a hidden text. */
const HIDDEN_FORM = /[\ufe00-\ufe0e]|\ufe0f{2}/;
/** A Cyrillic letter among Latin ones looks like one of them, and no rule sees the word. */
const LOOK_ALIKE = /[A-Za-z][\u0400-\u04ff]|[\u0400-\u04ff][A-Za-z]/;
/** Joiners are part of emoji and of some scripts; between Latin letters they only split words that a rule would see. */
const HIDDEN_JOINER = /[A-Za-z0-9][\u200c\u200d]+[A-Za-z0-9]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;
const HIDDEN_ALL = new RegExp(`${HIDDEN.source}|[\\u200c\\u200d]`, 'gu');

/** Everything in a proposed skill that a person should see before it goes live; empty when nothing was found. */
export function scanSkill(skill: {
  name: string;
  description: string;
  triggers: readonly string[];
  body: string;
}): SafetyFinding[] {
  const raw = [skill.name, skill.description, skill.triggers.join('\n'), skill.body].join('\n');
  const findings: SafetyFinding[] = [];
  const add = (rule: string, message: string, excerpt: string) => {
    if (findings.some((finding) => finding.rule === rule)) return;
    findings.push({ rule, message, excerpt: excerpt.replace(HIDDEN_ALL, '�').slice(0, 120) });
  };

  const hidden = HIDDEN.exec(raw) ?? HIDDEN_FORM.exec(raw) ?? HIDDEN_JOINER.exec(raw) ?? CONTROL.exec(raw);
  if (hidden) add('hidden-text', 'Contains characters that cannot be seen.', around(raw, hidden.index));

  const alike = LOOK_ALIKE.exec(raw);
  if (alike) add('hidden-text', 'Mixes letters of two scripts that look alike.', around(raw, alike.index));

  const text = normalise(raw);
  for (const { rule, message, pattern } of [...RULES, ...RULES_ELSEWHERE]) {
    const match = pattern.exec(text);
    if (match) add(rule, message, match[0]);
  }
  const masked = redact(text);
  if (masked.masked || /\[redacted:[\w-]+\]/.test(text))
    add(
      'credential',
      'Contains something that looks like a credential.',
      masked.text.match(/.{0,40}\[redacted:[\w-]+\]/)?.[0] ?? '',
    );
  return findings;
}

/** The findings that an edit brings in: what the scan finds in the earlier text as well is no news. */
export function newFindings(
  findings: readonly SafetyFinding[],
  base: Parameters<typeof scanSkill>[0] | null,
): SafetyFinding[] {
  if (base === null) return [...findings];
  const known = new Set(scanSkill(base).map(({ rule, excerpt }) => `${rule} ${excerpt}`));
  return findings.filter(({ rule, excerpt }) => !known.has(`${rule} ${excerpt}`));
}

function normalise(text: string): string {
  return text
    .normalize('NFKC')
    .replace(HIDDEN_ALL, '')
    .replace(/[‘’ʼ]/g, "'")
    .replace(/[‐-―−]/g, '-')
    .replace(/\\\n/g, ' ')
    .replace(/[^\S\n]+/g, ' ');
}

function around(text: string, at: number): string {
  return text.slice(Math.max(0, at - 30), at + 30);
}
