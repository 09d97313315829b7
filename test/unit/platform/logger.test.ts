import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog, RING_SIZE } from '../../../src/engine/platform/logger.ts';

const keep = (text: string) => text.replaceAll('sk-secret', '[redacted]');

describe('log', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'metaclaw-log-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('makes a missing folder and has every line on disk after close', async () => {
    const logs = join(dir, 'deep', 'logs');
    const log = createLog({ dir: logs, level: 'info', redact: keep, stderr: null });
    for (let n = 0; n < 50; n += 1) log.logger.child({ name: 'proxy' }).info({ n }, 'line');
    await log.close();
    const lines = readFileSync(join(logs, 'metaclaw.log'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toHaveLength(50);
    expect(lines[49]).toMatchObject({ level: 'info', name: 'proxy', n: 49, msg: 'line' });
  });

  it('masks secrets by field name and by pattern, at any depth, in file, memory and terminal', async () => {
    const terminal: string[] = [];
    const log = createLog({ dir, level: 'info', redact: keep, stderr: (line) => terminal.push(line) });
    log.logger.warn(
      {
        headers: { 'X-Api-Key': 'abc123', accept: 'a sk-secret b' },
        api_key: 'abc123',
        err: new Error('no sk-secret'),
      },
      'told sk-secret',
    );
    await log.close();
    const everything =
      readFileSync(join(dir, 'metaclaw.log'), 'utf8') + JSON.stringify(log.recent()) + terminal.join();
    expect(everything).not.toContain('sk-secret');
    expect(everything).not.toContain('abc123');
    expect(log.recent()[0]?.msg).toBe('told [redacted]');
  });

  it('keeps control characters of data away from the terminal', () => {
    const terminal: string[] = [];
    const log = createLog({ dir: null, level: 'info', redact: keep, stderr: (line) => terminal.push(line) });
    log.logger.info({ path: '\u001b[2Jx\nfake line' }, 'request');
    expect(terminal).toHaveLength(1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(terminal[0]).not.toMatch(/[\u0000-\u001f]/);
  });

  it('bounds its memory and honours the level', () => {
    const log = createLog({ dir: null, level: 'warn', redact: keep, stderr: null });
    for (let n = 0; n < RING_SIZE + 10; n += 1) log.logger.warn({ n }, 'x');
    log.logger.info('not seen');
    expect(log.recent()).toHaveLength(RING_SIZE);
    expect(log.recent()[0]?.fields.n).toBe(10);
  });

  it('goes on when the folder cannot be written', async () => {
    const terminal: string[] = [];
    writeFileSync(join(dir, 'file'), '');
    const log = createLog({
      dir: join(dir, 'file', 'logs'),
      level: 'info',
      redact: keep,
      stderr: (line) => terminal.push(line),
    });
    log.logger.info('still here');
    await log.close();
    expect(log.recent().map((line) => line.msg)).toEqual(['still here']);
    expect(terminal.join()).toContain('cannot be made');
  });
});
