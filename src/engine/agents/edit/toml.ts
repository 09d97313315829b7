import { parse, patch } from '@decimalturn/toml-patch';
import type { SettingsFormat } from './index.ts';

type Table = Record<string, unknown>;

export const tomlFormat: SettingsFormat = {
  read(text) {
    return parse(text) as unknown;
  },

  edit(text, { path, value }) {
    const values = parse(text) as Table;
    let at = values;
    for (const name of path.slice(0, -1)) {
      if (at[name] === undefined) {
        if (value === undefined) return text;
        at[name] = {};
      }
      at = at[name] as Table;
    }
    const last = path.at(-1) ?? '';
    if (value === undefined) delete at[last];
    else at[last] = value;
    const edited = patch(text, values);
    return edited === '' || edited.endsWith('\n') || (text !== '' && !text.endsWith('\n'))
      ? edited
      : `${edited}\n`;
  },
};
