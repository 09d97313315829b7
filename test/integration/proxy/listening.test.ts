import { describe, expect, it } from 'vitest';
import { startProxyLab } from '../../support/proxy.ts';
import { post, rawRequest } from '../../support/raw.ts';

const CHAT = '/v1/chat/completions';
const BODY = JSON.stringify({ model: 'served', messages: [{ role: 'user', content: 'hi' }] });

describe('listening', () => {
  it('R129: names the process that holds the port', async () => {
    const first = await startProxyLab();
    const taken = startProxyLab({ config: { llm: {}, proxy: { port: first.port } } });
    await expect(taken).rejects.toMatchObject({ code: 'PORT_IN_USE' });
    await expect(taken).rejects.toThrow(
      process.platform === 'linux' ? `process ${process.pid}` : String(first.port),
    );
    await first.close();
  });

  it('R139: without a key it stays on loopback whatever the file says', async () => {
    const open = await startProxyLab({
      config: { llm: {}, proxy: { host: '0.0.0.0', port: 0, listeners: [{ host: '0.0.0.0', port: 1234 }] } },
    });
    try {
      await open.proxy.stop();
      const listening = await open.proxy.start();
      expect(listening.host).toBe('127.0.0.1');
      expect(listening.warnings).toHaveLength(2);
      expect(listening.warnings[0]).toContain('proxy.api_key');
    } finally {
      await open.close();
    }
  });

  it('stops only after the running turn has its answer, and takes no new ones meanwhile', async () => {
    const draining = await startProxyLab();
    draining.upstream.reply({ text: 'slow but whole', wire: { headersDelayMs: 300 } });
    const running = rawRequest(draining.port, post(CHAT, BODY));
    await draining.upstream.until((upstream) => upstream.requests.length === 1);
    expect(draining.proxy.activeTurns()).toMatchObject([{ agent: 'unknown' }]);
    const stopped = draining.proxy.stop();
    await expect(rawRequest(draining.port, post(CHAT, BODY))).rejects.toThrow();
    expect((await running).body).toContain('slow but whole');
    await stopped;
    expect(draining.proxy.activeTurns()).toEqual([]);
    expect(draining.sessions.list({ limit: 1 }).turns[0]?.status).toBe('answered');
    await draining.close();
  });
});
