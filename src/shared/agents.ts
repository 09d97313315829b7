/** Names of agents as people know them, for those whose id is not already their name. */
const NAMES: Readonly<Record<string, string>> = {
  openclaw: 'OpenClaw',
  copaw: 'CoPaw',
  ironclaw: 'IronClaw',
  picoclaw: 'PicoClaw',
  zeroclaw: 'ZeroClaw',
  nanoclaw: 'NanoClaw',
  nemoclaw: 'NemoClaw',
  hermes: 'Hermes',
  'claude-code': 'Claude Code',
  codex: 'Codex',
  opencode: 'opencode',
};

/** Marks that letters of the name would not give. */
const MARKS: Readonly<Record<string, string>> = { codex: 'CX' };

/** An agent's name for people; null when the client did not say what it is. */
export function agentName(id: string): string | null {
  if (id === '' || id === 'unknown') return null;
  return NAMES[id] ?? id;
}

/** Two letters that tell agents apart in narrow places, such as OC or CC. */
export function agentMark(id: string): string {
  const name = agentName(id);
  if (name === null) return '·';
  const mark = MARKS[id];
  if (mark !== undefined) return mark;
  const capitals = name.replace(/[^A-Z]/g, '');
  if (capitals.length >= 2) return capitals.slice(0, 2);
  const words = name.split(/[\s_-]+/).filter(Boolean);
  const letters = words.length > 1 ? words.map((word) => word[0]).join('') : name;
  return letters.slice(0, 2).toUpperCase();
}
