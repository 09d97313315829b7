/** What speaks for a document, each about 0 to 1; measured against the best document of the same question. */
export interface Features {
  /** Words that stand in it, by BM25. */
  own: number;
  /** Words that stand in it or near it, each counted once. */
  around: number;
  /** `own` of what was said one before it, and two before and after it. */
  before1: number;
  before2: number;
  after2: number;
  /** Words that stand anywhere in its conversation. */
  session: number;
  /** The question names one person, who said it. */
  speaker: number;
  length: number;
  asks: number;
  /** The question asks when, and it says when. */
  when: number;
  /** The question asks how many, and it says a number. */
  amount: number;
  /** It was said near the time that the question names. */
  date: number;
  /** Share of what is asked for that stands in it; and in it or near it. */
  coverage: number;
  coverageAround: number;
  /** It follows a question that has to do with this one. */
  answers: number;
  /** It comes from whom the question says that it came from: the user, or the assistant. */
  role: number;
  /** Rarity of the rarest word. */
  rarest: number;
  /** Cosine with the question, 0 for the average document and 1 for the best; 0 without vectors. */
  meaning: number;
}

/** A linear sum of these orders the documents. Fitted to half of LoCoMo's conversations, each scored by the others. */
const WEIGHT: Readonly<Record<keyof Features, number>> = {
  own: 1.1,
  around: 2.4,
  before1: 0.2,
  before2: 0.8,
  after2: 0.3,
  session: 1.7,
  speaker: 2.1,
  length: 0.4,
  asks: -0.6,
  when: 1.5,
  amount: 0.8,
  date: 2.2,
  coverage: 0.4,
  coverageAround: 1.9,
  answers: 1.4,
  role: 0.5,
  rarest: 0.3,
  meaning: 4,
};

const NAMES = Object.keys(WEIGHT) as (keyof Features)[];

/** What orders documents when there are no vectors. */
export function lexicalMeritOf(features: Features): number {
  return meritOf(features) - WEIGHT.meaning * features.meaning;
}

export function meritOf(features: Features): number {
  let sum = 0;
  for (const name of NAMES) sum += WEIGHT[name] * features[name];
  return sum;
}
