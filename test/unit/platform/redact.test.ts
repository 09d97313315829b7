import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redact, redactJson } from '../../../src/engine/platform/redact.ts';

const PEM = '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nabc123\n-----END RSA PRIVATE KEY-----';
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';

describe('what is masked', () => {
  // A secret that reaches the database, a log or the evolver cannot be taken back (R122).
  const cases: [string, string, string][] = [
    ['L03 key', 'my key is sk-TEST1234567890abcdef, password hunter2', 'sk-TEST1234567890abcdef'],
    ['L03 password', 'my key is sk-TEST1234567890abcdef, password hunter2', 'hunter2'],
    ['R122 password', 'remember: db password is hunter2, key sk-TEST123', 'hunter2'],
    ['R122 key', 'remember: db password is hunter2, key sk-TEST123', 'sk-TEST123'],
    ['Anthropic key', 'use sk-ant-api03-AbC123def456-_xyz789 now', 'sk-ant-api03-AbC123def456-_xyz789'],
    ['OpenAI project key', 'sk-proj-a1B2c3D4e5F6g7H8i9J0', 'a1B2c3D4e5F6g7H8i9J0'],
    ['lower-case key', 'sk-0123456789abcdef0123456789abcdef', '0123456789abcdef0123456789abcdef'],
    ['GitHub classic', 'ghp_abcdefghijklmnopqrstuvwxyz0123456789', 'ghp_abcdefghij'],
    ['GitHub fine', 'github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz', 'github_pat_11ABC'],
    ['Slack', 'xoxb-123456789012-abcdefABCDEF', 'xoxb-1234'],
    ['AWS id', 'AKIAIOSFODNN7EXAMPLE', 'AKIAIOSFODNN7EXAMPLE'],
    ['AWS secret', 'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzEXAMPLEKEY', 'wJalrXUtnFEMI'],
    ['Google', 'AIzaSyA-1234567890abcdefghijklmnopqrstu', 'AIzaSyA-1234'],
    ['Stripe', 'sk_live_4eC39HqLyjWDarjtT1zdp7dc', '4eC39HqLyj'],
    ['Hugging Face', 'hf_abcdefghijABCDEFGHIJ0123456789', 'hf_abcdefghij'],
    ['Telegram', 'bot 123456789:AAabcdefghijklmnopqrstuvwxyz-_12345', 'AAabcdefghij'],
    ['JWT', `cookie ${JWT};`, 'eyJzdWIiOiIx'],
    ['PEM', `key:\n${PEM}\nthanks`, 'MIIEpAIBAAKCAQEA7'],
    ['PEM in JSON', JSON.stringify({ k: PEM }), 'MIIEpAIBAAKCAQEA7'],
    ['cut-off PEM', '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg', 'MIIEvQIBADANBg'],
    ['bearer', 'curl -H "Authorization: Bearer abc123def456ghi789"', 'abc123def456ghi789'],
    ['basic', 'Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==', 'dXNlcjpwYXNzd29yZDEyMw'],
    ['password equals', 'PASSWORD=swordfish', 'swordfish'],
    ['env prefix', 'export DB_PASSWORD=swordfish', 'swordfish'],
    ['yaml line', 'user: bob\npassword: swordfish\nhost: x', 'swordfish'],
    ['quoted', "const password = 'correct-horse'", 'correct-horse'],
    ['json', '{"password":"swordfish"}', 'swordfish'],
    ['json inside json', JSON.stringify(JSON.stringify({ password: 'swordfish' })), 'swordfish'],
    ['query', 'https://x.test/login?user=a&password=swordfish&x=1', 'swordfish'],
    ['chinese is', '数据库密码是hunter2，请记住', 'hunter2'],
    ['chinese colon', '密码：abc12345。', 'abc12345'],
    ['french', 'Le mot de passe est Soleil2024 pour le wifi', 'Soleil2024'],
    ['postgres', 'postgres://app:s3cr3tpw@db.test:5432/x', 's3cr3tpw'],
    ['redis without user', 'redis://:hunter22@localhost:6379', 'hunter22'],
    ['mongo', 'mongodb+srv://joe:P%40ss-w0rd@cluster0.test/db', 'P%40ss-w0rd'],
    ['api key yaml', 'api_key: 9f8e7d6c5b4a39281706', '9f8e7d6c5b4a39281706'],
    ['api key env', 'MISTRAL_API_KEY="aB3dE5fG7hI9jK1lM3nO"', 'aB3dE5fG7hI9jK1lM3nO'],
    ['client secret', 'client_secret=GOCSPX-a1b2c3d4e5f6g7h8', 'GOCSPX-a1b2c3d4e5f6g7h8'],
    ['header', 'x-api-key: 5f2b9c81d7e64a0b', '5f2b9c81d7e64a0b'],
    // Written as people and tools write them, not as a config file would: all of these were stored in clear.
    ['basic auth of curl', 'curl -u admin:hunter22x https://x.test', 'hunter22x'],
    ['mysql', 'mysql -u root -pS3cretMy5ql db', 'S3cretMy5ql'],
    ['sshpass in JSON', JSON.stringify({ command: 'sshpass -p "Zx81spect" ssh h' }), 'Zx81spect'],
    ['option', 'deploy --api-key qwe123rty456uiop --dry-run', 'qwe123rty456uiop'],
    ['for something', 'the password for the router is BlueHorse77', 'BlueHorse77'],
    ['possessive', "the password's BlueHorse78", 'BlueHorse78'],
    ['pass', 'login: bob / pass: BlueHorse79', 'BlueHorse79'],
    ['pw', 'pw=BlueHorse80', 'BlueHorse80'],
    ['arrow', 'Password → BlueHorse81', 'BlueHorse81'],
    ['bold', '**Password:** BlueHorse84', 'BlueHorse84'],
    ['table', '| password | BlueHorse85 |', 'BlueHorse85'],
    ['pin', 'my PIN is 4821', '4821'],
    ['quoted secret', 'secret: "correct-horse-battery-staple9"', 'correct-horse'],
    [
      'twice in JSON',
      JSON.stringify(JSON.stringify({ c: '"SecretAccessKey": "wJalrXUtnFEMIxK7MDE"' })),
      'wJalrXUt',
    ],
    ['uuid token', '//npm.test/:_authToken=abcdef01-2345-6789-abcd-ef0123456789', 'abcdef01-2345'],
    ['Azure', 'AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq==;', 'Eby8vdM02'],
    ['Discord', 'MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs', 'ZnCjm1XVW7'],
    ['Bedrock', 'ABSKQmVkcm9ja0FQSUtleS1hYmNkZWYxMjM0NTY3ODkw', 'ABSKQmVk'],
    ['Vault', 'hvs.CAESIJ1234567890abcdefghijklmnopqrstuv', 'CAESIJ12345'],
    ['Perplexity', 'pplx-1234567890abcdefghijABCDEFGHIJ12', 'pplx-1234'],
    ['wallet', 'private key 0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318', '4c0883a69'],
    [
      'seed phrase',
      'seed phrase: abandon ability able about above absent absorb abstract absurd abuse access accident',
      'absorb abstract',
    ],
    ['card', 'card 4111 1111 1111 1111, exp 12/29', '4111 1111 1111 1111'],
    ['key is', 'the token is 8f3k2j5h6g7d9s0a', '8f3k2j5h6g7d9s0a'],
  ];
  it.each(cases)('%s', (_name, text, secret) => {
    const result = redact(text);
    expect(result.text).not.toContain(secret);
    expect(result.masked).toBe(true);
    expect(result.text).toMatch(/\[redacted:[a-z-]+\]/);
  });

  it('keeps what stands around a secret', () => {
    expect(redact('my key is sk-TEST1234567890abcdef, password hunter2').text).toBe(
      'my key is [redacted:api-key], password [redacted:password]',
    );
    expect(redact('postgres://app:s3cr3tpw@db.test/x').text).toBe(
      'postgres://app:[redacted:password]@db.test/x',
    );
  });
});

