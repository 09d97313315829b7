import { termsOf } from '../../platform/words.ts';
import { FILLER, NEGATION } from './phrases.ts';
import { type Found, has, plain, type Statement, slotName, subjectOf } from './statement.ts';

/** A choice that people and teams make one way or the other. */
interface Choice {
  name: string;
  /** Something else that must be named; without it the words mean other things too. */
  about?: RegExp;
  options: readonly (readonly [value: string, words: RegExp])[];
}

const ANSWERS =
  /\b(?:answers?|answering|repl(?:y|ies)|respon(?:d|ses?)|explanations?|explain|messages?|respuestas?|responde\w*|contesta\w*|réponses?|répond\w*|réponds|explications?)\b|回答|回复|答复|解释|返信|返事|説明|答え/iu;

const CHOICES: readonly Choice[] = [
  {
    name: 'indentation',
    options: [
      [
        'tabs',
        /\btab\s?键|\btabs?\b(?! (?:bar|group|completion))|\btabulaciones\b|\btabuladores\b|\btabulations?\b|制表符|タブ(?!レット|キー)/giu,
      ],
      [
        'spaces',
        /\b(?:(?:\d|two|four|eight|dos|cuatro|deux|quatre)[ -])?(?:spaces|space indent\w*|espacios|espaces)\b|(?:[\d两二四八]\s?[个個]\s?)?空格|スペース(?:\d|[2４2]つ)?/giu,
      ],
    ],
  },
  {
    name: 'quotes',
    options: [
      [
        'single',
        /\bsingle[ -]quot\w+|comillas simples|guillemets simples|apostrophes|单引号|シングルクォート/giu,
      ],
      ['double', /\bdouble[ -]quot\w+|comillas dobles|guillemets doubles|双引号|ダブルクォート/giu],
    ],
  },
  {
    name: 'theme',
    options: [
      [
        'dark',
        /\bdark (?:mode|theme|colou?rs?|background)|(?:modo|tema) oscuro|(?:mode|thème) sombre|(?:深色|暗色|黑色|暗黑)(?:模式|主题)?|ダーク(?:モード|テーマ)?/giu,
      ],
      [
        'light',
        /\blight (?:mode|theme|colou?rs?|background)|(?:modo|tema) claro|(?:mode|thème) clair|(?:浅色|亮色|白色)(?:模式|主题)?|ライト(?:モード|テーマ)/giu,
      ],
    ],
  },
  {
    name: 'answer length',
    about: ANSWERS,
    options: [
      [
        'short',
        /\b(?:short|shorter|brief|concise|terse|to the point|cort[oa]s?|breves?|concis[oa]s?|courtes?|concis|concises?|brèves?)\b|简短|简洁|短い|短く|簡潔/giu,
      ],
      [
        'long',
        /\b(?:long|longer|detailed|in detail|verbose|thorough|larg[oa]s?|detallad[oa]s?|longues?|détaillées?)\b|详细|详尽|详解|長い|詳しく|詳しい|詳細/giu,
      ],
    ],
  },
  {
    name: 'answer language',
    about: new RegExp(
      `${ANSWERS.source}|\\b(?:speak|talk|write|habla\\w*|háblame|parle\\w*|écri\\w*)\\b|说|讲|話し|書いて`,
      'iu',
    ),
    options: [
      ['english', /\benglish\b|\binglés\b|\banglais\b|英语|英文|英語/giu],
      ['chinese', /\b(?:chinese|mandarin)\b|\bchino\b|\bchinois\b|中文|汉语|中国語/giu],
      ['japanese', /\bjapanese\b|\bjaponés\b|\bjaponais\b|日语|日文|日本語/giu],
      ['spanish', /\bspanish\b|\bespañol\b|\bespagnol\b|西班牙语|スペイン語/giu],
      ['french', /\bfrench\b|\bfrancés\b|\bfrançais\b|法语|法文|フランス語/giu],
      ['german', /\bgerman\b|\balemán\b|\ballemand\b|德语|德文|ドイツ語/giu],
    ],
  },
  {
    name: 'units',
    options: [
      ['metric', /\bmetric\b|\bmétric[oa]s?\b|\bmétriques?\b|公制|メートル法/giu],
      ['imperial', /\bimperial\b|\bimpériales?\b|英制|ヤード・ポンド法/giu],
    ],
  },
  {
    name: 'temperature',
    options: [
      ['celsius', /\bcelsius\b|摄氏|摂氏/giu],
      ['fahrenheit', /\bfahrenheit\b|华氏|華氏/giu],
    ],
  },
  {
    name: 'clock',
    options: [
      ['24', /\b24[ -]?(?:hours?|h)\b(?: (?:clock|time|format))?|24 horas|24 heures|24小时制?|24時間/giu],
      ['12', /\b12[ -]?(?:hours?|h)\b(?: (?:clock|time|format))?|12 horas|12 heures|12小时制?|12時間/giu],
    ],
  },
  {
    name: 'api style',
    options: [
      ['rest', /\bREST(?:ful)?\b/gu],
      ['graphql', /\bgraphql\b/giu],
      ['grpc', /\bgrpc\b/giu],
    ],
  },
];

