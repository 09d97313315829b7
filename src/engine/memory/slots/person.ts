import { type Found, plain, type Statement, slotName } from './statement.ts';

/** A value in statements of one language: `I live in <value>`. */
interface Pattern {
  family: string;
  pattern: RegExp;
}

const ME = '(?:i|we|(?:the )?user)';
const NOUN = "(?<value>[\\p{L}\\p{N}][\\p{L}\\p{N} .'’&+-]{0,60})";

const PATTERNS: readonly Pattern[] = [
  {
    family: 'me/home',
    pattern: new RegExp(
      `^${ME}(?:['’]m|['’]ve| am| are| have| has| is|['’]re)? ?(?:live|lives|living|reside|resides|based|settled|relocated|relocating)(?: over)?(?: from [\\p{L} .]{2,40}?)? (?:in|to|at) ${NOUN}$`,
      'iu',
    ),
  },
  {
    family: 'me/home',
    pattern: new RegExp(`^(?:i|(?:the )?user)(?:['’]ve| have| has)? moved to ${NOUN}$`, 'iu'),
  },
  {
    family: 'me/home',
    pattern: new RegExp(
      `^(?:yo |nosotros )?(?:vivo|vivimos|vive|resido|me mudé|me he mudado|nos mudamos|nos hemos mudado)(?: de [\\p{L} ]{2,30}?)? (?:en|a) ${NOUN}$`,
      'iu',
    ),
  },
  {
    family: 'me/home',
    pattern: new RegExp(
      `^(?:j['’]habite|nous habitons|je vis|nous vivons|je réside|j['’]ai déménagé|j['’]ai emménagé|je me suis installée?|nous avons déménagé)(?: de [\\p{L} ]{2,30}?)? (?:à|en|au|aux|dans) ${NOUN}$`,
      'iu',
    ),
  },
  {
    family: 'me/home',
    pattern:
      /^(?:我|我们|用户)(?:家)?(?:住在|住到|搬到了?|搬去了?|搬家到了?|定居在)\s*(?<value>[\p{L}\p{N}]{1,20}?)(?:了|住)?$/u,
  },
  {
    family: 'me/home',
    pattern:
      /^(?:(?:私|僕|俺|ユーザー)は)?(?:.{1,15}から)?(?<value>[\p{L}\p{N}ー]{1,20}?)(?:に住んで(?:い)?(?:ます|る)|に引っ越しました|に引っ越した|へ引っ越しました|に移住しました|在住(?:です)?)$/u,
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
      `^${ME}(?:['’]m| am)? ?(?:work|works|working|employed) (?:at|for|by) (?=\\p{Lu})${NOUN}$`,
      'u',
    ),
  },
  { family: 'attr/employer', pattern: new RegExp(`^[Tt]rabaj(?:o|a) (?:en|para) (?=\\p{Lu})${NOUN}$`, 'u') },
  { family: 'attr/employer', pattern: new RegExp(`^[Jj]e travaille (?:chez|pour) (?=\\p{Lu})${NOUN}$`, 'u') },
  { family: 'attr/employer', pattern: /^我在\s*(?<value>[\p{L}\p{N}]{2,20}?)(?:上班|工作|任职|就职)$/u },
  {
    family: 'attr/employer',
    pattern:
      /^(?:(?:私|僕)は)?(?<value>[\p{L}\p{N}ー]{2,20}?)(?:で働いて(?:い)?(?:ます|る)|に勤めて(?:い)?(?:ます|る)|に勤務して(?:い)?(?:ます|る))$/u,
  },
];

/** Where the user lives and works, and what they are called. */
export function personIn({ text, future, past, negated, changed }: Statement): Found {
  if (future || negated || (past && !changed)) return { tells: [], ends: [] };
  for (const { family, pattern } of PATTERNS) {
    const value = pattern.exec(capitalised(family, text))?.groups?.value;
    if (value && !/\b(?:with|and|from|because|for)\b/i.test(value) && isPlace(family, value))
      return { tells: [{ slot: slotName(family, ''), value: plain(value) }], ends: [] };
  }
  return { tells: [], ends: [] };
}

/** `We moved to a new office plan` is no home: in Latin letters a place has a capital. */
function isPlace(family: string, value: string): boolean {
  return family !== 'me/home' || !/^\p{Script=Latin}/u.test(value) || /^(?:the )?\p{Lu}/u.test(value);
}

/** The first word is written small where the pattern minds capitals. */
function capitalised(family: string, text: string): string {
  return family === 'attr/employer' && /^(?:I|We|The)\b/.test(text)
    ? text.replace(/^(I|We|The)\b/, (word) => word.toLowerCase())
    : text;
}
