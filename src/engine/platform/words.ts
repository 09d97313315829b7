/** One searchable term of a text. */
export interface Term {
  /** Folded and stemmed form that is compared. */
  term: string;
  /** As it stood in the text, for explanations. */
  surface: string;
}

const RUN = /[\p{L}\p{N}\p{M}ー]+/gu;
const MARKS = /\p{M}+/gu;

type Script = 'han' | 'kana' | 'hiragana' | 'hangul' | 'alphabetic';

function scriptOf(code: number): Script {
  if (code < 0x2e80) return 'alphabetic';
  if (code >= 0x3040 && code <= 0x309f) return 'hiragana';
  if ((code >= 0x30a0 && code <= 0x30ff) || (code >= 0x31f0 && code <= 0x31ff)) return 'kana';
  if (code >= 0x3400 && code <= 0x9fff) return 'han';
  if (code >= 0xac00 && code <= 0xd7af) return 'hangul';
  if (code >= 0xd840 && code <= 0xdfff) return 'han';
  return 'alphabetic';
}

/**
 * Splits a text of any language into terms, in order: alphabetic words are folded, stop words dropped and lightly
 * stemmed; ideographs and Hangul become overlapping pairs; katakana stays whole; hiragana (grammar) is dropped.
 * Takes time linear in the length; callers cap it.
 */
export function termsOf(text: string): Term[] {
  const terms: Term[] = [];
  const folded = text.normalize('NFKC').toLowerCase();
  for (const [run] of folded.matchAll(RUN)) {
    let start = 0;
    while (start < run.length) {
      const script = scriptOf(run.charCodeAt(start));
      let end = start + 1;
      while (end < run.length && scriptOf(run.charCodeAt(end)) === script) end += 1;
      addSegment(terms, run.slice(start, end), script);
      start = end;
    }
  }
  return terms;
}

function addSegment(terms: Term[], segment: string, script: Script): void {
  switch (script) {
    case 'hiragana':
      return;
    case 'han':
      for (const piece of segment.split(HAN_STOP)) addPairs(terms, piece);
      return;
    case 'hangul':
      addPairs(terms, segment);
      return;
    case 'kana': {
      const term = segment.replace(/ー+$/, '');
      if (term !== '') terms.push({ term, surface: segment });
      return;
    }
    case 'alphabetic': {
      const plain = segment.normalize('NFD').replace(MARKS, '');
      if (plain.length < 2 || STOP.has(plain) || /^\d+$/.test(plain)) return;
      terms.push({ term: stem(plain), surface: segment });
    }
  }
}

function addPairs(terms: Term[], piece: string): void {
  const characters = [...piece];
  if (characters.length === 1) terms.push({ term: piece, surface: piece });
  for (let at = 0; at + 1 < characters.length; at += 1) {
    const pair = `${characters[at]}${characters[at + 1]}`;
    terms.push({ term: pair, surface: pair });
  }
}

/** Irregular or clipped forms that the suffix rules cannot bring together. */
const SAME: Readonly<Record<string, string>> = {
  wrote: 'writ',
  written: 'writ',
  ran: 'run',
  broke: 'break',
  broken: 'break',
  sent: 'send',
  built: 'build',
  chose: 'choos',
  chosen: 'choos',
  forgot: 'forget',
  forgotten: 'forget',
  kept: 'keep',
  sql: 'sql',
  css: 'css',
  aws: 'aws',
  dns: 'dns',
  tls: 'tls',
  cors: 'cors',
  js: 'js',
  kubernetes: 'kubernetes',
  k8s: 'kubernetes',
  db: 'databas',
  repo: 'repository',
  repos: 'repository',
  repositories: 'repository',
  auth: 'authentication',
  docs: 'documentation',
  doc: 'documentation',
  config: 'configur',
  configuration: 'configur',
  mail: 'email',
  mails: 'email',
  regexp: 'regex',
  summarise: 'summariz',
  summarize: 'summariz',
  summary: 'summariz',
  summaries: 'summariz',
  summarising: 'summariz',
  summarizing: 'summariz',
  analyse: 'analys',
  analyze: 'analys',
  analysis: 'analys',
  analyses: 'analys',
  analyzing: 'analys',
  analysing: 'analys',
  prioritise: 'prioritiz',
  priority: 'prioritiz',
  priorities: 'prioritiz',
  prioritize: 'prioritiz',
  prioritizing: 'prioritiz',
};

