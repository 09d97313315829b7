import type { Translate } from '../../../shared/i18n/index.ts';
import { SKILL_CATEGORIES } from '../../../shared/model.ts';

/** A category in the reader's language; others stay as they are written. */
export function categoryName(category: string, t: Translate): string {
  const known = SKILL_CATEGORIES.find((name) => name === category);
  return known === undefined ? category : t(`skills.category.${known}`);
}
