/** Which token file the verbs of `token` are about, and how people write scopes and times. */
import { join, resolve } from 'node:path';
import type { Scope } from '@tool-runtime/protocol';
import type { Command } from 'commander';
import { badUsage } from '../../../terminal/bad-usage.ts';
import { type SharedOptions, withSharedOptions } from '../../command.ts';

export interface TokenOptions extends SharedOptions {
  readonly tokenFile?: string;
}

const FILE = 'host.token';
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A date beyond cannot be written. */
const LATEST = Date.UTC(9999, 11, 31);

export function withTokenOptions(command: Command): Command {
  return withSharedOptions(command).option('--token-file <file>', `token file (default: ${FILE} of the state folder)`);
}

export async function tokenFileOf(options: TokenOptions): Promise<string> {
  if (options.tokenFile !== undefined) return resolve(options.tokenFile);
  const { stateOf } = await import('../../state-of.ts');
  return join(resolve(stateOf(options)), FILE);
}

export async function readScopes(text: string): Promise<ReadonlySet<Scope>> {
  const [{ SCOPES }, { parseScopes }] = await Promise.all([
    import('@tool-runtime/protocol'),
    import('../../../auth/token-lines.ts'),
  ]);
  const scopes = parseScopes(text);
  if (scopes === undefined) throw badUsage(`--scopes takes ${SCOPES.join(', ')}, with commas between them: ${text}`);
  return scopes;
}

/** From now (`30m`, `12h`, `90d`) or at a time (`2030-01-31T12:00:00Z`); never in the past. */
export async function readExpiry(text: string, now: number): Promise<number> {
  const { parseTime } = await import('../../../auth/token-lines.ts');
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const time = count === undefined ? parseTime(text) : now + Number(count) * (UNIT_MS[unit] ?? 0);
  if (time !== undefined && time > now && time < LATEST) return time;
  throw badUsage(`--expires takes a time to come, such as 30m, 12h, 90d or 2030-01-31T12:00:00Z: ${text}`);
}
