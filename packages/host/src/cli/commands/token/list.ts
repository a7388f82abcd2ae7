/** token list: names, scopes and expiry. Never a token, nor its digest. */
import type { Command } from 'commander';
import type { TokenEntry } from '../../../auth/token-lines.ts';
import { printJson, printLine } from '../../../terminal/terminal.ts';
import type { Done } from '../../command.ts';
import { type TokenOptions, tokenFileOf, withTokenOptions } from './token-options.ts';

export function addList(command: Command, done: Done): void {
  withTokenOptions(command.command('list').description('Names, scopes and expiry of the tokens')).action(
    async (options: TokenOptions) => {
      const { findTokenFile } = await import('../../../auth/token-file.ts');
      const entries = findTokenFile(await tokenFileOf(options))?.entries ?? [];
      for (const entry of entries) {
        if (options.json === true) printJson(toRecord(entry), { compact: true });
        else printLine(toLine(entry));
      }
      if (entries.length === 0 && options.json !== true) printLine('no tokens yet; the first host makes one');
      done(0);
    },
  );
}

function toRecord({ name, scopes, expiresAt }: TokenEntry): Record<string, unknown> {
  return {
    name,
    scopes: [...scopes],
    ...(expiresAt === undefined ? {} : { expires_at: new Date(expiresAt).toISOString() }),
    is_expired: isExpired(expiresAt),
  };
}

function toLine({ name, scopes, expiresAt }: TokenEntry): string {
  const ending = expiresAt === undefined ? 'does not expire' : `expires ${new Date(expiresAt).toISOString()}`;
  return `${name}  ${[...scopes].join(',')}  ${isExpired(expiresAt) ? ending.replace('expires', 'expired') : ending}`;
}

function isExpired(expiresAt: number | undefined): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now();
}
