/** tool-runtime token: the tokens of the host's token file. Each verb has a file of its own below. */
import { join, resolve } from 'node:path';
import type { Scope } from '@tool-runtime/protocol';
import type { Command } from 'commander';
import type { TokenEntry } from '../../auth/token-lines.ts';
import { badUsage } from '../../terminal/bad-usage.ts';
import { plainText, printJson, printLine } from '../../terminal/terminal.ts';
import { type Done, defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';

export const token = defineCommand({
  name: 'token',
  summary: 'List, add and revoke the tokens clients of the host use',
  configure(command, done) {
    for (const add of [addList, addAdd, addRevoke]) add(command, done);
  },
});

/** token list: names, scopes and expiry. Never a token, nor its digest. */
function addList(command: Command, done: Done): void {
  withTokenOptions(command.command('list').description('Names, scopes and expiry of the tokens')).action(
    async (options: TokenOptions) => {
      const { findTokenFile } = await import('../../auth/token-file.ts');
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

interface AddOptions extends TokenOptions {
  readonly scopes: string;
  readonly expires?: string;
  readonly name?: string;
}

/** token add: a new token, shown this once; the file keeps its digest. */
function addAdd(command: Command, done: Done): void {
  withTokenOptions(command.command('add').description('Make a token and print it, this once'))
    .option('--scopes <list>', 'what it may do, of read, call, approve, audit, admin', 'read,call')
    .option('--expires <time>', 'when it ends: 30m, 12h, 90d or an ISO time (default: never)')
    .option('--name <id>', 'what it is called in the journal and in revoke (default: made up)')
    .action(async (options: AddOptions) => {
      const [scopes, path] = await Promise.all([readScopes(options.scopes), tokenFileOf(options)]);
      const expiresAt = options.expires === undefined ? undefined : await readExpiry(options.expires, Date.now());
      await checkName(options.name);
      const { addToken } = await import('../../auth/edit-token-file.ts');
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
  const { NAME_FORM } = await import('../../auth/token-lines.ts');
  if (name === undefined || NAME_FORM.test(name)) return;
  throw badUsage(`--name takes letters, digits, dot, dash and underscore, at most 64: ${name}`);
}

function described(scopes: ReadonlySet<string>, expiresAt: number | undefined): Record<string, unknown> {
  return { scopes: [...scopes], ...(expiresAt === undefined ? {} : { expires_at: new Date(expiresAt).toISOString() }) };
}

/** token revoke: a running host refuses the token within a second. */
function addRevoke(command: Command, done: Done): void {
  withTokenOptions(command.command('revoke').description('Remove a token by its name'))
    .argument('<name>', 'as token list shows it')
    .action(async (name: string, options: TokenOptions) => {
      const { removeToken } = await import('../../auth/edit-token-file.ts');
      const isRevoked = removeToken(await tokenFileOf(options), name);
      if (options.json === true) printJson({ revoked: isRevoked }, { compact: true });
      else printLine(isRevoked ? `revoked ${name}` : `no token has the name ${plainText(name)}`);
      done(isRevoked ? 0 : 1);
    });
}

interface TokenOptions extends SharedOptions {
  readonly tokenFile?: string;
}

const FILE = 'host.token';
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A date beyond cannot be written. */
const LATEST = Date.UTC(9999, 11, 31);

/** Which token file the verbs of `token` are about, and how people write scopes and times. */
function withTokenOptions(command: Command): Command {
  return withSharedOptions(command).option('--token-file <file>', `token file (default: ${FILE} of the state folder)`);
}

async function tokenFileOf(options: TokenOptions): Promise<string> {
  if (options.tokenFile !== undefined) return resolve(options.tokenFile);
  const { stateOf } = await import('../state-of.ts');
  return join(resolve(stateOf(options)), FILE);
}

async function readScopes(text: string): Promise<ReadonlySet<Scope>> {
  const [{ SCOPES }, { parseScopes }] = await Promise.all([
    import('@tool-runtime/protocol'),
    import('../../auth/token-lines.ts'),
  ]);
  const scopes = parseScopes(text);
  if (scopes === undefined) throw badUsage(`--scopes takes ${SCOPES.join(', ')}, with commas between them: ${text}`);
  return scopes;
}

/** From now (`30m`, `12h`, `90d`) or at a time (`2030-01-31T12:00:00Z`); never in the past. */
async function readExpiry(text: string, now: number): Promise<number> {
  const { parseTime } = await import('../../auth/token-lines.ts');
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const time = count === undefined ? parseTime(text) : now + Number(count) * (UNIT_MS[unit] ?? 0);
  if (time !== undefined && time > now && time < LATEST) return time;
  throw badUsage(`--expires takes a time to come, such as 30m, 12h, 90d or 2030-01-31T12:00:00Z: ${text}`);
}
