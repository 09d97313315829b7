/** What a stored text looks like to a question, beside its words. Bits, kept with each document. */
export const TRAIT = {
  /** A remembered thing, not something said. */
  unit: 1,
  assistant: 2,
  /** Ends by asking. */
  asks: 4,
  /** Says when. */
  dated: 8,
  /** Says how many or how much. */
  counted: 16,
  /** Out of use; its number is not given again. */
  dropped: 32,
} as const;

const ASKS = /[?？؟;][\s"'”’)\]]*$/u;
const COUNTS =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|couple|few|several|once|twice|half|deux|trois|quatre|cinq|dix|cent|mille|dos|tres|cuatro|cinco|diez|cien|mil|zwei|drei|vier|fünf|zehn|hundert|tausend)\b|[一二两三四五六七八九十百千万几]/iu;
const TELLS_WHEN = new RegExp(
  [
    String.raw`\b(?:yesterday|today|tonight|tomorrow|ago|recently|lately|just|soon|since|weekend|weekends)\b`,
    String.raw`\b(?:last|next|this|past|previous|coming|in a|a) (?:night|day|days|week|weeks|month|months|year|years|few|couple|summer|winter|spring|autumn|fall|morning|afternoon|evening|mon|tues|wednes|thurs|fri|satur|sun)`,
    String.raw`\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b`,
    String.raw`\b(?:january|february|march|april|june|july|august|september|october|november|december)\b`,
    String.raw`\b(?:in|of|by|until|last|next|this) may\b|\b(?:19|20)\d\d\b|\b\d+ (?:day|week|month|year)s?\b`,
    String.raw`\b(?:hier|demain|aujourd|avant-hier|dernière?|prochaine?|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b`,
    String.raw`\b(?:ayer|hoy|mañana|pasad[oa]|próxim[oa]|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|lunes|martes|miércoles|jueves|viernes|sábado|domingo)\b`,
    String.raw`\b(?:gestern|heute|morgen|vorgestern|letzte[nrs]?|nächste[nrs]?|januar|februar|märz|mai|juni|juli|oktober|dezember|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b`,
    '昨天|今天|明天|前天|后天|上周|下周|上个月|下个月|去年|今年|明年|星期|周末|刚刚|最近|月|昨日|今日|明日|先週|来週|先月|来月|어제|오늘|내일|지난|작년|내년',
  ].join('|'),
  'iu',
);

const BOTH_ENDS = 600;

export function traitsOf(text: string): number {
  const ends = text.length <= 2 * BOTH_ENDS ? text : `${text.slice(0, BOTH_ENDS)} ${text.slice(-BOTH_ENDS)}`;
  return (
    (ASKS.test(ends) ? TRAIT.asks : 0) |
    (TELLS_WHEN.test(ends) ? TRAIT.dated : 0) |
    (COUNTS.test(ends) ? TRAIT.counted : 0)
  );
}
