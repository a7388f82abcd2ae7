/** token add: a new token, shown this once; the file keeps its digest. */
import type { Command } from 'commander';
import { badUsage } from '../../../terminal/bad-usage.ts';
import { printJson, printLine } from '../../../terminal/terminal.ts';
import type { Done } from '../../command.ts';
import { readExpiry, readScopes, type TokenOptions, tokenFileOf, withTokenOptions } from './token-options.ts';

interface AddOptions extends TokenOptions {
  readonly scopes: string;
  readonly expires?: string;
  readonly name?: string;
}

export function addAdd(command: Command, done: Done): void {
  withTokenOptions(command.command('add').description('Make a token and print it, this once'))
    .option('--scopes <list>', 'what it may do, of read, call, approve, admin', 'read,call')
    .option('--expires <time>', 'when it ends: 30m, 12h, 90d or an ISO time (default: never)')
    .option('--name <id>', 'what it is called in the journal and in revoke (default: made up)')
    .action(async (options: AddOptions) => {
      const [scopes, path] = await Promise.all([readScopes(options.scopes), tokenFileOf(options)]);
      const expiresAt = options.expires === undefined ? undefined : await readExpiry(options.expires, Date.now());
      await checkName(options.name);
      const { addToken } = await import('../../../auth/edit-token-file.ts');
      const { token, name } = addToken(path, { name: options.name, scopes, expiresAt });
      if (options.json === true) printJson({ name, token, ...described(scopes, expiresAt) }, { compact: true });
      else {
        printLine(token);
        process.stderr.write(`added ${name} (${[...scopes].join(',')}) to ${path}; the token is not shown again\n`);
      }
      done(0);
    });
}

async function checkName(name: string | undefined): Promise<void> {
  const { NAME_FORM } = await import('../../../auth/token-lines.ts');
  if (name === undefined || NAME_FORM.test(name)) return;
  throw badUsage(`--name takes letters, digits, dot, dash and underscore, at most 64: ${name}`);
}

function described(scopes: ReadonlySet<string>, expiresAt: number | undefined): Record<string, unknown> {
  return { scopes: [...scopes], ...(expiresAt === undefined ? {} : { expires_at: new Date(expiresAt).toISOString() }) };
}
