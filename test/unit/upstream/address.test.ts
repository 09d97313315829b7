import { describe, expect, it } from 'vitest';
import { addressExtras, apiRoot, isLocalUrl } from '../../../src/engine/upstream/address.ts';
import { presetOf, providerPresets, quirksOf, wireOf } from '../../../src/engine/upstream/presets.ts';

describe('the base URL as users paste it', () => {
  it.each([
    ['https://api.openai.com', 'https://api.openai.com/v1'],
    ['https://api.openai.com/', 'https://api.openai.com/v1'],
    ['https://api.openai.com/v1', 'https://api.openai.com/v1'],
    ['https://api.openai.com/v1/', 'https://api.openai.com/v1'],
    ['https://api.openai.com/v1/chat/completions', 'https://api.openai.com/v1'],
    ['https://api.openai.com/v1/models', 'https://api.openai.com/v1'],
    ['  https://api.openai.com/v1 ', 'https://api.openai.com/v1'],
    ['api.openai.com', 'https://api.openai.com/v1'],
    ['https://api.openai.com/v1/v1', 'https://api.openai.com/v1'],
    ['localhost:11434', 'http://localhost:11434/v1'],
    ['127.0.0.1:1234/v1', 'http://127.0.0.1:1234/v1'],
    ['http://0.0.0.0:8000', 'http://127.0.0.1:8000/v1'],
    ['https://open.bigmodel.cn/api/paas/v4', 'https://open.bigmodel.cn/api/paas/v4'],
    [
      'https://dashscope.aliyuncs.com/compatible-mode/v1',
      'https://dashscope.aliyuncs.com/compatible-mode/v1',
    ],
    ['https://ark.cn-beijing.volces.com/api/v3/', 'https://ark.cn-beijing.volces.com/api/v3'],
    [
      'https://generativelanguage.googleapis.com/v1beta/openai/',
      'https://generativelanguage.googleapis.com/v1beta/openai',
    ],
    ['https://openrouter.ai/api', 'https://openrouter.ai/api/v1'],
    ['https://host.example/inference/chat/completions', 'https://host.example/inference'],
    ['https://host.example/v1?api-version=1#x', 'https://host.example/v1'],
    ['HTTPS://API.OpenAI.com/V1/Chat/Completions/', 'https://api.openai.com/V1'],
    ['https://me:secret@host.example', 'https://host.example/v1'],
    ['me:secret@host.example/v1', 'https://host.example/v1'],
    ['http://[::1]:8080', 'http://[::1]:8080/v1'],
    ['[fe80::1]:8080/v1/', 'http://[fe80::1]:8080/v1'],
    ['nas:11434', 'http://nas:11434/v1'],
    ['gpu.local:8000/v1', 'http://gpu.local:8000/v1'],
    ['172.20.0.3:8000', 'http://172.20.0.3:8000/v1'],
    ['host.docker.internal:1234', 'http://host.docker.internal:1234/v1'],
    ['http://localhost:11434/api/chat', 'http://localhost:11434/v1'],
    ['http://localhost:1234/api/v0', 'http://localhost:1234/api/v0'],
    ['https://api.together.xyz/v1/responses', 'https://api.together.xyz/v1'],
    ['https://host.example/v2alpha1/x', 'https://host.example/v2alpha1/x'],
    ['https://generativelanguage.googleapis.com', 'https://generativelanguage.googleapis.com/v1beta/openai'],
    [
      'https://generativelanguage.googleapis.com/v1beta/',
      'https://generativelanguage.googleapis.com/v1beta/openai',
    ],
    ['https://dashscope-us.aliyuncs.com', 'https://dashscope-us.aliyuncs.com/compatible-mode/v1'],
    ['https://ark.cn-beijing.volces.com', 'https://ark.cn-beijing.volces.com/api/v3'],
    ['https://ark.cn-beijing.volces.com/api/coding/v3', 'https://ark.cn-beijing.volces.com/api/coding/v3'],
    ['openrouter.ai', 'https://openrouter.ai/api/v1'],
    ['https://openrouter.ai/v1', 'https://openrouter.ai/api/v1'],
    ['https://api.novita.ai', 'https://api.novita.ai/openai/v1'],
    ['https://api.novita.ai/v3/openai', 'https://api.novita.ai/v3/openai'],
    [
      'https://bedrock-runtime.eu-west-1.amazonaws.com',
      'https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1',
    ],
    ['https://api.moonshot.cn', 'https://api.moonshot.cn/v1'],
    ['https://api.minimaxi.com/v1/chat/completions', 'https://api.minimaxi.com/v1'],
    ['https://x.openai.azure.com/openai/v1/', 'https://x.openai.azure.com/openai/v1'],
  ])('openai: %s', (given, root) => {
    expect(apiRoot(given, 'openai')).toBe(root);
  });

  it.each([
    ['https://api.anthropic.com', 'https://api.anthropic.com/v1'],
    ['https://api.anthropic.com/v1/', 'https://api.anthropic.com/v1'],
    ['https://api.anthropic.com/v1/messages', 'https://api.anthropic.com/v1'],
    ['https://api.minimax.io/anthropic', 'https://api.minimax.io/anthropic/v1'],
    ['https://host.example/v1beta/anthropic', 'https://host.example/v1beta/anthropic/v1'],
    ['https://api.deepseek.com', 'https://api.deepseek.com/anthropic/v1'],
    ['https://api.deepseek.com/v1', 'https://api.deepseek.com/anthropic/v1'],
    ['https://api.deepseek.com/anthropic/v1/messages?beta=true', 'https://api.deepseek.com/anthropic/v1'],
    ['https://api.moonshot.ai/anthropic/', 'https://api.moonshot.ai/anthropic/v1'],
    ['https://api.moonshot.cn/v1', 'https://api.moonshot.cn/anthropic/v1'],
    [
      'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
      'https://dashscope-intl.aliyuncs.com/apps/anthropic/v1',
    ],
    ['https://openrouter.ai/api/v1', 'https://openrouter.ai/api/v1'],
    ['http://127.0.0.1:11434', 'http://127.0.0.1:11434/v1'],
    ['https://api.anthropic.com/v1/messages/count_tokens', 'https://api.anthropic.com/v1'],
  ])('anthropic: %s', (given, root) => {
    expect(apiRoot(given, 'anthropic')).toBe(root);
  });

  it.each(['', 'ftp://host', 'http://', 'not a url', 'javascript:alert(1)'])('refuses %j', (given) => {
    expect(() => apiRoot(given, 'openai')).toThrowError(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });

  it('a query and a sign-in are taken from it; a broken address is named without its password', () => {
    expect(addressExtras('https://host.example/v1?api-version=2026-01-01&x=1')).toEqual({
      query: 'api-version=2026-01-01&x=1',
      basic: null,
    });
    const { basic } = addressExtras('https://me:p%40ss@host.example');
    expect(basic).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`);
    expect(addressExtras('https://me:100%@host.example').basic).toContain('Basic ');
    const broken = () => apiRoot('ftp://me:secret@host', 'openai');
    expect(broken).toThrowError(/ftp:\/\/host/);
    expect(broken).not.toThrowError(/secret/);
  });

  it('every preset’s own address is a root already', () => {
    for (const preset of providerPresets().filter(({ baseUrl, wire }) => baseUrl !== '' && wire === 'openai'))
      expect(apiRoot(preset.baseUrl, preset.wire)).toBe(preset.baseUrl);
  });

  it('knows this machine’s addresses', () => {
    for (const url of ['http://localhost:1', 'http://127.0.0.1', 'http://[::1]:3', 'http://x.localhost'])
      expect(isLocalUrl(url)).toBe(true);
    for (const url of ['http://localhost.evil.example', 'https://10.0.0.1', 'nonsense'])
      expect(isLocalUrl(url)).toBe(false);
  });
});

describe('presets', () => {
  it('has the ids of the roadmap, each once', () => {
    const ids = providerPresets().map(({ id }) => id);
    const wanted =
      'kimi qwen openai anthropic minimax novita openrouter volcengine deepseek gemini bedrock ollama lmstudio vllm llamacpp claude-cli codex-cli gemini-cli custom';
    expect([...ids].sort()).toEqual(wanted.split(' ').sort());
    expect(presetOf('OpenAI').id).toBe('openai');
    expect(presetOf('my-own').id).toBe('custom');
  });

  it.each([
    ['auto', 'custom', 'https://api.anthropic.com', 'anthropic'],
    ['auto', 'custom', 'https://api.deepseek.com/anthropic', 'anthropic'],
    ['auto', 'custom', 'https://host.example/v1/messages', 'anthropic'],
    ['auto', 'custom', 'https://host.example/v1', 'openai'],
    ['auto', 'anthropic', '', 'anthropic'],
    ['auto', 'anthropic', 'https://my-openai-gateway.example/v1', 'openai'],
    ['openai', 'anthropic', 'https://api.anthropic.com', 'openai'],
    ['anthropic', 'custom', 'http://127.0.0.1:1', 'anthropic'],
    ['auto', 'custom', 'https://host.example/v1/messages?beta=true', 'anthropic'],
    ['auto', 'custom', 'api.anthropic.com/v1/messages/', 'anthropic'],
    ['auto', 'custom', 'https://host.example/v1/Responses/', 'responses'],
    ['auto', 'custom', 'https://anthropic.example/v1', 'openai'],
    ['auto', 'minimax', 'https://api.minimax.io/anthropic', 'anthropic'],
    ['auto', 'qwen', 'https://dashscope-intl.aliyuncs.com/apps/anthropic', 'anthropic'],
  ] as const)('wire %s of %s at %j is %s', (wire, provider, base, expected) => {
    expect(wireOf(wire, provider, base)).toBe(expected);
  });

  it('T05, T36: quirks follow the host and the model, not the label', () => {
    expect(quirksOf('custom', 'https://api.openai.com/v1', 'gpt-5-mini')).toMatchObject({
      developerRole: true,
      maxTokensField: 'max_completion_tokens',
    });
    expect(quirksOf('openai', 'https://api.openai.com/v1', 'gpt-4o')).toMatchObject({
      maxTokensField: 'max_tokens',
    });
    expect(quirksOf('custom', 'http://127.0.0.1:11434/v1', 'gpt-5-mini')).toMatchObject({
      developerRole: false,
      maxTokensField: 'max_tokens',
    });
    expect(quirksOf('custom', 'https://api.deepseek.com/v1', 'x')).toMatchObject({
      reasoning: 'reasoning_content',
    });
  });

  it.each<[string, string, string, object]>([
    ['custom', 'https://api.minimaxi.com/v1', 'MiniMax-M2.5', { oneLeadingSystem: true, reasoning: 'keep' }],
    ['custom', 'https://api.moonshot.cn/v1', 'kimi-k2.6', { reasoning: 'reasoning_content' }],
    [
      'custom',
      'https://generativelanguage.googleapis.com/v1beta/openai',
      'gemini-3-flash',
      { callSignatures: true, reasoning: 'drop' },
    ],
    ['openai', 'https://openrouter.ai/api/v1', 'x/y', { reasoningDetails: true, developerRole: true }],
    [
      'custom',
      'https://eu.api.openai.com/v1',
      'o4-mini',
      { developerRole: true, maxTokensField: 'max_completion_tokens' },
    ],
    [
      'custom',
      'https://api.openai.com/v1',
      'ft:gpt-5-mini:me::1',
      { maxTokensField: 'max_completion_tokens' },
    ],
    [
      'custom',
      'https://x.openai.azure.com/openai/v1',
      'gpt-5',
      { developerRole: true, maxTokensField: 'max_completion_tokens' },
    ],
    ['custom', 'https://x.services.ai.azure.com/openai/v1', 'gpt-5', { developerRole: true }],
    [
      'custom',
      'https://x.services.ai.azure.com/openai/v1',
      'DeepSeek-V3.2',
      { developerRole: false, maxTokensField: 'max_tokens' },
    ],
    ['custom', 'https://api.openai.com/v1', 'gpt-oss-120b', { maxTokensField: 'max_tokens' }],
    ['custom', 'https://evil-api.openai.com.example/v1', 'gpt-5', { developerRole: false }],
    ['anthropic', 'https://api.anthropic.com/v1', 'claude-sonnet-5', { thinkingForm: 'adaptive' }],
    ['anthropic', 'https://api.anthropic.com/v1', 'claude-opus-4-7', { thinkingForm: 'adaptive' }],
    ['anthropic', 'https://api.anthropic.com/v1', 'claude-sonnet-4-5-20250929', { thinkingForm: 'budget' }],
    ['anthropic', 'https://api.anthropic.com/v1', 'claude-sonnet-4-20250514', { thinkingForm: 'budget' }],
    ['anthropic', 'https://api.anthropic.com/v1', 'claude-haiku-4-5', { thinkingForm: 'budget' }],
    ['custom', 'https://openrouter.ai/api/v1', 'anthropic/claude-opus-4.6', { thinkingForm: 'adaptive' }],
    ['custom', 'https://h.example/v1', 'claude-mythos-preview', { thinkingForm: 'adaptive' }],
    ['custom', 'https://h.example/v1', 'claude-3-7-sonnet-20250219', { thinkingForm: 'budget' }],
  ])('%s at %s, %s: %j', (provider, base, model, wanted) => {
    expect(quirksOf(provider, base, model)).toMatchObject(wanted);
  });
});
