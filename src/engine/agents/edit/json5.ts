import JSON5 from 'json5';
import type { Json, SettingsFormat } from './format.ts';

/**
 * JSON5, read only: no library edits it without losing what its user wrote, so the agent's own command writes. An
 * edited text is what the file will say, for showing.
 */
export const json5Format: SettingsFormat = {
  read(text) {
    if (text.trim() === '') return {};
    const values: unknown = JSON5.parse(text);
    if (typeof values !== 'object' || values === null || Array.isArray(values))
      throw new Error('It does not hold an object.');
    return values;
  },

  edit(text, { path, value }) {
    const values = json5Format.read(text) as Record<string, Json>;
    return `${JSON.stringify(withValue(values, path, value), null, 2)}\n`;
  },
};

function withValue(
  section: Readonly<Record<string, Json>>,
  [name = '', ...rest]: readonly string[],
  value: Json | undefined,
): Record<string, Json> {
  const { [name]: now, ...others } = section;
  if (rest.length > 0)
    return { ...section, [name]: withValue((now ?? {}) as Record<string, Json>, rest, value) };
  return value === undefined ? others : { ...section, [name]: value };
}
