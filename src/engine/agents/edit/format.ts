export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** One value at one place of a file of settings; `undefined` takes the place away. */
export interface ValueChange {
  path: readonly string[];
  value: Json | undefined;
}

/** One more item of a list that is made where there is none, or one less: items are told apart by being equal. */
type ItemChange = { path: readonly string[] } & ({ item: Json } | { without: Json });

export type Change = ValueChange | ItemChange;

/** A language of settings: reads all values, and changes some without touching a byte of the rest. */
export interface SettingsFormat {
  /** Throws on a text that is not of this language. An empty text has no values. */
  read(text: string): unknown;
  /** The text with one place changed. Sections on the way are made. */
  edit(text: string, change: ValueChange): string;
  /** The text with an item added at the end of a list that is there; absent where no agent needs it. */
  append?(text: string, path: readonly string[], item: Json): string;
  /** The text without one item of a list. */
  drop?(text: string, path: readonly string[], index: number): string;
}