describe('what is left alone', () => {
  // A redactor that masks ordinary text marks every turn as secret, and nothing is ever learned from.
  const texts: [string, string][] = [
    ['commit hash', 'fixed in 27e69b0c4a1f5d3e8b7a6c9d0e1f2a3b4c5d6e7f, see git log'],
    ['uuid', 'session 3f2504e0-4f89-11d3-9a0c-0305e82c3301 ended'],
    ['url with port', 'open http://localhost:8080/path?x=1 or https://user@host.test/x'],
    ['package', 'sha512-abc scikit: sk-learn, class="sk-estimator-doc-link sk-col-12"'],
    ['prose', 'The password is required. Reset your password here. Forgot password? password manager'],
    ['prose 2', 'if the password is wrong, the token is invalid and the key is missing'],
    ['prose 3', 'Use a strong password; passwords are hashed. The secret to success is work.'],
    ['typescript', 'interface Login { password: string; apiKey?: string; token: string | null }'],
    ['code', 'const password = getPassword(); login(user, password=password); token = req.headers.token;'],
    ['code 2', 'password = os.environ["DB_PASSWORD"]; apiKey: process.env.OPENAI_API_KEY,'],
    ['code 3', 'self.password = user.password\nif password == other: return password_hash(password)'],
    ['template', `password: \${DB_PASSWORD}, api_key: <your-key>, token=$TOKEN, password={{ pw }}`],
    ['placeholder', 'api_key: "your-api-key-here", password: "********", OPENAI_API_KEY=sk-...'],
    ['schema', '{"type":"object","properties":{"password":{"type":"string","description":"the password"}}}'],
    ['usage', '"max_tokens": 8192, "total_tokens": 123456, max_tokens=4096 tokens: 12345678'],
    ['label', '<input type="password" placeholder="Password"> <label>Password: </label>'],
    ['chinese', '请输入密码，密码是必填的。令牌已过期，密钥错误。今天天气很好，我们去公园吧。'],
    ['docs url', 'postgres://user:password@localhost/db is the usual form, or redis://localhost:6379@x'],
    ['time', 'key: 2026-12-01T10:00:00Z, token: 2026-12-01T10:00:00.000Z'],
    ['key names', 'keyboard key: ArrowDown, key: Enter, primary key: user_id, cache_key: model_v2'],
    ['path', 'secret_key: ./keys/private/id_rsa.pub, token: /var/run/secrets/token'],
    ['bearer prose', 'send it as a bearer token; Bearer authentication is used; basic authentication-scheme'],
    ['passes', 'tests pass: 12, pass - all good; login: required; pass through v2; passes for py3 on node20'],
    ['options', 'docker run --user 1000:www-data x; tar -u a:b; git --token-file x; npm --pass through'],
    ['pins', 'GPIO pin 12 and pin: A4; PIN code needed; spinning 2024'],
    ['numbers', 'order 4111111111111112, id 1234567890123456, 2024-10-11 12:13, 4000 1234 5678 9010'],
    ['phrases', 'a seed phrase is a list of words; the mnemonic helps'],
    ['short', 'hi'],
    ['version', 'password v2.1.0, password 2nd factor, password 12 characters'],
  ];
  it.each(texts)('%s', (_name, text) => {
    expect(redact(text)).toEqual({ text, masked: false });
  });

  it('finds nothing in the requests of real agents', () => {
    const folder = new URL('../../fixtures/clients/', import.meta.url);
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
      const { requests } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as {
        requests: { body: unknown }[];
      };
      for (const request of requests) {
        const result = redactJson(request.body);
        expect(result.masked, `${file}: ${JSON.stringify(result.value).match(/.{60}\[redacted.{40}/)}`).toBe(
          false,
        );
      }
    }
  });
});

