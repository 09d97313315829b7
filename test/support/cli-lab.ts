import { afterEach, beforeEach } from 'vitest';
import { type Cli, createCli } from './cli.ts';
import { type ScriptedUpstream, startUpstream } from './upstream.ts';

/** The built program and a scripted provider, new for each test of the file that calls this. */
export function useCliLab(): { readonly cli: Cli; readonly upstream: ScriptedUpstream } {
  let cli: Cli;
  let upstream: ScriptedUpstream;
  beforeEach(async () => {
    cli = createCli();
    upstream = await startUpstream();
  });
  afterEach(async () => {
    await cli.close();
    await upstream.close();
  });
  return {
    get cli() {
      return cli;
    },
    get upstream() {
      return upstream;
    },
  };
}