/** Brings English inflections (and the plurals of Spanish and French) to one form; never shorter than 3 letters. */
function stem(word: string): string {
  // `constructor` is a word too, and every object has a value of that name.
  if (Object.hasOwn(SAME, word)) return SAME[word] ?? word;
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  let root = word;
  if (root.endsWith('ies') && root.length > 4) root = `${root.slice(0, -3)}y`;
  else if (root.endsWith('sses')) root = root.slice(0, -2);
  else if (/(?:ches|shes|xes|zes)$/.test(root)) root = root.slice(0, -2);
  else if (root.endsWith('s') && !/(?:ss|us|is)$/.test(root)) root = root.slice(0, -1);
  if (root.endsWith('ing') && root.length > 5) root = undouble(root.slice(0, -3));
  else if (root.endsWith('ied') && root.length > 4) root = `${root.slice(0, -3)}y`;
  else if (root.endsWith('ed') && root.length > 4) root = undouble(root.slice(0, -2));
  else if (root.endsWith('ly') && root.length > 5) root = root.slice(0, -2);
  else if (root.endsWith('ment') && root.length > 7) root = root.slice(0, -4);
  if (root.endsWith('e') && root.length > 3) root = root.slice(0, -1);
  return root.length < 3 ? word : root;
}

function undouble(root: string): string {
  return /([bdgmnprt])\1$/.test(root) ? root.slice(0, -1) : root;
}

/** Chinese function words and requests, longest first; ideographs between them are split into pairs. */
const HAN_STOP =
  /为什么|怎么样|怎么办|能不能|可不可以|是不是|有没有|一下子|请问|请帮|帮我|帮忙|麻烦|谢谢|你好|您好|好的|怎么|怎样|什么|如何|为何|可以|能否|这个|那个|这些|那些|这样|一下|一个|一些|一份|一封|一篇|一段|我们|你们|他们|咱们|现在|然后|但是|因为|所以|如果|已经|还是|或者|以及|请|我|你|您|他|她|它|的|了|吗|呢|吧|啊|呀|是|把|被|帮|很|也/;

/** Words that carry no topic, in the languages that the bank speaks. Chat fillers are here too. */
const STOP: ReadonlySet<string> = new Set(
  `a about above after again against all almost also although always am an and another any anyone anything
  are aren around as ask at away back be because been before being below between both but by came can cannot
  can't come could couldn did didn do does doesn doing don done down during each either else even ever every
  everything few first for from further get gets getting give given go goes going gone good got great had
  has hasn have haven having he hello help her here hers hey hi him his how however i if in instead into is
  isn it its itself just keep kind know last least less let lets like little ll look looks lot made make
  makes making many may maybe me mean might mine more most much must my myself need needs never new next
  nice no nobody none nor not nothing now of off ok okay on once one only onto or other others ought our
  ours out over own per please possible put quite rather re really right said same say says see seem seems
  set shall she should shouldn show since so some someone something soon sorry still such sure take takes
  taking takes taken took keeps keeping tell than thank thanks that the their theirs them then there these
  they thing things think this those though three through thx till to today together too tried try trying
  two under until up upon us use used using ve very via want wanted wants was wasn way we well went were
  weren what whatever when where whether which while who whole whom whose why will with within without won
  would wouldn yeah yep yes yet you your yours yourself
  bonjour salut merci oui non le la les un une des du de au aux et ou est sont je tu il elle nous vous ils elles mon
  ma mes ton ta tes son sa ses notre nos votre vos leur leurs ce cet cette ces qui que quoi dont ne pas plus tres
  bien avec sans pour par sur sous dans en chez comme mais donc si peux peut pouvez pourrais faut faire fait fais
  aide aider svp stp plait quel quelle quels quelles comment pourquoi quand suis etre avoir ai as avez avons ont
  dois doit me te se lui moi toi ici cela ca
  hola gracias por favor el los las una unos unas del al y o es son soy eres estoy esta este estos estas eso esto yo
  tu usted ellos ellas nosotros mi mis su sus nuestro que quien cual como cuando donde porque para con sin sobre
  entre hasta desde pero muy mas menos si no ya puedo puede puedes podria ayuda ayudame necesito quiero hacer hago
  hace tengo tiene hay lo le les me te se nos algo todo toda todos todas bien
  der die das ein eine und oder ist sind ich du er sie wir ihr mit von zu zum zur auf fur im den dem nicht bitte
  danke hallo wie was warum kann`
    .split(/\s+/)
    .filter(Boolean),
);
