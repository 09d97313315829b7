import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventBytes } from '../../../src/engine/proxy/event-bytes.ts';

const piece = fc.constantFrom('data: a', 'x', '\n', '\r', '\r\n', '\n\n', '\r\r', '\r\n\r\n', ': c', '🌍');

function cutAt(bytes: Buffer, at: number[]): Buffer[] {
  const edges = [0, ...at.map((edge) => edge % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
}

describe('event bytes', () => {
  it('loses, adds and reorders nothing, whatever the cuts', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(), { maxLength: 8 }), (pieces, at) => {
        const bytes = Buffer.from(pieces.join(''));
        const events = new EventBytes();
        const out = cutAt(bytes, at).flatMap((chunk) => events.push(chunk) ?? []);
        const rest = events.rest();
        expect(Buffer.concat(rest ? [...out, rest] : out)).toEqual(bytes);
      }),
      { numRuns: 2000 },
    );
  });

  it('lets go only behind a blank line, of any line ending', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(), { maxLength: 8 }), (pieces, at) => {
        const events = new EventBytes();
        let seen = '';
        for (const chunk of cutAt(Buffer.from(pieces.join('')), at)) {
          const ready = events.push(chunk);
          if (ready === null) continue;
          seen += ready.toString('latin1');
          // Two line ends in a row, or the LF of a CRLF whose CR already was the second one.
          expect(seen).toMatch(/(?:\r\n|\n|\r)(?:\r\n|\n|\r)$/);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('passes an event of many megabytes on instead of keeping it', () => {
    const events = new EventBytes();
    let held = 0;
    for (let n = 0; n < 64; n += 1) held += events.push(Buffer.alloc(64 * 1024, 120)) ? 0 : 64 * 1024;
    expect(held).toBeLessThan(4 * 1024 * 1024);
    expect(events.atBoundary).toBe(false);
    events.push(Buffer.from('\n\n'));
    expect(events.atBoundary).toBe(true);
  });
});
