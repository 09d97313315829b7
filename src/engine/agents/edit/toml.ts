import { parse, patch } from '@decimalturn/toml-patch';
import type { SettingsFormat } from './format.ts';

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
    const edited = withComments(patch(text, values), text);
    return edited === '' || edited.endsWith('\n') || (text !== '' && !text.endsWith('\n'))
      ? edited
      : `${edited}\n`;
  },
};

/** A section that goes takes the comments behind it along, which are the user's: they stand at the end then. */
function withComments(edited: string, before: string): string {
  const left = commentLines(edited);
  const lost = commentLines(before).filter((line) => {
    const at = left.indexOf(line);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  if (lost.length === 0) return edited;
  const end = before.includes('\r\n') ? '\r\n' : '\n';
  return [edited.replace(/\r?\n$/, ''), ...lost, ''].join(end);
}

function commentLines(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => /^\s*#/.test(line));
}