/** The one behind, or in front of, such words is the one that is not wanted. */
const REJECTED_AFTER =
  /(?:\bover|\bthan|instead of|rather than|\bnot|\bnever|\bavoid|\bno|\bto|\bwithout|don['’]t (?:use|like|want|write)|do not (?:use|like|want|write)|stop using|no longer \p{L}+|\bhates?|\bdislikes?|en lugar de|en vez de|antes que|más que|\bque|\baux?|\bsin|\bnunca(?: uses)?|\bno uses|au lieu d[e’']|plutôt qu[e’']|\bpas(?: d[e’'])?|\bsans|\bà|jamais(?: d[e’'])?|而不是|不要用?|不用|不喜欢|不是|不再用|别用|比起?)\s*(?:the |an? |los |las |les |des |de |d['’])?$/iu;
const REJECTED_BEFORE = /^\s*(?:ではなく|じゃなく|より|は使わ|を使わ|は嫌|の代わり|は(?:やめ|避け))/u;
/** A wish, a rule, or a habit. */
const WISH =
  /\b(?:prefers?|preference|preferred|like|likes|love|loves|want|wants|use|uses|always|never|please|rather|indent\w*|keep|give|set|switch\w*|moved|favou?r|write|speak|answer|reply|respond|show|stick|instead|avoid|prefiero|prefiere|prefier\p{L}*|preferimos|gustan?|usa|uso|usar|usamos|quiero|siempre|responde\w*|contesta\w*|habla\w*|préfère|préférons|préfères|aime|aimons|veux|utilise\w*|utilisons|toujours|réponds|répondez|parle\w*|are|is|no longer|not)\b|喜欢|偏好|偏向|更爱|请|使用|用|要|习惯|回答|回复|说|好き|好み|ほしい|使|ください|希望|いい|良い/iu;

