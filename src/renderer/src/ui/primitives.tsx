import { ChevronDown } from 'lucide-react';
import { Switch as RadixSwitch, ToggleGroup } from 'radix-ui';
import type { ButtonHTMLAttributes, ReactNode, SelectHTMLAttributes } from 'react';
import { Glyph } from './glyph.tsx';

type Tone = 'plain' | 'primary' | 'danger' | 'quiet';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  tone?: Tone;
  small?: boolean;
  /** Single key that does the same; shown, and bound by the screen. */
  hotkey?: string;
}

export function Button({ tone = 'plain', small, hotkey, className = '', children, ...rest }: ButtonProps) {
  const classes = ['btn', tone === 'plain' ? '' : tone, small ? 'sm' : '', className]
    .filter(Boolean)
    .join(' ');
  return (
    <button type="button" className={classes} {...rest}>
      {children}
      {hotkey === undefined ? null : (
        <span className="kbd" aria-hidden="true">
          {hotkey}
        </span>
      )}
    </button>
  );
}

/** A button that shows only an icon; `label` names it. */
export function IconButton({ label, small, ...rest }: Omit<ButtonProps, 'aria-label'> & { label: string }) {
  return <Button tone="quiet" small={small} className="icon" aria-label={label} title={label} {...rest} />;
}

export function Switch(props: {
  label: string;
  checked: boolean;
  disabled?: boolean;
  onChange: (on: boolean) => void;
}) {
  return (
    <RadixSwitch.Root
      className="switch"
      aria-label={props.label}
      checked={props.checked}
      disabled={props.disabled}
      onCheckedChange={props.onChange}
    />
  );
}

/** A choice of many: the system's own list, in our clothes. */
export function Select({ large, ...rest }: SelectHTMLAttributes<HTMLSelectElement> & { large?: boolean }) {
  return (
    <span className="select">
      <select className={large ? 'input lg' : 'input'} {...rest} />
      <ChevronDown className="s" aria-hidden="true" />
    </span>
  );
}

/** A choice of few, all visible. */
export function Segments<Value extends string>(props: {
  label: string;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange: (value: Value) => void;
}) {
  return (
    <ToggleGroup.Root
      type="single"
      className="seg"
      aria-label={props.label}
      value={props.value}
      onValueChange={(value) => {
        // Pressing the chosen one again gives an empty value; one is always chosen.
        if (value !== '') props.onChange(value as Value);
      }}
    >
      {props.options.map((option) => (
        <ToggleGroup.Item key={option.value} value={option.value}>
          {option.label}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  );
}

/** A label over a control, with a hint under it. The control takes `id`. */
export function Field(props: {
  id: string;
  label: string;
  hint?: ReactNode;
  /** Stands at the end of the label's line. */
  end?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className="field">
      <div className="flex">
        <label className="med grow" htmlFor={props.id}>
          {props.label}
        </label>
        {props.end}
      </div>
      {props.children}
      {props.hint === undefined ? null : (
        <div className="hint" id={`${props.id}-hint`}>
          {props.hint}
        </div>
      )}
    </div>
  );
}

export function Badge({
  tone,
  children,
}: {
  tone?: 'line' | 'acc' | 'ok' | 'warn' | 'danger';
  children: ReactNode;
}) {
  return <span className={tone === undefined ? 'badge' : `badge ${tone}`}>{children}</span>;
}

const NOTE_GLYPH = { ok: 'ok', warn: 'warning', danger: 'problem' } as const;

/** A tinted line that says one thing; `action` stands at its end. */
export function Note(props: {
  tone?: 'acc' | 'ok' | 'warn' | 'danger';
  icon?: ReactNode;
  action?: ReactNode;
  large?: boolean;
  role?: 'alert' | 'status';
  children: ReactNode;
}) {
  const { tone } = props;
  const glyph = tone === undefined || tone === 'acc' ? null : <Glyph level={NOTE_GLYPH[tone]} />;
  return (
    <div
      className={['note', tone ?? '', props.large ? 'large' : ''].filter(Boolean).join(' ')}
      role={props.role}
    >
      {props.icon ?? glyph}
      <div className="grow">{props.children}</div>
      {props.action}
    </div>
  );
}

/** A titled box. */
export function Panel(props: {
  title: string;
  end?: ReactNode;
  className?: string;
  level?: 2 | 3;
  children: ReactNode;
}) {
  const Title = props.level === 3 ? 'h3' : 'h2';
  return (
    <section className={`panel ${props.className ?? ''}`} aria-label={props.title}>
      <header>
        <Title className="panel-title">{props.title}</Title>
        <span className="end flex">{props.end}</span>
      </header>
      {props.children}
    </section>
  );
}

/** One figure in a row of them (`dl.stats`). */
export function Stat({ label, value, detail }: { label: string; value: string; detail: string }) {
  return (
    <div className="stat">
      <dt className="label">{label}</dt>
      <dd className="v">{value}</dd>
      <dd className="d" title={detail}>
        {detail}
      </dd>
    </div>
  );
}

export function Mark({ text, title }: { text: string; title: string }) {
  return (
    <span className="mark" title={title}>
      <span aria-hidden="true">{text}</span>
      <span className="sr">{title}</span>
    </span>
  );
}
