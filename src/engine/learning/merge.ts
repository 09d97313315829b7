import { applyPatch, structuredPatch } from 'diff';
import { newLines } from './compare.ts';

const STEP = /^\s*(\d+)[.)]\s+/;
const BULLET = /^\s*[-*+]\s+/;
const WARNING = /^\s*(?:[-*+]\s+)?\*\*[^*]{2,40}[:：]?\*\*/;

/**
 * A skill's text with what another one adds to it: new steps go on after the last numbered one, everything else stands
 * at the end. Nothing of the skill's own text is lost. Null when there is nothing new.
 */
export function extend(base: string, addition: string): string | null {
  const added = newLines(addition, base).filter((line) => !/^#{1,6}\s/.test(line));
  if (added.length === 0) return null;
  const warnings = added.filter((line) => WARNING.test(line));
  const steps = added
    .filter((line) => !WARNING.test(line))
    .map((line) => line.replace(STEP, '').replace(BULLET, '').trim());
  const lines = base.split('\n');
  const lastStep = lines.findLastIndex((line) => STEP.test(line));
  if (lastStep < 0) return [...lines, '', ...steps.map((step) => `- ${step}`), ...warnings].join('\n').trim();
  // A step may go on over indented lines.
  let end = lastStep + 1;
  while (/^\s+\S/.test(lines[end] ?? '')) end += 1;
  const first = Number(STEP.exec(lines[lastStep] ?? '')?.[1] ?? 0) + 1;
  const numbered = steps.map((step, n) => `${first + n}. ${step}`);
  const after = warnings.length > 0 ? ['', ...warnings] : [];
  return [...lines.slice(0, end), ...numbered, ...lines.slice(end), ...after].join('\n').trim();
}

/** Does to `theirs` what turned `base` into `ours`, line by line; null when both changed the same place. */
export function mergeText(base: string, ours: string, theirs: string): string | null {
  if (theirs === base || theirs === ours) return ours;
  if (ours === base) return theirs;
  const patch = structuredPatch('', '', `${base}\n`, `${ours}\n`, '', '', { context: 1 });
  const merged = applyPatch(`${theirs}\n`, patch);
  return merged === false ? null : merged.replace(/\n$/, '');
}
