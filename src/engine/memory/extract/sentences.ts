/** Sentences of one text that a person wrote. */
export interface Sentence {
  /** As it was written. */
  text: string;
  /** Its quotations taken out and its apostrophes straight, for patterns. */
  bare: string;
}

const CODE_BLOCK = /^[ \t]*(```|~~~)[^\n]*\n[\s\S]*?(?:^[ \t]*\1[ \t]*$|$(?![\s\S]))/gm;
/** Lines of logs, stack traces, shells, diffs, quotations and tables. */
const PASTED_LINE =
  /^\s*(?:>|\||[$#%] |\[?\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d|\[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL|CRITICAL)\b|at \S+ ?\(|Traceback\b|File "|npm (?:ERR|WARN)|[\w.-]+@[\w.-]+:|diff --git|@@ |[+-]{3} |\w*(?:Error|Exception): |(?:import|export|const|let|var|def|class|function|return|public|private|#include|SELECT|INSERT|UPDATE|DELETE|CREATE|FROM|RUN|COPY)\b.*[;{(:]$)/;
const SYMBOLS = /[{}();=<>[\]\\|$#*_&^~]/g;
const BULLET = /^\s*(?:[-*•·]|\d{1,2}[.)]|\[[ xX]?\])\s+/;
/** A title's full stop ends no sentence. */
const ABBREVIATION =
  /(?:^|[\s(])(?:Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|Sra|Dra|Mme|Mlle|M|vs|etc|e\.g|i\.e|approx|No|Nr|Inc|Ltd|Co|a\.m|p\.m|p\. ej|ex|env)\.\s*$/;
const QUOTED =
  /“[^”]{1,400}”|"[^"\n]{1,400}"|«[^»]{1,400}»|「[^」]{1,400}」|『[^』]{1,400}』|(?<=^|\s)['‘][^'’\n]{2,400}['’](?=[\s.,;:!?]|$)/g;
/** Long messages hold pasted matter; what their author says stands at both ends. */
const MOST_CHARS = 4000;
const HEAD_CHARS = 2400;
const MOST_SENTENCE = 500;

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Takes the sentences out of a message: no code, logs, tables or quotations, and nothing that is too long for one. */
export function sentencesOf(text: string): Sentence[] {
  const prose = text.replaceAll('\r\n', '\n').replace(CODE_BLOCK, '\n');
  const looked =
    prose.length <= MOST_CHARS
      ? prose
      : `${prose.slice(0, HEAD_CHARS)}\n\n${prose.slice(-(MOST_CHARS - HEAD_CHARS))}`;
  return looked
    .split('\n')
    .filter((line) => !isPasted(line))
    .flatMap((line) => split(line.replace(BULLET, '').trim()))
    .filter((sentence) => sentence.length <= MOST_SENTENCE && /\p{L}{2}/u.test(sentence))
    .map(toSentence);
}

export function toSentence(text: string): Sentence {
  return { text, bare: text.replaceAll('’', "'").replace(QUOTED, '“”') };
}

/** The parts of a sentence between commas and the like. */
export function clausesOf(sentence: string): string[] {
  return sentence
    .split(
      /(?<!\d)[,;:](?!\d)\s+|[，；、：]|\s+[–—-]\s+|\s+(?=(?:because|since|parce que|car|porque|ya que)\s)|(?<=(?:ので|ですから|ますから|ため))/u,
    )
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '');
}

function isPasted(line: string): boolean {
  if (PASTED_LINE.test(line)) return true;
  const symbols = line.match(SYMBOLS)?.length ?? 0;
  return symbols >= 4 && symbols / line.length > 0.12;
}

function split(line: string): string[] {
  const sentences: string[] = [];
  let open = '';
  for (const { segment } of segmenter.segment(line)) {
    open += segment;
    if (ABBREVIATION.test(open)) continue;
    sentences.push(open.trim());
    open = '';
  }
  if (open.trim() !== '') sentences.push(open.trim());
  return sentences;
}
