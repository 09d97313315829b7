import { InvalidArgumentError, Option } from 'commander';
import { configSchema } from '../shared/config.ts';
import type { Mode } from '../shared/model.ts';

/** `--mode`, with the original's `auto`. */
export function modeOption(): Option {
  return new Option('--mode <mode>', 'skills_only, rl or madmax').argParser((text): Mode => {
    const { success, data } = configSchema.shape.mode.safeParse(text);
    if (success) return data;
    throw new InvalidArgumentError('It is one of skills_only, rl, madmax.');
  });
}

/** The value of `--port`. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('It is a number from 0 to 65535, where 0 takes any free port.');
  return port;
}
