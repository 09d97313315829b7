import { Dialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

/** A question over the window. Esc and a click outside close it; focus stays inside and returns afterwards. */
export function Dialog(props: {
  open: boolean;
  title: string;
  description: string;
  /** For lists. */
  wide?: boolean;
  children?: ReactNode;
  footer: ReactNode;
  onClose: () => void;
}) {
  return (
    <Radix.Root
      open={props.open}
      onOpenChange={(open) => {
        if (!open) props.onClose();
      }}
    >
      <Radix.Portal>
        <Radix.Overlay className="scrim" />
        <Radix.Content className={props.wide ? 'dialog wide' : 'dialog'}>
          <Radix.Title>{props.title}</Radix.Title>
          <Radix.Description className="t2 dialog-text">{props.description}</Radix.Description>
          {props.children}
          <footer>{props.footer}</footer>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
