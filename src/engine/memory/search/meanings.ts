import { similarity } from '../../platform/vectors.ts';
import type { Sketches } from './sketches.ts';
import { highestOf, type Space } from './space.ts';
import { TRAIT } from './traits.ts';

/** What meaning tells of the documents of a space. */
export interface Meanings {
  /** Places of those that come nearest. */
  nearest: readonly number[];
  /** Null for a document without a vector. */
  cosineOf: (place: number) => number | null;
  /** 0 for the average document, 1 for the best. */
  standingOf: (cosine: number) => number;
  /** How surely texts so near have to do with each other, 0 to 1, whatever the model. */
  relatednessOf: (cosine: number) => number;
}

/** Documents that are compared in full. */
const NEAREST = 128;
/** Fewer tell nothing of what is usual. */
const FEWEST = 8;
/** Spread of cosines between unrelated texts, for scopes too small to tell; weighs as much as so many documents. */
const USUAL_SPREAD = 0.08;
const USUAL_WEIGHT = 30;
/** Spreads that a cosine must be beyond the nearest of so many unrelated texts to count as related with one half. */
const MARGIN = 0.7;
const STEEPNESS = 1.6;

/** Compares all documents of a space with a question by the signs of their vectors, and the nearest in full. */
export function meaningsOf(space: Space, question: Float32Array, sketches: Sketches): Meanings | null {
  const cosines = new Float32Array(space.places);
  const has = new Uint8Array(space.places);
  let count = 0;
  let sum = 0;
  let squares = 0;
  space.shelves.forEach((shelf, at) => {
    const first = space.firstPlace(at);
    sketches.of(shelf, question.length)?.estimate(question, shelf.ref, (doc, cosine) => {
      if ((shelf.traits[doc] ?? TRAIT.dropped) & TRAIT.dropped) return;
      has[first + doc] = 1;
      // Above 0, so that what has no vector is never among the nearest.
      cosines[first + doc] = cosine + 1;
      count += 1;
      sum += cosine;
      squares += cosine * cosine;
    });
  });
  if (count === 0) return null;
  const average = sum / count;
  const variance = Math.max(0, squares / count - average ** 2);
  const spread = Math.sqrt((variance * count + USUAL_SPREAD ** 2 * USUAL_WEIGHT) / (count + USUAL_WEIGHT));
  const nearest = highestOf(cosines, space.places, NEAREST).filter((place) => has[place] === 1);
  let best = average;
  space.shelves.forEach((shelf, at) => {
    const first = space.firstPlace(at);
    const docs = nearest.map((place) => place - first).filter((doc) => doc >= 0 && doc < shelf.count);
    for (const [doc, vector] of sketches.vectors(shelf, docs)) {
      const cosine = similarity(vector, question);
      if (cosine === null) continue;
      cosines[first + doc] = cosine + 1;
      best = Math.max(best, cosine);
    }
  });
  const centre = Math.sqrt(2 * Math.log(Math.max(2, count))) + MARGIN;
  return {
    nearest,
    cosineOf: (place) => (has[place] === 1 ? (cosines[place] ?? 1) - 1 : null),
    standingOf: (cosine) =>
      best <= average ? 0 : Math.min(1, Math.max(0, cosine - average) / (best - average)),
    relatednessOf: (cosine) =>
      count < FEWEST ? 0 : 1 / (1 + Math.exp(-STEEPNESS * ((cosine - average) / spread - centre))),
  };
}
