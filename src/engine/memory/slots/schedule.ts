import { type Found, has, type Statement, slotName, subjectOf } from './statement.ts';

const DAYS: readonly RegExp[] = [
  /\bmon(?:day)?s?\b|\blunes\b|\blundis?\b|(?:周|星期|礼拜)一|月曜日?/giu,
  /\btue(?:s|sday|sdays)?\b|\bmartes\b|\bmardis?\b|(?:周|星期|礼拜)二|火曜日?/giu,
  /\bwed(?:nesday|nesdays)?\b|\bmiércoles\b|\bmercredis?\b|(?:周|星期|礼拜)三|水曜日?/giu,
  /\bthu(?:r|rs|rsday|rsdays)?\b|\bjueves\b|\bjeudis?\b|(?:周|星期|礼拜)四|木曜日?/giu,
  /\bfri(?:day|days)?\b|\bviernes\b|\bvendredis?\b|(?:周|星期|礼拜)五|金曜日?/giu,
  /\bsat(?:urday|urdays)?\b|\bsábados?\b|\bsamedis?\b|(?:周|星期|礼拜)六|土曜日?/giu,
  /\bsun(?:day|days)?\b|\bdomingos?\b|\bdimanches?\b|(?:周|星期|礼拜)[日天]|日曜日?/giu,
];
const TIME =
  /(?<half>上午|下午|晚上|午前|午後)?(?<![\d.:-])(?<hour>\d{1,2})(?::(?<minute>\d{2})|h(?<french>\d{2})?|[点點時](?<wide>\d{1,2}分?|半)?)?\s?(?<mark>[ap]\.?m\.?(?![\p{L}]))?(?![\d:.-])/giu;
const MONTHS = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec';
const DATE = new RegExp(
  `\\b(?<year>\\d{4})-(?<month>\\d{2})-(?<day>\\d{2})\\b|\\b(?<name>${MONTHS})[a-z]* (?<d1>\\d{1,2})(?:st|nd|rd|th)?\\b|\\b(?<d2>\\d{1,2})(?:st|nd|rd|th)? (?:of )?(?<name2>${MONTHS})[a-z]*\\b|(?<m3>\\d{1,2})月(?<d3>\\d{1,2})[日号]`,
  'giu',
);

