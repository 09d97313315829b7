import type { ProposalState, SafetyFinding, SkillProposal } from '../../shared/model.ts';
import type { Database } from '../store/database.ts';

/** A proposal with what only the learner needs of it. */
export interface StoredProposal extends Omit<SkillProposal, 'edit'> {
  /** For edits: hash of the file that it was proposed for; once accepted, of the one that it changed. */
  baseHash: string | null;
  /** Phrases that will call for the skill. */
  triggers: string[];
  /** What the user said when rejecting it. */
  verdict: string;
}

interface Row {
  id: string;
  kind: 'new' | 'edit';
  name: string;
  description: string;
  category: string;
  body: string;
  reason: string;
  state: ProposalState;
  auto: number;
  findings: string;
  evidence: string;
  triggers: string;
  verdict: string;
  base_hash: string | null;
  created_at: string;
  decided_at: string | null;
}

/** The proposals table. */
export class Proposals {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  list(state?: ProposalState): StoredProposal[] {
    const rows =
      state === undefined
        ? this.#database.all<Row>('SELECT * FROM proposals ORDER BY created_at DESC, id LIMIT 500')
        : this.#database.all<Row>(
            'SELECT * FROM proposals WHERE state = ? ORDER BY created_at DESC, id LIMIT 500',
            state,
          );
    return rows.map(fromRow);
  }

  get(id: string): StoredProposal | null {
    const row = this.#database.get<Row>('SELECT * FROM proposals WHERE id = ?', id);
    return row ? fromRow(row) : null;
  }

  countWaiting(): number {
    return (
      this.#database.get<{ n: number }>("SELECT COUNT(*) AS n FROM proposals WHERE state = 'waiting'")?.n ?? 0
    );
  }

  /** Inserts or replaces the whole row. */
  put(proposal: StoredProposal, jobId: string | null = null): void {
    this.#database.run(
      `INSERT INTO proposals (id, kind, name, description, category, body, reason, state, auto, findings, evidence,
         triggers, verdict, base_hash, job_id, created_at, decided_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description,
         category = excluded.category, body = excluded.body, state = excluded.state, auto = excluded.auto,
         findings = excluded.findings, verdict = excluded.verdict, base_hash = excluded.base_hash, decided_at = excluded.decided_at`,
      proposal.id,
      proposal.kind,
      proposal.name,
      proposal.description,
      proposal.category,
      proposal.body,
      proposal.reason,
      proposal.state,
      proposal.auto ? 1 : 0,
      JSON.stringify(proposal.findings),
      JSON.stringify(proposal.evidence),
      JSON.stringify(proposal.triggers),
      proposal.verdict,
      proposal.baseHash,
      jobId,
      proposal.createdAt,
      proposal.decidedAt,
    );
  }
}

function fromRow(row: Row): StoredProposal {
  const { created_at: createdAt, decided_at: decidedAt, ...rest } = row;
  return {
    id: rest.id,
    kind: rest.kind,
    name: rest.name,
    description: rest.description,
    category: rest.category,
    body: rest.body,
    reason: rest.reason,
    state: rest.state,
    auto: rest.auto === 1,
    findings: JSON.parse(rest.findings) as SafetyFinding[],
    evidence: JSON.parse(rest.evidence) as SkillProposal['evidence'],
    triggers: JSON.parse(rest.triggers) as string[],
    verdict: rest.verdict,
    baseHash: rest.base_hash,
    createdAt,
    decidedAt,
  };
}
