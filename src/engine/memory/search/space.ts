import type { Shelf } from './shelf.ts';

/** Shelves that are searched together: their documents and conversations numbered through, as places and slots. */
export class Space {
  readonly shelves: readonly Shelf[];
  readonly #firstPlace: number[] = [];
  readonly #firstSlot: number[] = [];
  readonly places: number;
  readonly slots: number;
  /** Documents in use. */
  readonly live: number;
  readonly averageLength: number;

  constructor(shelves: readonly Shelf[]) {
    this.shelves = shelves;
    let places = 0;
    let slots = 0;
    let live = 0;
    let lengths = 0;
    for (const shelf of shelves) {
      this.#firstPlace.push(places);
      this.#firstSlot.push(slots);
      places += shelf.count;
      slots += shelf.sessions;
      live += shelf.live;
      lengths += shelf.live * shelf.averageLength;
    }
    this.places = places;
    this.slots = slots;
    this.live = live;
    this.averageLength = live === 0 ? 1 : Math.max(1, lengths / live);
  }

  firstPlace(shelf: number): number {
    return this.#firstPlace[shelf] ?? 0;
  }

  firstSlot(shelf: number): number {
    return this.#firstSlot[shelf] ?? 0;
  }

  /** Which of the shelves a place is on. */
  shelfOf(place: number): number {
    let at = this.shelves.length - 1;
    while (at > 0 && this.firstPlace(at) > place) at -= 1;
    return at;
  }
}

/** A few numbers by place, nearly all of them 0: `columns` of them, of which the first tells whether there are any. */
export class Sparse {
  readonly #columns: number;
  #values = new Float32Array(0);
  #places = new Int32Array(0);
  /** How many places have any. */
  count = 0;

  constructor(columns = 1) {
    this.#columns = columns;
  }

  /** Makes room for so many places; what was in it is gone. */
  reset(size: number): void {
    if (this.#places.length < size) {
      const room = Math.ceil(size * 1.25) + 64;
      this.#values = new Float32Array(room * this.#columns);
      this.#places = new Int32Array(room);
    } else if (this.count * 8 > this.#places.length) this.#values.fill(0);
    else
      for (let at = 0; at < this.count; at += 1) {
        const start = this.place(at) * this.#columns;
        for (let column = 0; column < this.#columns; column += 1) this.#values[start + column] = 0;
      }
    this.count = 0;
  }

  /** The places that have any, by number, in the order in which they got it. */
  place(at: number): number {
    return this.#places[at] ?? 0;
  }

  get(place: number, column = 0): number {
    return this.#values[place * this.#columns + column] ?? 0;
  }

  /** `value`: more than 0. */
  add(place: number, value: number): void {
    const at = place * this.#columns;
    const before = this.#values[at] ?? 0;
    if (before === 0) this.#places[this.count++] = place;
    this.#values[at] = before + value;
  }

  /** To another column than the first. */
  addMore(place: number, column: number, value: number): void {
    const at = place * this.#columns + column;
    this.#values[at] = (this.#values[at] ?? 0) + value;
  }

  /** Keeps the higher one. */
  raise(place: number, column: number, value: number): void {
    const at = place * this.#columns + column;
    if (value > (this.#values[at] ?? 0)) this.#values[at] = value;
  }

  /** Of the first column; 1 where there is none, so that it can be divided by. */
  highest(): number {
    let most = 0;
    for (let at = 0; at < this.count; at += 1) most = Math.max(most, this.get(this.place(at)));
    return most || 1;
  }
}

const BINS = 1024;

/** Numbers of the highest values, at least `most` where there are so many and few more, in ascending order. */
export function highestOf(values: Float32Array, count: number, most: number): number[] {
  let top = 0;
  for (let at = 0; at < count; at += 1) top = Math.max(top, values[at] ?? 0);
  const binOf = (value: number) => Math.max(0, Math.min(BINS - 1, Math.floor((value / (top || 1)) * BINS)));
  const bins = new Uint32Array(BINS);
  for (let at = 0; at < count; at += 1)
    bins[binOf(values[at] ?? 0)] = (bins[binOf(values[at] ?? 0)] ?? 0) + 1;
  let least = BINS;
  for (let having = 0; least > 0 && having < most; ) {
    least -= 1;
    having += bins[least] ?? 0;
  }
  const chosen: number[] = [];
  // A great many may share the lowest bin.
  for (let at = 0; at < count && chosen.length < most * 2; at += 1)
    if (binOf(values[at] ?? 0) >= least) chosen.push(at);
  return chosen;
}
