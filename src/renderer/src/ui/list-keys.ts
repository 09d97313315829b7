/** Rows that a page key jumps over. */
const PAGE = 10;

/** Where a key leads in a list of `count` rows from the one at `at` (−1: none); null when it is no such key. */
export function rowAfterKey(key: string, at: number, count: number): number | null {
  if (count === 0) return null;
  switch (key) {
    case 'ArrowDown':
    case 'j':
    case 'J':
      return Math.min(at + 1, count - 1);
    case 'ArrowUp':
    case 'k':
    case 'K':
      return Math.max(at - 1, 0);
    case 'PageDown':
      return Math.min(at + PAGE, count - 1);
    case 'PageUp':
      return Math.max(at - PAGE, 0);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}
