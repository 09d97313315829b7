import { ChevronLeft, Search } from 'lucide-react';
import type { ReactNode, RefObject } from 'react';
import { useT } from '../i18n.tsx';
import { IconButton } from './primitives.tsx';

/** The field that narrows a list; the screen binds "/" to it. */
export function FilterField(props: {
  field: RefObject<HTMLInputElement | null>;
  label: string;
  value: string;
  onChange: (value: string) => void;
}) {
  return (
    <div className="input search grow">
      <Search className="s" aria-hidden="true" />
      <input
        ref={props.field}
        type="search"
        aria-label={props.label}
        placeholder={props.label}
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
      />
      <span className="kbd" aria-hidden="true">
        /
      </span>
    </div>
  );
}

/** The head of what is open beside a list: its name, a line of facts, and the way back where only one of both fits. */
export function DetailTitle(props: {
  title: string;
  facts: ReactNode;
  onBack: () => void;
  /** Stands at the end of the line. */
  children?: ReactNode;
}) {
  const t = useT();
  return (
    <div className="bar detail-title">
      <span className="narrow-only">
        <IconButton label={t('activity.toList')} onClick={props.onBack}>
          <ChevronLeft aria-hidden="true" />
        </IconButton>
      </span>
      <div className="grow">
        <h2 className="cut selectable" title={props.title}>
          {props.title}
        </h2>
        <div className="sm t3 facts selectable">{props.facts}</div>
      </div>
      {props.children}
    </div>
  );
}
