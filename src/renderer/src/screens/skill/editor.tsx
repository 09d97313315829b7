import { useMemo, useState } from 'react';
import type { RouteOutput } from '../../../../shared/contract.ts';
import { formatNumber } from '../../../../shared/format.ts';
import type { SkillDetail } from '../../../../shared/model.ts';
import { useCommand, useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { CodeField } from '../../ui/code/index.tsx';
import type { Fault } from '../../ui/code/markdown-editor.tsx';
import { Glyph } from '../../ui/glyph.tsx';
import { useSettled } from '../../ui/hooks.ts';
import { Markdown, withoutFrontMatter } from '../../ui/markdown.tsx';
import { Button, Note, Segments } from '../../ui/primitives.tsx';
import { TryOnButton } from './try-on.tsx';

interface Draft {
  content: string;
  /** Hash of the text that was begun with. */
  base: string;
}

/** Unsaved texts, so that a look elsewhere in the window loses none. */
const drafts = new Map<string, Draft>();

/** The file of a skill, to be changed: with its faults while one writes, and a version when it is saved. */
export function SkillEditor({ skill, onSaved }: { skill: SkillDetail; onSaved: () => void }) {
  const t = useT();
  const toast = useUi((state) => state.toast);
  const save = useCommand('skills.edit');
  const { name } = skill;
  const [draft, setDraft] = useState<Draft | null>(drafts.get(name) ?? null);
  const change = (next: Draft | null) => {
    if (next === null) drafts.delete(name);
    else drafts.set(name, next);
    setDraft(next);
  };
  const content = draft?.content ?? skill.content;
  const isFree = skill.writable && !skill.locked;
  const isOld = draft !== null && draft.base !== skill.hash;
  const doSave = (base: string) =>
    save.mutate(
      { name, content, base },
      {
        onSuccess: ({ undo, version }) => {
          change(null);
          toast(t('skills.savedToast', { name, number: String(version) }), { undo });
          onSaved();
        },
      },
    );
  return (
    <>
      {isFree ? null : (
        <div className="list-note">
          <Note>{t(skill.writable ? 'skills.lockedHow' : 'skills.foreignHow')}</Note>
        </div>
      )}
      {isOld ? (
        <div className="list-note">
          <Note
            tone="warn"
            action={
              <Button small disabled={save.isPending} onClick={() => doSave(skill.hash)}>
                {t('skills.saveAnyway')}
              </Button>
            }
          >
            {t('skills.changedSince')}
          </Note>
        </div>
      ) : null}
      <TextForm
        label={t('skills.textOf', { name })}
        name={name}
        content={content}
        readOnly={!isFree}
        onChange={(text) => change({ content: text, base: draft?.base ?? skill.hash })}
        onSave={() => {
          if (draft !== null && !isOld) doSave(draft.base);
        }}
      >
        {(isValid) => (
          <>
            <Button disabled={draft === null} onClick={() => change(null)}>
              {t('skills.discard')}
            </Button>
            <Button
              tone="primary"
              hotkey="Ctrl S"
              disabled={draft === null || isOld || !isValid || save.isPending}
              onClick={() => draft !== null && doSave(draft.base)}
            >
              {t('skills.saveAs', { number: String(skill.version + 1) })}
            </Button>
          </>
        )}
      </TextForm>
    </>
  );
}

/** A SKILL.md being written, with what is wrong with it under it. `children` are the buttons, told whether it is valid. */
export function TextForm(props: {
  label: string;
  /** The name that the text must keep; absent for a new skill. */
  name?: string;
  content: string;
  readOnly?: boolean;
  onChange: (content: string) => void;
  onSave: () => void;
  children: (isValid: boolean) => React.ReactNode;
}) {
  const t = useT();
  const [view, setView] = useState<'text' | 'preview'>('text');
  const settled = useSettled(props.content, 250);
  const check = useRoute('skills.check', {
    content: settled,
    ...(props.name === undefined ? {} : { name: props.name }),
  });
  const problem = check.data?.problem ?? null;
  const remarks = check.data?.remarks ?? [];
  const faults = useMemo(() => faultsOf(check.data), [check.data]);
  return (
    <>
      <div className="grow editor">
        {view === 'text' ? (
          <CodeField
            label={props.label}
            value={props.content}
            readOnly={props.readOnly ?? false}
            faults={faults}
            onChange={props.onChange}
            onSave={() => {
              if (problem === null) props.onSave();
            }}
          />
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard
          <section className="scroll detail-body" tabIndex={0} aria-label={t('skills.preview')}>
            <Markdown text={withoutFrontMatter(props.content)} />
          </section>
        )}
      </div>
      {problem === null && remarks.length === 0 ? null : (
        <ul className="faults sm" aria-label={t('skills.faults')}>
          {problem === null ? null : (
            <li className="problem">
              <Glyph level="problem" /> {problem}
            </li>
          )}
          {remarks.map((remark) => (
            <li key={remark}>
              <Glyph level="warning" /> {remark}
            </li>
          ))}
        </ul>
      )}
      <div className="actions">
        <Segments
          label={t('skills.view')}
          value={view}
          options={[
            { value: 'text', label: t('skills.text') },
            { value: 'preview', label: t('skills.preview') },
          ]}
          onChange={setView}
        />
        <span className="grow">
          <span className="sm t3 hide-narrow">
            {check.data === undefined
              ? ''
              : t('skills.ofTokens', { count: check.data.tokens, most: formatNumber(250, t.locale) })}
          </span>
        </span>
        <TryOnButton content={settled} disabled={problem !== null || check.data === undefined} />
        {props.children(problem === null)}
      </div>
    </>
  );
}

function faultsOf(check: RouteOutput<'skills.check'> | undefined): Fault[] {
  if (check === undefined) return [];
  const texts = check.problem === null ? check.remarks : [check.problem, ...check.remarks];
  return texts.map((text, at) => ({
    line: check.lines[at] ?? 1,
    level: text === check.problem ? 'problem' : 'remark',
    text,
  }));
}
