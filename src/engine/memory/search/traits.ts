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
const DIGIT = /\d/;
const YEAR = /^(?:19|20)\d\d$/;
const UNSPACED_DATE =
  /昨天|今天|明天|前天|后天|上周|下周|上个月|下个月|去年|今年|明年|星期|周末|刚刚|最近|[月日]|昨日|今日|明日|先週|来週|先月|来月|어제|오늘|내일|지난|작년|내년/u;
const UNSPACED_COUNT = /[一二两三四五六七八九十百千万几]/u;

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter(Boolean));

const DATE_WORDS = words(`
  yesterday today tonight tomorrow ago recently lately just soon since weekend weekends week weeks month months year
  years day days night morning afternoon evening summer winter spring autumn monday tuesday wednesday thursday friday
  saturday sunday january february march april june july august september october november december
  hier demain hui semaine mois année ans soir matin été hiver janvier février mars avril juin juillet août septembre
  octobre novembre décembre lundi mardi mercredi jeudi vendredi samedi dimanche
  ayer hoy mañana semana mes meses año años noche tarde enero febrero marzo abril mayo junio julio agosto septiembre
  octubre noviembre diciembre lunes martes miércoles jueves viernes sábado domingo
  gestern heute morgen woche wochen monat jahr jahre jahren abend januar februar märz mai juni juli oktober dezember
  montag dienstag mittwoch donnerstag freitag samstag sonntag
  вчера сегодня завтра неделю месяц год года лет`);

const NUMBER_WORDS = words(`
  two three four five six seven eight nine ten eleven twelve dozen hundred thousand couple few several once twice half
  deux trois quatre cinq six sept huit neuf dix douze cent mille dos tres cuatro cinco seis siete ocho nueve diez cien mil
  zwei drei vier fünf sechs sieben acht neun zehn zwölf hundert tausend два три четыре пять десять`);

/** `spoken`: the words of the text in lower case. */
export function traitsOf(text: string, spoken: readonly string[]): number {
  let traits = ASKS.test(text.slice(-20)) ? TRAIT.asks : 0;
  for (const word of spoken) {
    if (DATE_WORDS.has(word)) traits |= TRAIT.dated;
    else if (DIGIT.test(word)) traits |= YEAR.test(word) ? TRAIT.dated : TRAIT.counted;
    else if (NUMBER_WORDS.has(word)) traits |= TRAIT.counted;
  }
  if (UNSPACED_DATE.test(text)) traits |= TRAIT.dated;
  if (UNSPACED_COUNT.test(text)) traits |= TRAIT.counted;
  return traits;
}
