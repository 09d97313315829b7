import { assertNever } from '../../../shared/errors.ts';
import type { StatusLevel } from '../../../shared/status.ts';

const SQUARE_CROSS =
  'M2.5 1h7A1.5 1.5 0 0 1 11 2.5v7A1.5 1.5 0 0 1 9.5 11h-7A1.5 1.5 0 0 1 1 9.500v-7A1.5 1.5 0 0 1 2.5 1zM6 5 4.4 3.4l-1 1L5 6 3.400 7.600l1 1L6 7l1.6 1.6 1-1L7 6l1.6-1.6-1-1z';

/** The shape of a state: told apart without colour. */
export function Glyph({ level }: { level: StatusLevel | 'problem' | 'ok' | 'warning' }) {
  return (
    <svg className="g" viewBox="0 0 12 12" aria-hidden="true">
      {shape(level)}
    </svg>
  );
}

function shape(level: Parameters<typeof Glyph>[0]['level']) {
  const line = { fill: 'none', stroke: 'currentColor', strokeWidth: 1.4, strokeLinecap: 'round' as const };
  switch (level) {
    case 'ready':
    case 'ok':
      return <circle cx="6" cy="6" r="4.2" />;
    case 'stopped':
      return <circle cx="6" cy="6" r="3.6" {...line} />;
    case 'starting':
      return <circle cx="6" cy="6" r="4" {...line} strokeDasharray="2.2 2" />;
    case 'working':
      return (
        <>
          <circle cx="6" cy="6" r="2" />
          <path d="M6 1.4A4.6 4.6 0 0 1 10.6 6" {...line} />
          <path d="M6 10.6A4.6 4.6 0 0 1 1.4 6" {...line} />
        </>
      );
    case 'learning':
      return <path d="M6 .9 11.1 6 6 11.1.9 6z" />;
    case 'attention':
    case 'warning':
      return <path d="M6 1 11.6 10.9H.4z" />;
    case 'paused':
      return (
        <>
          <rect x="2.4" y="1.8" width="2.6" height="8.4" rx=".8" />
          <rect x="7" y="1.8" width="2.6" height="8.4" rx=".8" />
        </>
      );
    case 'error':
    case 'problem':
      return <path fillRule="evenodd" d={SQUARE_CROSS} />;
    default:
      return assertNever(level);
  }
}

/** The mark of the product. */
export function Brand() {
  return (
    <svg
      viewBox="0 0 16 16"
      width="18"
      height="18"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <path d="M4.2 2.2C3 5.8 3.4 9.7 5.6 13.8" />
      <path d="M8.7 1.8c-1.1 4-.8 7.9 1 12.3" />
      <path d="M13 2.8c-.8 3.4-.6 6.5.6 10" />
    </svg>
  );
}
