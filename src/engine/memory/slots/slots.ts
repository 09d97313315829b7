import type { MemoryKind } from '../../../shared/memory.ts';
import { attributeIn, countIn, measureIn, portIn } from './attributes.ts';
import { choiceIn, preferenceIn, stanceIn } from './choice.ts';
import { personIn } from './person.ts';
import { scheduleIn } from './schedule.ts';
import { type Ending, type Found, type Statement, statementsIn, type Telling } from './statement.ts';
import { technologyIn, toolIn } from './technology.ts';

/** What a memory tells the value of, so that another value for the same can take its place. */
export interface Slots {
  tells: Telling[];
  ends: Ending[];
  /** The text itself says that something became otherwise. */
  changed: boolean;
  /** Nothing else is said: another text with the same value says the same. */
  bare: boolean;
}

const NONE: Slots = { tells: [], ends: [], changed: false, bare: false };

/**
 * Reads what a text tells the value of, by rules for English, Spanish, French, Chinese and Japanese. Whatever the
 * rules do not know by name (staging, the home server, Alice) becomes a part of the slot, so that statements about
 * different things never meet. Pure; empty for what happened once, and for whatever is not stated plainly.
 */
export function slotsOf(kind: MemoryKind, content: string): Slots {
  if (kind === 'episodic' || kind === 'working_summary' || content.length > 2000) return NONE;
  const statements = statementsIn(content);
  const found = statements.map((statement) => ({ statement, ...readStatement(statement) }));
  const tells = unique(found.flatMap((one) => one.tells));
  const ends = unique(found.flatMap((one) => one.ends));
  if (tells.length + ends.length === 0) return NONE;
  return {
    tells,
    ends,
    changed: found.some(({ statement }) => statement.changed),
    bare: tells.length === 1 && statements.length === 1 && (statements[0]?.bare ?? false),
  };
}

const READERS: readonly ((statement: Statement) => Found)[] = [
  choiceIn,
  technologyIn,
  preferenceIn,
  scheduleIn,
  portIn,
  attributeIn,
  measureIn,
  countIn,
  toolIn,
  personIn,
  stanceIn,
];

function readStatement(statement: Statement): Found {
  for (const read of READERS) {
    const found = read(statement);
    if (found.tells.length + found.ends.length > 0) return found;
  }
  return { tells: [], ends: [] };
}

function unique(list: readonly Telling[]): Telling[] {
  return [...new Map(list.map((one) => [`${one.slot}\n${one.value}`, one])).values()];
}

/** Whether two values of one slot cannot both hold. */
export function contradicts(slot: string, one: string, other: string): boolean {
  if (one === other) return false;
  const [first, second] = [one.replace(/^!/, ''), other.replace(/^!/, '')];
  const denials = [one, other].filter((value) => value.startsWith('!')).length;
  if (denials === 2) return false;
  if (slot.startsWith('tech/') || slot.startsWith('choice/indentation')) {
    const [[nameA, versionA], [nameB, versionB]] = [nameAndVersion(first), nameAndVersion(second)];
    if (denials === 1)
      return nameA === nameB && (versionA === '' || versionB === '' || versionA === versionB);
    if (nameA !== nameB) return true;
    return versionA !== '' && versionB !== '' && !refines(versionA, versionB);
  }
  if (slot.startsWith('when')) {
    const parts = new Map(
      first.split(' ').map((part) => part.split(':', 1).concat(part) as [string, string]),
    );
    return second.split(' ').some((part) => {
      const there = parts.get(part.split(':', 1)[0] ?? '');
      return there !== undefined && there !== part;
    });
  }
  return denials === 1 ? first === second : true;
}

function nameAndVersion(value: string): [string, string] {
  const [, name = value, version = ''] = /^(.*?)(?: (\d[\d.x]*))?$/.exec(value) ?? [];
  return [name, version];
}

/** 16 and 16.2 do not contradict each other. */
function refines(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
}
