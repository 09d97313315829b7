import { parse } from 'dotenv';
import type { SettingsFormat } from './format.ts';

/** `NAME=value` lines. What they mean is the dotenv library's to say; here lines are put, replaced and taken out. */
export const dotenvFormat: SettingsFormat = {
  read(text) {
    return parse(text);
  },

  edit(text, { path, value }) {
    const [name = '', ...rest] = path;
    if (rest.length > 0) throw new Error('A dotenv file has no sections.');
    if (parse(text)[name]?.includes('\n')) throw new Error(`${name} goes over several lines.`);
    const end = text.includes('\r\n') ? '\r\n' : '\n';
    const lines = text.split(/\r?\n/);
    const at = lines.findLastIndex((line) =>
      new RegExp(`^\\s*(?:export\\s+)?${escapeRegex(name)}\\s*=`).test(line),
    );
    if (value === undefined) return at < 0 ? text : lines.toSpliced(at, 1).join(end);
    const line = `${/^\s*export\s/.test(lines[at] ?? '') ? 'export ' : ''}${name}=${quote(String(value))}`;
    if (at >= 0) return lines.toSpliced(at, 1, line).join(end);
    const needsBreak = text !== '' && !/\n$/.test(text);
    return `${text}${needsBreak ? end : ''}${line}${end}`;
  },
};

/** Plain where every reader agrees on what is meant, otherwise in the quotes that keep it as it is. */
function quote(value: string): string {
  if (/^[\w./:@%+,-]*$/.test(value)) return value;
  return value.includes("'") ? `"${value.replace(/\n/g, '\\n')}"` : `'${value}'`;
}

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
