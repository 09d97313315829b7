import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { markdown, markdownLanguage } from '@codemirror/lang-markdown';
import { yamlFrontmatter } from '@codemirror/lang-yaml';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { Annotation, Compartment, EditorState, type Extension, type Text } from '@codemirror/state';
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';

/** Something to mark in the gutter of a line, from 1. */
export interface Fault {
  line: number;
  level: 'problem' | 'remark';
  text: string;
}

export interface MarkdownEditorProps {
  label: string;
  value: string;
  readOnly: boolean;
  faults: readonly Fault[];
  onChange: (value: string) => void;
  /** Ctrl or ⌘ S. */
  onSave: () => void;
}

/** Marks a change that came from outside, so that it is not told back. */
const fromOutside = Annotation.define<boolean>();

/** A Markdown file with YAML in front, coloured, with its faults in the gutter. Tab leaves it, as it does any field. */
export function MarkdownEditor(props: MarkdownEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const { value, label, readOnly, faults } = props;

  useEffect(() => {
    if (place.current === null) return;
    const editor = new EditorView({
      parent: place.current,
      state: EditorState.create({ doc: latest.current.value, extensions: extensionsFor(latest) }),
    });
    view.current = editor;
    return () => {
      editor.destroy();
      view.current = null;
    };
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: value },
      annotations: fromOutside.of(true),
    });
  }, [value]);
  useEffect(() => {
    view.current?.dispatch({ effects: traits.reconfigure(traitsOf(label, readOnly)) });
  }, [label, readOnly]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    editor.dispatch(setDiagnostics(editor.state, diagnosticsOf(faults, editor.state.doc)));
  }, [faults]);
  return <div ref={place} className="code-editor" />;
}

const traits = new Compartment();

function traitsOf(label: string, readOnly: boolean): Extension {
  return [
    EditorState.readOnly.of(readOnly),
    EditorView.contentAttributes.of({
      'aria-label': label,
      tabindex: '0',
      ...(readOnly ? { 'aria-readonly': 'true' } : {}),
    }),
  ];
}

function extensionsFor(latest: { readonly current: MarkdownEditorProps }): Extension {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
  return [
    EditorView.cspNonce.of(nonce),
    lineNumbers(),
    lintGutter(),
    history(),
    highlightActiveLine(),
    EditorView.lineWrapping,
    yamlFrontmatter({ content: markdown({ base: markdownLanguage, completeHTMLTags: false }) }),
    syntaxHighlighting(colours),
    theme,
    traits.of(traitsOf(latest.current.label, latest.current.readOnly)),
    keymap.of([
      {
        key: 'Mod-s',
        preventDefault: true,
        run: () => {
          latest.current.onSave();
          return true;
        },
      },
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    EditorView.updateListener.of((update) => {
      const isOurs = update.transactions.some((transaction) => transaction.annotation(fromOutside));
      if (update.docChanged && !isOurs) latest.current.onChange(update.state.doc.toString());
    }),
  ];
}

function diagnosticsOf(faults: readonly Fault[], doc: Text) {
  return faults.map(({ line, level, text }) => {
    const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
    return {
      from,
      to,
      severity: level === 'problem' ? ('error' as const) : ('warning' as const),
      message: text,
    };
  });
}

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--syn-key)' },
  { tag: [tags.string, tags.monospace], color: 'var(--syn-str)' },
  { tag: tags.heading, color: 'var(--syn-head)', fontWeight: '600' },
  { tag: [tags.strong], fontWeight: '600' },
  { tag: [tags.emphasis], fontStyle: 'italic' },
  { tag: [tags.link, tags.url], color: 'var(--syn-key)' },
  { tag: tags.quote, color: 'var(--syn-mark)' },
  { tag: [tags.meta, tags.comment, tags.processingInstruction], color: 'var(--syn-dim)' },
]);

const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'transparent', fontSize: 'var(--fs-code)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: 'var(--lh-code)' },
  '.cm-content': { padding: '12px 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 24px 0 8px' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'var(--bg-subtle)' },
  '.cm-gutters': {
    backgroundColor: 'transparent',
    color: 'var(--text-3)',
    border: 'none',
    paddingLeft: '4px',
  },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '28px', padding: '0 6px 0 0' },
  '.cm-gutter-lint': { width: '18px' },
  '.cm-gutter-lint .cm-gutterElement': { display: 'grid', placeItems: 'center' },
  '.cm-lint-marker': { width: '10px', height: '10px' },
  '.cm-lintRange': { backgroundImage: 'none' },
  '.cm-lintRange-error': { textDecoration: 'underline wavy var(--danger) 1px', textUnderlineOffset: '3px' },
  '.cm-lintRange-warning': { textDecoration: 'underline wavy var(--warn) 1px', textUnderlineOffset: '3px' },
  '.cm-tooltip': {
    border: '0',
    borderRadius: 'var(--r-2)',
    backgroundColor: 'var(--bg-raised)',
    color: 'var(--text)',
    boxShadow: 'var(--shadow-pop)',
    fontFamily: 'var(--font)',
  },
  '.cm-diagnostic': { padding: '6px 10px', border: '0', maxWidth: '360px' },
});
