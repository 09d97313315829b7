import { z } from 'zod';
import type { Undo } from '../../shared/contract.ts';
import type { SkillScope } from '../../shared/model.ts';
import type { Database } from '../store/database.ts';
import { readSetting, writeSetting } from '../store/settings.ts';
import type { UndoLog } from '../store/undo.ts';

const SCOPES = 'skills.scopes';
const UNDO_SCOPE = 'skill.scope';
const scopeSchema = z.object({ agents: z.array(z.string()), projects: z.array(z.string()) });

/** Where a turn comes from. */
export interface Place {
  agent: string;
  /** The workspace that the client names; null when it names none. */
  project: string | null;
}

/** For which agents and projects a skill is meant; kept beside the files, as the switches are. Empty means all. */
export class Scopes {
  readonly #deps: { database: Database; undo: UndoLog; changed: () => void };
  #scopes: Readonly<Record<string, SkillScope>> = {};

  constructor(deps: { database: Database; undo: UndoLog; changed: () => void }) {
    this.#deps = deps;
    deps.undo.handle(UNDO_SCOPE, (payload) => {
      const { name, scope } = z.object({ name: z.string(), scope: scopeSchema }).parse(payload);
      this.#store(name, scope);
    });
  }

  load(): void {
    this.#scopes = readSetting(this.#deps.database, SCOPES, z.record(z.string(), scopeSchema), {});
  }

  of(name: string): SkillScope {
    return (
      (Object.hasOwn(this.#scopes, name) ? this.#scopes[name] : undefined) ?? { agents: [], projects: [] }
    );
  }

  /** Names are compared without regard to case. */
  set(name: string, scope: SkillScope): { undo: Undo } {
    return this.#deps.database.tx(() => {
      const undo = this.#deps.undo.offer(UNDO_SCOPE, `Scope of ${name}`, { name, scope: this.of(name) });
      this.#store(name, { agents: tidy(scope.agents), projects: tidy(scope.projects) });
      return { undo };
    });
  }

  /** Null when every skill may enter, so that nothing has to be asked. */
  filterFor(place: Place | undefined): ((name: string) => boolean) | null {
    if (place === undefined || Object.keys(this.#scopes).length === 0) return null;
    const agent = place.agent.toLowerCase();
    const project = place.project?.toLowerCase() ?? null;
    return (name) => {
      const { agents, projects } = this.of(name);
      return (
        (agents.length === 0 || agents.includes(agent)) &&
        (projects.length === 0 || (project !== null && projects.includes(project)))
      );
    };
  }

  #store(name: string, scope: SkillScope): void {
    const { [name]: _, ...rest } = this.#scopes;
    const isEmpty = scope.agents.length + scope.projects.length === 0;
    this.#scopes = isEmpty ? rest : { ...rest, [name]: scope };
    writeSetting(this.#deps.database, SCOPES, this.#scopes);
    this.#deps.changed();
  }
}

function tidy(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.trim().toLowerCase()).filter(Boolean))];
}