describe('time', () => {
  // A pattern that backtracks would freeze the proxy for everyone (promise 4).
  const SIZE = 1_000_000;
  const fill = (piece: string) => piece.repeat(Math.ceil(SIZE / piece.length)).slice(0, SIZE);
  const pieces = [
    'a',
    'eyJ',
    'eyJabcdefghij.eyJ',
    'sk-',
    'sk-a',
    '://a:',
    ':',
    'password',
    'password=',
    'password: ',
    'password is ',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN ',
    'Bearer ',
    'api_key',
    'api_key: "',
    'token=',
    'token:a',
    'key is ',
    '0123456789',
    '12345678:',
    'xoxb-',
    'AKIA',
    'github_pat_',
    'password="',
    "password='a",
    '密码',
    '密码是',
    ' ',
    '\n',
    'aA1',
    'https://',
    'SG.',
    'secret\\"',
    'password\t',
    'mot de passe',
    '"',
    '\\',
    'pass ',
    'pass for a b c d e ',
    'password for a ',
    '| pass |',
    'mysql a b c ',
    'mysql -h ',
    'redis-cli a ',
    '--token ',
    'curl -u a:',
    'curl ',
    'MTk4NjIy',
    'seed phrase: abandon ',
    'abandon ',
    '4111 1111 ',
    'pin: ',
    'private key ',
    '**',
  ];
  it.each(pieces)('one megabyte of %j', (piece) => {
    const start = performance.now();
    redact(fill(piece));
    expect(performance.now() - start).toBeLessThan(1500);
  });
});

describe('properties', () => {
  it('masking twice changes nothing', () => {
    const words = fc.constantFrom(
      'password',
      'is',
      '=',
      ': ',
      '"',
      "'",
      ' ',
      'hunter2',
      'sk-TEST1234567890',
      'token',
      'api_key',
      'a',
      '://u:p1w@h',
      '密码',
      'Bearer ',
      ',',
      '\n',
      'AKIAIOSFODNN7EXAMPLE',
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 25 }), (parts) => {
        const once = redact(parts.join(''));
        expect(redact(once.text).text).toBe(once.text);
      }),
      { numRuns: 500 },
    );
  });

  it('a value without secrets comes back as the same object', () => {
    const value = { a: [1, 'two', { b: null }], c: true };
    expect(redactJson(value)).toEqual({ value, masked: false });
    expect(redactJson(value).value).toBe(value);
  });

  it('fields named after secrets are masked whatever they hold, schemas are not', () => {
    const { value, masked } = redactJson({
      args: { password: 'swordfish', db_password: 'opensesame', Authorization: 'abcdefgh' },
      schema: { password: { type: 'string' }, required: ['password'] },
    });
    expect(masked).toBe(true);
    expect(JSON.stringify(value)).not.toMatch(/swordfish|opensesame|abcdefgh/);
    expect(value.schema).toEqual({ password: { type: 'string' }, required: ['password'] });
  });

  it('images pass untouched and fast', () => {
    const image = `data:image/png;base64,${'iVBORw0KGgoAAAANSUhEUg'.repeat(200_000)}`;
    const start = performance.now();
    expect(redactJson({ url: image }).value.url).toBe(image);
    expect(performance.now() - start).toBeLessThan(500);
  });
});
