import { lazy, Suspense } from 'react';
import { SkeletonRows } from '../feedback.tsx';
import type { MarkdownEditorProps } from './markdown-editor.tsx';

/** The editor is large: it is loaded when the first file is opened for writing. */
const Loaded = lazy(async () => {
  const { MarkdownEditor } = await import('./markdown-editor.tsx');
  return { default: MarkdownEditor };
});

/** A field for a Markdown file with front matter. */
export function CodeField(props: MarkdownEditorProps) {
  return (
    <Suspense fallback={<SkeletonRows rows={3} />}>
      <Loaded {...props} />
    </Suspense>
  );
}
