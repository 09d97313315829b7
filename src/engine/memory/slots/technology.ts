import { USE } from './phrases.ts';
import { type Found, has, plain, type Statement, slotName, subjectOf } from './statement.ts';
import { type NamedTechnology, PURPOSE_WORDS, technologiesIn } from './technologies.ts';

/** What stands in front of, or behind, the thing that is given up. */
const GIVEN_UP_AFTER =
  /(?:\bfrom|\bdesde|\bde|\bdepuis|\bd['’]|instead of|rather than|in place of|replac\w+|dropp\w+|ditch\w+|abandon\p{L}+|over|en lugar de|en vez de|au lieu de|plutôt que|reemplaz\p{L}+|remplac\p{L}+|sustitu\p{L}+|dejamos|dejé|no longer (?:us\w+|run\w*|on)|not (?:us\w+|run\w*)|(?:do|does)(?:n['’]t| not) (?:use|run)|stopp?\w* (?:using|running)|got rid of|away from|ya no \p{L}+|no (?:usamos|uso|utilizamos)|n['’]utilis\p{L}+ (?:plus|pas)|从|由|把|将|不再使用|不再用|不用|不使用|弃用|放弃|代替|取代|而不是|替换)\s*(?:de |d['’]|our |the |old |a |la |el |le )*$/iu;
const GIVEN_UP_BEFORE =
  /^\s*(?:から|の代わり|をやめ|を廃止|ではなく|じゃなく|は(?:もう)?使(?:って|わ)|の使用をやめ|の代替|(?:is|was) (?:gone|out|history)|换成|换到)/iu;

/** Which technology is in use, and which was given up: `we use MySQL 5.7`, `pasamos de npm a pnpm`. */
export function technologyIn(statement: Statement): Found {
  const { text, future, past, added, changed, negated } = statement;
  const nothing: Found = { tells: [], ends: [] };
  if (future || added || !has(USE, text)) return nothing;
  if (past && !changed) return nothing;
  const named = technologiesIn(text);
  const over = named.filter((one) => isGivenUp(text, one));
  const taken = named.filter((one) => !over.includes(one));
  const subject = subjectOf(
    without(text, named).replace(/\b(?:old|previous|former)\b/gi, ' '),
    PURPOSE_WORDS,
  );
  const ends = over.map((one) => ({ slot: slotName(`tech/${one.purpose}`, subject), value: versioned(one) }));
  if (taken.length === 0 && over.length === 1 && over[0]) {
    const [{ slot, value }] = ends as [(typeof ends)[number]];
    return { tells: [{ slot, value: `!${value}` }], ends };
  }
  if (negated && over.length === 0) return nothing;
  const purposes = taken.map(({ purpose }) => purpose);
  // Two for one purpose stand beside each other, or nobody can tell which is meant.
  if (new Set(purposes).size < purposes.length) return { tells: [], ends: [] };
  return {
    tells: taken.map((one) => ({ slot: slotName(`tech/${one.purpose}`, subject), value: versioned(one) })),
    ends,
  };
}

function isGivenUp(text: string, { start, end }: NamedTechnology): boolean {
  return GIVEN_UP_AFTER.test(text.slice(0, start)) || GIVEN_UP_BEFORE.test(text.slice(end));
}

function without(text: string, named: readonly NamedTechnology[]): string {
  let rest = text;
  for (const { start, end } of [...named].reverse()) rest = `${rest.slice(0, start)} ${rest.slice(end)}`;
  return rest;
}

function versioned({ name, version }: NamedTechnology): string {
  return version === '' ? name : `${name} ${version}`;
}

const FROM_TO: readonly RegExp[] = [
  /\b(?:moved|migrated|switched|changed|went|converted)(?: over)? from (?<from>[\w.+# -]{2,40}?) to (?<to>[\w.+# -]{2,40})$/i,
  /\breplaced (?<from>[\w.+# -]{2,40}?) (?:with|by) (?<to>[\w.+# -]{2,40})$/i,
  /\b(?:pasamos|pasé|cambiamos|cambié|migramos|migré) de (?<from>[\p{L}\p{N}.+# -]{2,40}?) a (?<to>[\p{L}\p{N}.+# -]{2,40})$/iu,
  /\b(?:passés?|migré|changé|passée?s?) de (?<from>[\p{L}\p{N}.+# -]{2,40}?) (?:à|vers|pour) (?<to>[\p{L}\p{N}.+# -]{2,40})$/iu,
  /从\s*(?<from>[^\s，]{1,30}?)\s*(?:换成|换到|迁移到|切换到|改用|改成)了?\s*(?<to>[^\s，]{1,30})$/u,
  /(?<from>[^\s、はが]{1,30})から\s*(?<to>[^\s、]{1,30}?)に(?:移行|切り替え|変更|乗り換え)/u,
];
const USES: readonly RegExp[] = [
  /^(?:i|we|(?:the|my|our) (?:team|project|company)|(?:the )?user) (?:use|uses|am using|are using|is using) (?<to>[\w.+# -]{2,40})$/i,
  /^(?:nosotros |yo )?(?:uso|usamos|utilizamos|utilizo) (?<to>[\p{L}\p{N}.+# -]{2,40})$/iu,
  /^(?:nous utilisons|j['’]utilise|on utilise) (?<to>[\p{L}\p{N}.+# -]{2,40})$/iu,
  /^(?:我们?|咱们)(?:用|使用)(?:的是)?\s*(?<to>[^\s，的]{1,30})$/u,
];

const GONE: readonly RegExp[] = [
  /(?:no longer use|no longer uses|(?:do|does)(?:n['’]t| not) use|stopped using|got rid of|dropped|ditched) (?<name>[\w.+# -]{2,40})$/i,
  /(?:ya no (?:uso|usamos|utilizamos)|dejamos de usar|dejé de usar) (?<name>[\p{L}\p{N}.+# -]{2,40})$/iu,
  /(?:n['’]utilis\p{L}+ plus|arrêté d['’]utiliser) (?<name>[\p{L}\p{N}.+# -]{2,40})$/iu,
  /(?:不再使用|不再用|不用|弃用)了?\s*(?<name>[^\s，了]{1,30})了?$/u,
  /(?<name>[^\s、はが]{1,30})は(?:もう)?使(?:っていません|わなくなりました|いません)$/u,
];

/** The same for what is in no list. `moved from A to B` may speak of places too: what A was decides. */
export function toolIn({ text, future, past, added, changed, negated }: Statement): Found {
  const nothing: Found = { tells: [], ends: [] };
  if (future || added || technologiesIn(text).length > 0) return nothing;
  for (const pattern of GONE) {
    const name = pattern.exec(text)?.groups?.name;
    const slot = `tool/${plain(name ?? '')}`;
    if (name) return { tells: [{ slot, value: '!used' }], ends: [{ slot, value: 'used' }] };
  }
  if (negated || (past && !changed)) return nothing;
  for (const pattern of FROM_TO) {
    const { from, to } = pattern.exec(text)?.groups ?? {};
    if (!from || !to) continue;
    const tool = { slot: `tool/${plain(to)}`, value: 'used' };
    const home = { slot: 'me/home', value: plain(to) };
    return {
      tells: [],
      ends: [
        { slot: `tool/${plain(from)}`, value: 'used', instead: tool },
        { slot: home.slot, value: plain(from), instead: home },
      ],
    };
  }
  for (const pattern of USES) {
    const to = pattern.exec(text)?.groups?.to;
    if (to) return { tells: [{ slot: `tool/${plain(to)}`, value: 'used' }], ends: [] };
  }
  return nothing;
}
