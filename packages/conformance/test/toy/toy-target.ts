/** The toy server as a target of the suite. */
import path from 'node:path';
import { build } from 'esbuild';
import { profileSchema } from '../../src/profile/profile.ts';
import type { Target } from '../../src/scene/scene.ts';
import type { Protocol } from '../../src/server/server.ts';

/** Built once, because it is started hundreds of times. */
export async function buildToy(folder: string): Promise<string> {
  const outfile = path.join(folder, 'toy-server.mjs');
  const entry = path.join(import.meta.dirname, 'toy-server.ts');
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' });
  return outfile;
}

export interface ToyChoice {
  /** What buildToy made. */
  readonly file: string;
  readonly protocol: Protocol;
  readonly fault?: string;
}

export function toyTarget({ file, protocol, fault = '' }: ToyChoice): Target {
  const command = (mode: string): string =>
    `"${process.execPath}" "${file}" ${mode} {workspace} {state} ${fault}`.trim();
  const profile = profileSchema.parse({
    name: fault === '' ? 'toy' : `toy without ${fault}`,
    tools: {
      read: { tool: 'read', args: { path: '{path}' }, ...(protocol === 'mcp' ? {} : { text: 'data.text' }) },
      write: { tool: 'write', args: { path: '{path}', content: '{content}' } },
      edit: { tool: 'edit', args: { path: '{path}', old: '{old}', new: '{new}' } },
      list: { tool: 'list', args: { path: '{path}' } },
      search: { tool: 'search', args: { path: '{path}', pattern: '{pattern}' } },
      run: { tool: 'run', args: { command: '{command}' }, programs: ['cat', 'echo', 'env', 'sh', 'sleep'] },
    },
    idempotency:
      protocol === 'mcp'
        ? { in: 'meta', field: 'key', durable: true }
        : { in: 'envelope', field: 'idempotency_key', durable: true },
    journal: { show: command('show'), verify: command('verify'), files: ['{state}/journal.jsonl'] },
  });
  return { protocol, command: command(protocol), profile, variables: {} };
}
