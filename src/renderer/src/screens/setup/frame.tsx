import { ChevronLeft } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { useT } from '../../i18n.tsx';
import { Button } from '../../ui/primitives.tsx';

/** What every step gets. */
export interface StepProps {
  next(): void;
  /** Null on the first step and once everything is saved. */
  back: (() => void) | null;
  /** Leaves the wizard; a card on Overview leads back. */
  leave(): void;
}

/** The frame of a step: title, lead, content, and the bar with Back and the way on. */
export function StepFrame(props: {
  title: string;
  lead: string;
  step: Pick<StepProps, 'back' | 'next'> & { leave: (() => void) | null };
  children: ReactNode;
  /** The way on, where it is not just Continue. */
  actions?: ReactNode;
}) {
  const t = useT();
  const { back, leave, next } = props.step;
  const title = useRef<HTMLHeadingElement>(null);
  // A new step starts at its title, for eyes and screen readers alike.
  useEffect(() => title.current?.focus(), []);
  return (
    <>
      <div className="grow scroll setup-body">
        <div className="setup-column">
          <h1 className="setup-title" ref={title} tabIndex={-1}>
            {props.title}
          </h1>
          <p className="t2 setup-lead">{props.lead}</p>
          {props.children}
        </div>
      </div>
      <footer className="actions setup-actions">
        {back === null ? null : (
          <Button onClick={back}>
            <ChevronLeft className="s" aria-hidden="true" />
            {t('common.back')}
          </Button>
        )}
        <span className="grow" />
        {leave === null ? null : (
          <Button tone="quiet" onClick={leave}>
            {t('setup.skip')}
          </Button>
        )}
        {props.actions ?? (
          <Button tone="primary" onClick={next}>
            {t('common.continue')}
          </Button>
        )}
      </footer>
    </>
  );
}
