import { resolve } from 'node:path';

/** `-c FILE` or `--config FILE`, relative to where the application was started. */
export function configFileOf(argv: readonly string[]): string | undefined {
  const file = optionOf(argv, '--config') ?? optionOf(argv, '-c');
  return file === undefined ? undefined : resolve(file);
}

function optionOf(argv: readonly string[], name: string): string | undefined {
  const at = argv.indexOf(name);
  return at === -1 ? undefined : argv[at + 1];
}

/** `--port N` and `--mode M` hold for this run and are never written. */
export function overridesOf(argv: readonly string[]): Record<string, unknown> {
  const port = optionOf(argv, '--port');
  const mode = optionOf(argv, '--mode');
  return {
    ...(port === undefined ? {} : { 'proxy.port': Number(port) }),
    ...(mode === undefined ? {} : { mode }),
  };
}
