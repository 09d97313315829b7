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

/** Numbers by place, nearly all of them 0. */
export class Sparse {
  #values = new Float32Array(0);
  #places: number[] = [];

  /** Makes room for so many places; what was in it is gone. */
  reset(size: number): void {
    if (this.#values.length < size) this.#values = new Float32Array(Math.ceil(size * 1.25) + 64);
    else for (const place of this.#places) this.#values[place] = 0;
    this.#places = [];
  }

  get(place: number): number {
    return this.#values[place] ?? 0;
  }

  add(place: number, value: number): void {
    const before = this.#values[place] ?? 0;
    if (before === 0) this.#places.push(place);
    this.#values[place] = before + value;
  }

  /** Keeps the higher one. */
  raise(place: number, value: number): void {
    const before = this.#values[place] ?? 0;
    if (before === 0) this.#places.push(place);
    if (value > before) this.#values[place] = value;
  }

  /** Those that are not 0. */
  get places(): readonly number[] {
    return this.#places;
  }

  /** Of all values; 1 where there is none, so that it can be divided by. */
  get highest(): number {
    let most = 0;
    for (const place of this.#places) if ((this.#values[place] ?? 0) > most) most = this.#values[place] ?? 0;
    return most || 1;
  }
}
