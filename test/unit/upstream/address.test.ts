import { describe, expect, it } from 'vitest';
import { apiRoot, isLocalUrl } from '../../../src/engine/upstream/address.ts';
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
  ])('openai: %s', (given, root) => {
    expect(apiRoot(given, 'openai')).toBe(root);
  });

  it.each([
    ['https://api.anthropic.com', 'https://api.anthropic.com/v1'],
    ['https://api.anthropic.com/v1/', 'https://api.anthropic.com/v1'],
    ['https://api.anthropic.com/v1/messages', 'https://api.anthropic.com/v1'],
    ['https://api.minimax.io/anthropic', 'https://api.minimax.io/anthropic/v1'],
    ['https://host.example/v1beta/anthropic', 'https://host.example/v1beta/anthropic/v1'],
  ])('anthropic: %s', (given, root) => {
    expect(apiRoot(given, 'anthropic')).toBe(root);
  });

  it.each(['', 'ftp://host', 'http://', 'not a url', 'javascript:alert(1)'])('refuses %j', (given) => {
    expect(() => apiRoot(given, 'openai')).toThrowError(expect.objectContaining({ code: 'CONFIG_INVALID' }));
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
      'kimi qwen openai anthropic minimax novita openrouter volcengine deepseek gemini bedrock ollama lmstudio vllm llamacpp custom';
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
});
