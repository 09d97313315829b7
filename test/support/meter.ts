import type { CallMeter, OwnCall } from '../../src/engine/ports.ts';

/** A meter that lets every call through and keeps what it is told. */
export function openMeter(): CallMeter & { readonly calls: OwnCall[] } {
  const calls: OwnCall[] = [];
  return {
    calls,
    admit: () => {},
    record: (call) => {
      calls.push(call);
    },
  };
}