/** Things that have a time of their own, by one name for all languages. */
const EVENTS: readonly (readonly [name: string, words: RegExp])[] = [
  [
    'deploy',
    /\bdeploy(?:s|ments?|ing)?\b|\bdespliegues?\b|\bdesplegamos\b|\bdéplo(?:iements?|yons|ie)|\bmises? en production\b|部署|上线|デプロイ/giu,
  ],
  ['release', /\breleases?\b|\blaunch\b|\blanzamientos?\b|发布|发版|リリース/giu],
  ['standup', /\bstand-?ups?\b|站会|晨会|朝会/giu],
  [
    'meeting',
    /\bmeetings?\b|\bsyncs?\b|\breunión\b|\breuniones\b|\bréunions?\b|例会|会议|周会|开会|会議|ミーティング|定例/giu,
  ],
  ['backup', /\bback-?ups?\b|\bcopias? de seguridad\b|\bsauvegardes?\b|备份|バックアップ/giu],
  ['class', /\b(?:lessons?|class(?:es)?|clases?|cours)\b|上课|课程|レッスン|授業/giu],
  [
    'deadline',
    /\bdeadlines?\b|\bdue date\b|\bfecha límite\b|\bdate limite\b|\béchéance\b|截止|締め?切り?/giu,
  ],
  ['appointment', /\b(?:appointments?|cita|rendez-vous)\b|预约|予約/giu],
  [
    '',
    /\b(?:retros?|retrospectives?|demos?|shifts?|training|rehearsals?|choir|practice|reviews?|invoices?|payday|planning|1:1s?|one-on-ones?|calls?|office hours|maintenance|gym|yoga|therapy|trash|garbage|party|dinner|lunch|flight|train|ensayo|répétition)\b/giu,
  ],
];
/** Of one time only: its day says nothing of the next. */
const ONCE =
  /\b(?:i|we) (?:have|had|got)\b|\bthere(?:'s| is| was)\b|\blet['’]s\b|\bremind\b|\btomorrow\b|\bnext\b|\bthis\b|\btengo\b|\btenemos\b|\bj['’]ai\b|\bnous avons\b|明天|下周|这周|本周|有个|明日|来週|今週|があります/iu;
const SCHEDULING =
  /\b(?:every|each|on|at|until|scheduled|rescheduled|moved|weekly|daily|cada|todos los|los|las|a las|chaque|tous les|toutes les|le|à)\b|每(?:周|个|天)?|毎週|毎日|改到|移到|在|に|は/giu;

/** `deploys run on Fridays`, `the standup is at 9:30`. Value: `d:5 t:09:30 on:03-05`, as far as it is said. */
export function scheduleIn({ text, future, past, negated, changed, added }: Statement): Found {
  const nothing: Found = { tells: [], ends: [] };
  if (future || negated || added || (past && !changed) || ONCE.test(text)) return nothing;
  const event = EVENTS.find(([, words]) => has(words, text));
  if (!event) return nothing;
  let rest = event[0] === '' ? text : text.replace(event[1], ' ');
  const parts: string[] = [];
  const dates: string[] = [];
  rest = rest.replace(DATE, (...found) => {
    dates.push(dateOf(found.at(-1) as Record<string, string | undefined>));
    return ' ';
  });
  const days = DAYS.flatMap((day, number) => {
    const without = rest.replace(day, ' ');
    if (without === rest) return [];
    rest = without;
    return [number + 1];
  });
  const times: string[] = [];
  rest = rest.replace(TIME, (whole, ...found) => {
    const time = timeOf(found.at(-1) as Record<string, string | undefined>);
    if (time === null) return whole;
    times.push(time);
    return ' ';
  });
  if (days.length > 0) parts.push(`d:${days.join('+')}`);
  if (times.length > 0) parts.push(`t:${times.join('+')}`);
  if (dates.length > 0) parts.push(`on:${dates.join('+')}`);
  if (parts.length === 0) return nothing;
  const subject = subjectOf(rest.replace(SCHEDULING, ' '));
  return {
    tells: [
      { slot: slotName(event[0] === '' ? 'when' : `when/${event[0]}`, subject), value: parts.join(' ') },
    ],
    ends: [],
  };
}

/** Null for a number that is no time of day. */
function timeOf({
  half,
  hour,
  minute,
  french,
  wide,
  mark,
}: Record<string, string | undefined>): string | null {
  if (!minute && french === undefined && wide === undefined && !mark && !half) return null;
  const late = /^p/i.test(mark ?? '') || half === '下午' || half === '晚上' || half === '午後';
  const number = Number(hour);
  const hours = late && number < 12 ? number + 12 : /^a/i.test(mark ?? '') && number === 12 ? 0 : number;
  const minutes = minute ?? french ?? (wide === '半' ? '30' : (wide ?? '').replace('分', ''));
  if (hours > 24) return null;
  return `${String(hours).padStart(2, '0')}:${(minutes === '' ? '0' : minutes).padStart(2, '0')}`;
}

function dateOf(groups: Record<string, string | undefined>): string {
  const { year, month, day, name, d1, d2, name2, m3, d3 } = groups;
  const named = (name ?? name2)?.toLowerCase();
  const number = named === undefined ? (month ?? m3 ?? '0') : String(MONTHS.split('|').indexOf(named) + 1);
  const date = `${number.padStart(2, '0')}-${(day ?? d1 ?? d2 ?? d3 ?? '0').padStart(2, '0')}`;
  return year === undefined ? date : `${year}-${date}`;
}
