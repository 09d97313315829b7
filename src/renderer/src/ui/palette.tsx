import { Activity, ChevronRight, Layers, NotebookText } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { COMMANDS } from '../../../shared/commands.ts';
import { formatWhen } from '../../../shared/format.ts';
import { useRoute } from '../api.ts';
import { useT } from '../i18n.tsx';
import { useUi } from '../state.ts';
import { useRunCommand, useShortcuts } from './commands.ts';
import { useSettled, useSnapshot } from './hooks.ts';

interface Entry {
  readonly id: string;
  readonly text: string;
  /** Words that find it beside its text. */
  readonly more?: string;
  readonly icon: ReactNode;
  readonly end?: string;
  readonly run: () => void;
}

/** Everything by name: commands, skills and the latest turns. Ctrl or ⌘ K opens and closes it. */
export function Palette() {
  const t = useT();
  const open = useUi((state) => state.paletteOpen);
  const setOpen = useUi((state) => state.setPaletteOpen);
  useShortcuts();
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim" />
        <Dialog.Content className="palette" aria-describedby={undefined}>
          <Dialog.Title className="sr">{t('palette.title')}</Dialog.Title>
          <Search onDone={() => setOpen(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** A combobox: the keys stay in the field, the marked line is told by `aria-activedescendant`. */
function Search({ onDone }: { onDone: () => void }) {
  const t = useT();
  const list = useRef<HTMLDivElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const groups = useGroups(text);
  const entries = groups.flatMap(([, items]) => items);
  const marked = entries[Math.min(at, entries.length - 1)];
  useEffect(() => {
    if (marked !== undefined)
      list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [marked]);
  const choose = (entry: Entry) => {
    onDone();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = entries.length - 1;
    const to = { ArrowDown: at >= last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      setAt(to);
    } else if (event.key === 'Enter' && marked !== undefined) {
      event.preventDefault();
      choose(marked);
    }
  };
  return (
    <>
      <input
        className="palette-input"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-autocomplete="list"
        aria-activedescendant={marked === undefined ? undefined : `palette-${marked.id}`}
        aria-label={t('palette.title')}
        placeholder={t('palette.title')}
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div
        className="palette-list"
        id="palette-list"
        role="listbox"
        aria-label={t('palette.title')}
        ref={list}
      >
        {groups.map(([title, items]) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options is no fieldset
          <div role="group" aria-label={title} key={title}>
            <div className="group" aria-hidden="true">
              {title}
            </div>
            {items.map((entry) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
              // biome-ignore lint/a11y/useFocusableInteractive: options of a combobox are not focused
              <div
                key={entry.id}
                id={`palette-${entry.id}`}
                role="option"
                aria-selected={entry === marked}
                className={entry === marked ? 'palette-item on' : 'palette-item'}
                onClick={() => choose(entry)}
                onMouseMove={() => setAt(entries.indexOf(entry))}
              >
                {entry.icon}
                <span className="grow cut">{entry.text}</span>
                {entry.end === undefined ? null : <span className="sm t3">{entry.end}</span>}
              </div>
            ))}
          </div>
        ))}
      </div>
      {entries.length === 0 ? (
        <div className="palette-none" role="status">
          {t('palette.none')}
        </div>
      ) : null}
    </>
  );
}

/** How many skills, memories and turns are listed at most; more words find more. */
const MOST = 8;

function useGroups(text: string): readonly (readonly [string, readonly Entry[]])[] {
  const t = useT();
  const snapshot = useSnapshot();
  const run = useRunCommand();
  const [, navigate] = useLocation();
  const skills = useRoute('skills.list', {});
  const turns = useRoute('turns.list', { limit: 100, kind: 'main' });
  const memories = useMemories(text);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (entry: Entry) => {
    const all = `${entry.text} ${entry.more ?? ''}`.toLowerCase();
    return words.every((word) => all.includes(word));
  };
  const commands = COMMANDS.filter(
    (command) => command.id !== 'palette' && (command.when?.(snapshot) ?? true),
  ).map(
    (command): Entry => ({
      id: command.id,
      text: t(command.title),
      icon: <ChevronRight aria-hidden="true" />,
      run: () => run(command.id),
    }),
  );
  const skillEntries = (skills.data?.skills ?? []).map(
    (skill): Entry => ({
      id: `skill-${skill.name}`,
      text: skill.name,
      more: skill.description,
      icon: <Layers aria-hidden="true" />,
      run: () => navigate(`/skills/library/${encodeURIComponent(skill.name)}`),
    }),
  );
  const turnEntries = (turns.data?.turns ?? []).map(
    (turn): Entry => ({
      id: `turn-${turn.id}`,
      text: turn.userText || '–',
      icon: <Activity aria-hidden="true" />,
      end: formatWhen(turn.startedAt, Date.now(), t.locale),
      run: () => navigate(`/activity/${encodeURIComponent(turn.id)}`),
    }),
  );
  return (
    [
      [t('palette.commands'), commands.filter(matches)],
      [t('palette.skills'), skillEntries.filter(matches).slice(0, MOST)],
      [t('palette.memories'), memories],
      [t('palette.turns'), turnEntries.filter(matches).slice(0, MOST)],
    ] as const
  ).filter(([, items]) => items.length > 0);
}

/** Memories that the words find; none without words, since there are too many to list. */
function useMemories(text: string): readonly Entry[] {
  const t = useT();
  const [, navigate] = useLocation();
  const asked = useSettled(text.trim(), 120);
  const found = useRoute('memory.list', { text: asked, limit: MOST }, { enabled: asked !== '' });
  if (asked === '') return [];
  return (found.data?.units ?? []).map((unit) => ({
    id: `memory-${unit.id}`,
    text: unit.content,
    icon: <NotebookText aria-hidden="true" />,
    end: formatWhen(unit.createdAt, Date.now(), t.locale),
    run: () => navigate(`/memories/${encodeURIComponent(unit.id)}`),
  }));
}
