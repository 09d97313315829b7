import { FEATURES, type Feature } from './ranker.ts';

/** What each feature counts. Found on half of the conversations of LoCoMo, scored on the others. */
const WEIGHT: Readonly<Record<Feature, number>> = {
  own: 0.45,
  around: 0.35,
  before1: 0.25,
  after1: 0.1,
  before2: 0.25,
  after2: 0.1,
  session: 0.25,
  speaker: 0.45,
  length: 0.35,
  asks: -0.15,
  when: 0.1,
  amount: 0.1,
  date: 0,
  coverage: 0,
  coverageAround: 0,
  answers: 0,
  role: 0.1,
  addresses: 0,
  rarest: 0,
  unit: 0,
};

export const WEIGHTS: readonly number[] = FEATURES.map((feature) => WEIGHT[feature]);
