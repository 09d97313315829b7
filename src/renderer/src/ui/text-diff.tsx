import { diffLines, diffWordsWithSpace } from 'diff';
import { useMemo } from 'react';
import { useT } from '../i18n.tsx';

/** What turned one text into another, word by word or line by line. Additions and removals are told by more than colour. */
export function TextDiff({ before, after, by }: { before: string; after: string; by: 'words' | 'lines' }) {
  const t = useT();
  const parts = useMemo(
    () =>
      by === 'lines'
        ? diffLines(ended(before), ended(after))
        : diffWordsWithSpace(before, after, {
            intlSegmenter: new Intl.Segmenter(t.locale, { granularity: 'word' }),
          }),
    [before, after, by, t.locale],
  );
  if (by === 'words')
    return (
      <div className="text-diff selectable">
        {parts.map((part, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity but their place
          <Piece key={at} {...part} />
        ))}
      </div>
    );
  return (
    <div className="line-diff selectable">
      {parts.flatMap(({ value, added, removed }, at) =>
        value
          .replace(/\n$/, '')
          .split('\n')
          .map((line, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
            <div key={`${at} ${n}`} className={added ? 'a' : removed ? 'd' : ''}>
              <b>{added ? '+' : removed ? '−' : ''}</b>
              <Piece value={line === '' ? ' ' : line} added={added} removed={removed} />
            </div>
          )),
      )}
    </div>
  );
}

function Piece({ value, added, removed }: { value: string; added: boolean; removed: boolean }) {
  if (added) return <ins>{value}</ins>;
  if (removed) return <del>{value}</del>;
  return <span>{value}</span>;
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