/** `I prefer tabs over spaces`, `please answer in French`, `用单引号`. */
export function choiceIn({ text, clause, added, future }: Statement): Found {
  const nothing: Found = { tells: [], ends: [] };
  if (
    added ||
    (future &&
      !/\bwould (?:like|prefer|rather)\b|['’]d (?:like|prefer|rather)|\bshould\b|想要|quiero/i.test(text))
  )
    return nothing;
  if (!WISH.test(clause)) return nothing;
  for (const { name, about, options } of CHOICES) {
    if (about && !about.test(clause)) continue;
    const wanted: string[] = [];
    const refused: string[] = [];
    let rest = text;
    for (const [value, words] of options)
      for (const match of text.matchAll(words)) {
        const rejected =
          REJECTED_AFTER.test(text.slice(0, match.index)) ||
          REJECTED_BEFORE.test(text.slice(match.index + match[0].length));
        (rejected ? refused : wanted).push(rejected ? value : `${value}${widthOf(name, match[0])}`);
        rest = rest.replace(match[0], ' ');
      }
    const chosen = new Set(wanted);
    if (chosen.size === 0 && refused.length === 0) continue;
    if (chosen.size > 1 || refused.some((value) => [...chosen].some((one) => one.startsWith(value))))
      return nothing;
    const subject = subjectOf(rest.replace(about ? new RegExp(about, 'giu') : /$^/, ' ').replace(FORM, ' '));
    const slot = slotName(`choice/${name}`, subject);
    const [only] = chosen;
    if (only !== undefined) return { tells: [{ slot, value: only }], ends: [] };
    // Of two, one refused is the other chosen.
    const others = options.map(([value]) => value).filter((value) => !refused.includes(value));
    const [other] = others;
    return others.length === 1 && other !== undefined
      ? { tells: [{ slot, value: other }], ends: [] }
      : nothing;
  }
  return nothing;
}

/** How many spaces; empty where nobody says. */
function widthOf(name: string, words: string): string {
  if (name !== 'indentation') return '';
  const found = /\d|two|four|eight|dos|cuatro|deux|quatre|[两二四八２４]/iu.exec(words)?.[0].toLowerCase();
  return found === undefined ? '' : ` ${WIDTHS[found] ?? found}`;
}
const WIDTHS: Readonly<Record<string, string>> = {
  two: '2',
  dos: '2',
  deux: '2',
  两: '2',
  二: '2',
  '２': '2',
  four: '4',
  cuatro: '4',
  quatre: '4',
  四: '4',
  '４': '4',
  eight: '8',
  八: '8',
};

/** Words that such wishes are put in. */
const FORM =
  /\b(?:indent\w*|style|format|code|mode|theme|keep|give|show|set|stick|strings?|write|speak|talk|answer|reply|respond|me|units?|degrees|sangr\w+|indenta\w+|código|unidades|formato|modo|tema|estilo|code|unités|thème|habla\w*|háblame|parle\w*|écri\w*|réponds)\b|缩进|代码|风格|格式|模式|主题|单位|说|讲|インデント|コード|スタイル|単位|話し|書いて/giu;

const OVER: readonly RegExp[] = [
  /\bprefers? (?<one>[\p{L}\p{N} -]{2,40}?) (?:over|to|rather than|instead of) (?<other>[\p{L}\p{N} -]{2,40})$/iu,
  /\brather (?:have|use|drink|eat|take)? ?(?<one>[\p{L}\p{N} -]{2,40}?) than (?<other>[\p{L}\p{N} -]{2,40})$/iu,
  /\bprefier[oea]\w* (?:el |la |los |las )?(?<one>[\p{L}\p{N} -]{2,40}?) (?:a|antes que|en lugar de|en vez de)l? (?:el |la |los |las )?(?<other>[\p{L}\p{N} -]{2,40})$/iu,
  /\bpréfèr\w* (?:le |la |les )?(?<one>[\p{L}\p{N} -]{2,40}?) (?:à|au|aux|plutôt que) (?:le |la |les )?(?<other>[\p{L}\p{N} -]{2,40})$/iu,
  /(?:比起|相比)(?<other>[\p{L}\p{N}]{1,15})[，,]?(?:我)?更?(?:喜欢|偏好|爱)(?<one>[\p{L}\p{N}]{1,15})$/u,
  /(?:喜欢|偏好|爱)(?<one>[\p{L}\p{N}]{1,15}?)(?:胜过|多于|超过|而不是|而不喜欢)(?<other>[\p{L}\p{N}]{1,15})$/u,
  /(?<other>[\p{L}\p{N}ー]{1,15}?)より(?:も)?(?<one>[\p{L}\p{N}ー]{1,15}?)(?:の(?:ほう|方))?が(?:好き|いい|良い)/u,
];

/** Of two named things the one that is liked better. */
export function preferenceIn({ text, added, negated }: Statement): Found {
  if (added || negated) return { tells: [], ends: [] };
  for (const pattern of OVER) {
    const match = pattern.exec(text);
    const { one, other } = match?.groups ?? {};
    if (!match || !one || !other) continue;
    const pair = [plain(one), plain(other)].sort().join(' or ');
    const subject = subjectOf(text.slice(0, match.index));
    return { tells: [{ slot: slotName(`prefer/${pair}`, subject), value: plain(one) }], ends: [] };
  }
  return { tells: [], ends: [] };
}

const LIKING =
  /\b(?:likes?|loves?|enjoys?|hates?|dislikes?|fond of|detests?|gustan?|encantan?|odi[oa]|adore|aimes?|aimons|n['’]aime|déteste)\b|喜欢|讨厌|热爱|好き|嫌い/iu;
const RULE =
  /\b(?:always|never|siempre|nunca|toujours|jamais|don['’]t|do not|avoid|evita\w*|évite\w*)\b|总是|一直|永远|不要|必须|别|常に|必ず|絶対/iu;

/** `I like coffee` against `I no longer like coffee`; `always squash` against `never squash`. */
export function stanceIn({ text, clause, added, future, past }: Statement): Found {
  const liking = LIKING.test(clause);
  if (added || future || past || (!liking && !RULE.test(clause))) return { tells: [], ends: [] };
  const against = has(NEGATION, clause);
  const words = termsOf(
    text.replace(NEGATION, ' ').replace(FILLER, ' ').replace(LIKING, ' ').replace(RULE, ' '),
  ).map(({ term }) => term);
  if (words.length === 0 || words.length > 8) return { tells: [], ends: [] };
  const slot = `${liking ? 'likes' : 'rule'}|${words.join(' ')}`;
  return { tells: [{ slot, value: against ? 'no' : 'yes' }], ends: [] };
}
