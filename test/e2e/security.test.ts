import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { openApp, type TestApp } from '../support/app.ts';
import { repoRoot } from '../support/electron.ts';

let app: TestApp;

test.beforeAll(async () => {
  app = await openApp({});
});
test.afterAll(async () => {
  await app.close();
});

const run = (code: string) => app.page.evaluate(`(async () => { ${code} })()`);

// Would catch a page with Node in it: any script in a skill's text would then own the machine.
test('the page has no Node, no Electron and only the bridge', async () => {
  expect(
    await run(
      'return { require: typeof require, process: typeof process, module: typeof module, electron: typeof window.electron, bridge: Object.keys(window.metaclaw).sort() }',
    ),
  ).toEqual({
    require: 'undefined',
    process: 'undefined',
    module: 'undefined',
    electron: 'undefined',
    bridge: ['on', 'platform', 'request'],
  });
  const preferences = await app.app.evaluate(({ BrowserWindow }) => {
    const contents = BrowserWindow.getAllWindows()[0]?.webContents as unknown as {
      getLastWebPreferences(): Record<string, unknown>;
    };
    const { sandbox, contextIsolation, nodeIntegration, webSecurity } = contents.getLastWebPreferences();
    return { sandbox, contextIsolation, nodeIntegration, webSecurity };
  });
  expect(preferences).toEqual({
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    webSecurity: true,
  });
});

// Would catch a link that takes the window, with its bridge, to somebody else's page.
test('the window stays on its own page', async () => {
  const before = app.page.url();
  await run("location.href = 'https://example.com/'; await new Promise((done) => setTimeout(done, 300))");
  expect(app.page.url()).toBe(before);
  await run("location.href = 'file:///etc/passwd'; await new Promise((done) => setTimeout(done, 300))");
  expect(app.page.url()).toBe(before);
  expect(await run("return window.open('https://example.com/') === null")).toBe(true);
  expect(app.app.windows()).toHaveLength(1);
  expect(
    await run(
      "return (await window.metaclaw.request('host.openExternal', { url: 'file:///etc/passwd' })).ok",
    ),
  ).toBe(false);
});

// Would catch a policy that lets the page load or send anything from or to elsewhere.
test('the page loads and sends nothing elsewhere', async () => {
  const { openai } = await app.call('proxy.endpoints', {});
  expect(await run(`return fetch('${openai}/models').then(() => 'sent', () => 'refused')`)).toBe('refused');
  const inserted = await run(`
    const script = document.createElement('script');
    script.textContent = 'window.injected = true';
    document.body.append(script);
    const frame = document.createElement('iframe');
    frame.src = 'data:text/html,hello';
    document.body.append(frame);
    await new Promise((done) => setTimeout(done, 200));
    const seen = { script: window.injected === true, frame: frame.contentDocument !== null };
    script.remove(); frame.remove();
    return seen.script;
  `);
  expect(inserted).toBe(false);
  const policy = await run(
    "return (await fetch('app://metaclaw/index.html')).headers.get('content-security-policy')",
  );
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe-(inline|eval)|https?:|\*/);
  expect(await run("return fetch('app://metaclaw/../../package.json').then((reply) => reply.status)")).toBe(
    404,
  );
  expect(
    await run("return fetch('app://metaclaw/%2e%2e/%2e%2e/package.json').then((reply) => reply.status)"),
  ).toBe(404);
});

// Would catch a page that may use the camera, the position or notifications without being asked.
test('permissions are refused', async () => {
  expect(await run("return (await navigator.permissions.query({ name: 'geolocation' })).state")).toBe(
    'denied',
  );
  expect(await run('return Notification.requestPermission()')).toBe('denied');
});

// Would catch another window, or a frame inside ours, that can call the engine.
test('only our own page is answered', async () => {
  const preload = join(repoRoot, 'out', 'preload', 'index.cjs');
  const reply = await app.app.evaluate(async ({ BrowserWindow }, path) => {
    const other = new BrowserWindow({ show: false, webPreferences: { preload: path, sandbox: true } });
    await other.loadURL('data:text/html,<h1>other</h1>');
    const answer: unknown = await other.webContents.executeJavaScript(
      "window.metaclaw.request('app.snapshot', {})",
    );
    other.destroy();
    return answer;
  }, preload);
  expect(reply).toMatchObject({ ok: false, error: { code: 'FORBIDDEN' } });
});

// Would catch input that reaches a handler unparsed.
test('unknown calls and bad input are refused with a code', async () => {
  const code = (route: string, input: string) =>
    run(`return (await window.metaclaw.request(${JSON.stringify(route)}, ${input})).error?.code`);
  expect(await code('nope', '{}')).toBe('NOT_FOUND');
  expect(await code('toString', '{}')).toBe('NOT_FOUND');
  expect(await code('turns.list', '{ limit: -1 }')).toBe('BAD_INPUT');
  expect(await code('host.setTheme', "{ theme: 'pink' }")).toBe('BAD_INPUT');
  expect(await code('host.copy', '{}')).toBe('BAD_INPUT');
});
