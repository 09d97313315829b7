import { type Found, plain, type Statement, slotName, subjectOf } from './statement.ts';

/** A value in statements of one language: `I live in <value>`. */
interface Pattern {
  family: string;
  pattern: RegExp;
}

const ME = '(?:i|we|(?:the )?user)';
const NOUN = "(?<value>[\\p{L}\\p{N}][\\p{L}\\p{N} .'’&+-]{0,60})";

/** What follows on a home is where in the town it is, or how one lives there. */
const ASIDE_HOME = '(?:, .*)?';

const PATTERNS: readonly Pattern[] = [
  {
    family: 'me/home',
    pattern: new RegExp(
      `^${ME}(?:['’]m|['’]ve| am| are| have| has| is|['’]re)? ?(?:live|lives|living|reside|resides|based|settled|relocated|relocating)(?: over)?(?: from [\\p{L} .]{2,40}?)? (?:in|to|at) ${NOUN}${ASIDE_HOME}$`,
      'iu',
    ),
  },
  {
    family: 'me/home',
    pattern: new RegExp(`^(?:i|(?:the )?user)(?:['’]ve| have| has)? moved to ${NOUN}${ASIDE_HOME}$`, 'iu'),
  },
  {
    family: 'me/home',
    pattern: new RegExp(
      `^(?:yo |nosotros )?(?:vivo|vivimos|vive|resido|me mudé|se mudó|se ha mudado|me he mudado|nos mudamos|nos hemos mudado)(?: de [\\p{L} ]{2,30}?)? (?:en|a) ${NOUN}${ASIDE_HOME}$`,
      'iu',
    ),
  },
  {
    family: 'me/home',
    pattern: new RegExp(
      `^(?:j['’]habite|habite|vit|a déménagé|nous habitons|je vis|nous vivons|je réside|j['’]ai déménagé|j['’]ai emménagé|je me suis installée?|nous avons déménagé)(?: de [\\p{L} ]{2,30}?)? (?:à|en|au|aux|dans) ${NOUN}${ASIDE_HOME}$`,
      'iu',
    ),
  },
  {
    family: 'me/home',
    pattern:
      /^(?<who>\p{Script=Han}{1,4}?)(?:家)?(?:住在|住到|搬到了?|搬去了?|搬家到了?|定居在)\s*(?<value>[\p{L}\p{N}]{1,20}?)(?:了|住)?(?:[,，].*)?$/u,
  },
  {
    family: 'me/home',
    pattern:
      /^(?:(?<who>[\p{L}ー]{1,10}?)は)?(?:.{1,15}から)?(?<value>[\p{L}\p{N}ー]{1,20}?)(?:に住んで(?:い)?(?:ます|る)|に引っ越しました|に引っ越した|へ引っ越しました|に移住しました|在住(?:です)?)$/u,
  },
  {
    family: 'place',
    pattern:
      /^(?:our|the|my|nuestra|la|notre|nos|le) (?<who>(?:\p{L}+ ){0,2}?(?:offices?|headquarters|hq|data ?cent(?:er|re)s?|servers?|warehouse|shop|store|studio|school|oficina|sede|tienda|bureaux?|siège|magasin)) (?:is|are|is located|are located|moved|have moved|has moved|está|están|se mudó|est|sont|a déménagé) (?:in|to|at|en|a|à|au) (?<value>\p{Lu}[\p{L} .'’-]{1,40})$/iu,
  },
  { family: 'me/called', pattern: /^(?:you can |just )?call me (?<value>[\p{L}][\p{L} .'’-]{0,40})$/iu },
  { family: 'me/called', pattern: /^i (?:go|goes) by (?<value>[\p{L}][\p{L} .'’-]{0,40})$/iu },
  {
    family: 'me/called',
    pattern: /^(?:puedes |podés )?(?:llámame|llamarme|dime) (?<value>[\p{L}][\p{L} .'’-]{0,40})$/iu,
  },
  {
    family: 'me/called',
    pattern:
      /^(?:tu peux |vous pouvez )?(?:appelle-moi|appelez-moi|m['’]appeler) (?<value>[\p{L}][\p{L} .'’-]{0,40})$/iu,
  },
  {
    family: 'me/called',
    pattern: /^(?:你?可以)?(?:叫我|称呼我为?|喊我)\s*(?<value>[\p{L}\p{N}]{1,20}?)(?:吧|就好|就行|即可)?$/u,
  },
  {
    family: 'me/called',
    pattern:
      /^(?:(?:私|僕|俺)(?:のこと)?[をは])?(?<value>[\p{L}\p{N}ー]{1,20}?)(?:と呼んで(?:ください|くださいね|ね)?|って呼んで(?:ください|ね)?)$/u,
  },
  { family: 'attr/name', pattern: /^(?:me llamo|mi nombre es) (?<value>[\p{L}][\p{L} .'’-]{0,40})$/iu },
  {
    family: 'attr/name',
    pattern: /^(?:je m['’]appelle|mon (?:pré)?nom est) (?<value>[\p{L}][\p{L} .'’-]{0,40})$/iu,
  },
  { family: 'attr/name', pattern: /^(?:我叫|我的名字(?:是|叫)|我名叫)\s*(?<value>[\p{L}\p{N}]{1,20})$/u },
  {
    family: 'attr/name',
    pattern: /^(?:(?:私の)?名前は)(?<value>[\p{L}\p{N}ー]{1,20}?)(?:です|だ|と(?:申|言)います)?$/u,
  },
  {
    family: 'attr/employer',
    pattern: new RegExp(
      `^${ME}(?:['’]m| am)? ?(?:(?:work|works|working|employed) (?:at|for|by)|joined) (?=\\p{Lu})${NOUN}$`,
      'u',
    ),
  },
  { family: 'attr/employer', pattern: new RegExp(`^[Tt]rabaj(?:o|a) (?:en|para) (?=\\p{Lu})${NOUN}$`, 'u') },
  { family: 'attr/employer', pattern: new RegExp(`^[Jj]e travaille (?:chez|pour) (?=\\p{Lu})${NOUN}$`, 'u') },
  {
    family: 'attr/employer',
    pattern: /^(?<who>\p{Script=Han}{1,4}?)在\s*(?<value>[\p{L}\p{N}]{2,20}?)(?:上班|工作|任职|就职)$/u,
  },
  {
    family: 'attr/employer',
    pattern:
      /^(?:(?<who>[\p{L}ー]{1,10}?)は)?(?<value>[\p{L}\p{N}ー]{2,20}?)(?:で働いて(?:い)?(?:ます|る)|に勤めて(?:い)?(?:ます|る)|に勤務して(?:い)?(?:ます|る))$/u,
  },
];

/** Somebody else by name or kinship, and what is said of them. */
const OTHERS =
  /^(?<who>\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?|(?:my|our|mi|mon|ma) \p{L}+) (?<rest>(?:(?:has|have|is|are|se|a|ha) )?(?:lives?|moved|resides|based|relocated|works?|joined|vive|mudó|mudado|habite|vit|déménagé|trabaja|travaille)(?!\p{L}).*)$/u;
/** No name: the speaker, or somebody whom only the conversation tells. */
const NOBODY =
  /^(?:(?:I|We|J|Nous)['’]|(?:He|She|They|It|You|Il|Elle|Ils|Elles|On|Él|Ella|Ellos|Ellas|Usted)$)/;
const MYSELF = new Set([
  '',
  '我',
  '我们',
  '咱们',
  '用户',
  '私',
  '僕',
  '俺',
  'ユーザー',
  'I',
  'We',
  'User',
  'My user',
]);

/** Where people live and work, and what the user is called. */
export function personIn(statement: Statement): Found {
  const { text, future, past, negated, changed } = statement;
  if (future || negated || (past && !changed)) return { tells: [], ends: [] };
  const other = OTHERS.exec(text)?.groups;
  if (other?.who && other.rest && !MYSELF.has(other.who) && !NOBODY.test(other.who)) {
    const subject = subjectOf(other.who) || plain(other.who);
    return tellOf(`I ${other.rest}`, subject) ?? tellOf(other.rest, subject) ?? { tells: [], ends: [] };
  }
  return tellOf(text, '') ?? { tells: [], ends: [] };
}

function tellOf(text: string, subject: string): Found | null {
  for (const { family, pattern } of PATTERNS) {
    const { value, who = '' } = pattern.exec(capitalised(family, text))?.groups ?? {};
    if (!value || /\b(?:with|and|from|because|for)\b/i.test(value) || !isPlace(family, value)) continue;
    const whose = subject === '' && !MYSELF.has(who) ? who : subject;
    return { tells: [{ slot: slotName(family, whose), value: plain(value) }], ends: [] };
  }
  return null;
}

/** `We moved to a new office plan` is no home: in Latin letters a place has a capital. */
function isPlace(family: string, value: string): boolean {
  return (
    (family !== 'me/home' && family !== 'place') ||
    !/^\p{Script=Latin}/u.test(value) ||
    /^(?:the )?\p{Lu}/u.test(value)
  );
}

/** The first word is written small where the pattern minds capitals. */
function capitalised(family: string, text: string): string {
  return family === 'attr/employer' && /^(?:I|We|The)\b/.test(text)
    ? text.replace(/^(I|We|The)\b/, (word) => word.toLowerCase())
    : text;
}
