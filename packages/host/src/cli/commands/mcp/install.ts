/** mcp install: writes this server into the configuration of an MCP client, after showing what would change. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { McpClient } from '../../../mcp/install/client.ts';
import { hostVersion } from '../../../ops/host-version.ts';
import { badUsage } from '../../../terminal/bad-usage.ts';
import { checkWorkspace } from '../../../terminal/workspace-folder.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';
import { nameList } from '../../option-values.ts';

interface InstallOptions extends SharedOptions {
  readonly name: string;
  readonly print?: boolean;
  readonly yes?: boolean;
  readonly http?: string;
  readonly global?: boolean;
  readonly project?: boolean;
  readonly portable?: boolean;
  readonly profile?: string;
  readonly tools?: readonly string[];
}

/** `zed` */
const SHORTEST_ID = 3;
const NAME = /^[A-Za-z0-9_-]{1,32}$/;

export function addInstall(command: Command, done: Done): void {
  withSharedOptions(command.command('install').description('Write this server into the configuration of an MCP client'))
    .argument('<client>', 'claude-code, codex, cursor, gemini-cli, opencode, vs-code or zed')
    .option('--print', 'print the entry and write nothing')
    .option('-y, --yes', 'write without asking')
    .option('--name <name>', 'what the client calls the server', 'tool-runtime')
    .option('--http <url>', 'a running host (tool-runtime serve) instead of a program the client starts')
    .option('--global', 'in the settings of the user')
    .option('--project', 'in the settings of the workspace folder')
    .option('--portable', 'for a file that others use too: npx, and no absolute paths')
    .option('--profile <name>', 'tools to list: core, read-only or full')
    .option('--tools <list>', 'only these tools', nameList)
    .action(async (client: string, options: InstallOptions) => done(await install(client, options)));
}

async function install(id: string, options: InstallOptions): Promise<number> {
  const client = await findClient(id);
  checkOptions(options);
  const scope = options.global === true ? 'global' : options.project === true ? 'project' : client.usualScope;
  const [{ planInstall, withEntry }, { serverCommand, thisProgram }] = await Promise.all([
    import('../../../mcp/install/plan-install.ts'),
    import('../../../mcp/install/server-command.ts'),
  ]);
  const projectWord = options.portable === true ? client.projectWord : undefined;
  const served = { ...options, tools: options.tools?.join(',') };
  const command = serverCommand(thisProgram(hostVersion()), served, projectWord);
  const entry = options.http === undefined ? client.stdio(command) : client.http(options.http);
  const wanted = { name: options.name, entry };
  if (options.http !== undefined) noteHttp(client);
  if (options.print === true) {
    process.stdout.write(withEntry(client, '', wanted));
    return 0;
  }
  const place = client.place(scope, foldersOf(options));
  if (place === undefined) {
    const other = options.http === undefined ? client.instead?.(command, options.name) : undefined;
    const next = other === undefined ? 'install into the project instead' : `run: ${other}`;
    throw badUsage(`${client.title} has no such file that may be edited: --${scope}`, next);
  }
  const { confirmChange } = await import('./confirm-change.ts');
  return confirmChange(planInstall(client, place, wanted), options);
}

/** By its name, with or without dashes, or by enough of it to mean no other. */
async function findClient(id: string): Promise<McpClient> {
  const clients = Object.values(await import('../../../mcp/install/clients/catalog.ts'));
  const meant = clients.filter((client) => bare(client.id).startsWith(bare(id)));
  const [found] = meant;
  if (found !== undefined && meant.length === 1 && bare(id).length >= SHORTEST_ID) return found;
  throw badUsage(`No such client: ${id}`, `name one of ${clients.map((client) => client.id).join(', ')}`);
}

function bare(id: string): string {
  return id.toLowerCase().replaceAll('-', '');
}

function checkOptions(options: InstallOptions): void {
  checkWorkspace(options.workspace);
  if (!NAME.test(options.name))
    throw badUsage(`--name takes letters, digits, dash and underscore, at most 32: ${options.name}`);
  if (options.global === true && options.project === true)
    throw badUsage('--global and --project cannot be used together');
  if (options.portable === true && options.global === true)
    throw badUsage('--portable is for files of a project', 'leave out --global');
  if (options.profile !== undefined && options.tools !== undefined)
    throw badUsage('--profile and --tools cannot be used together');
  if (options.http !== undefined) checkUrl(options.http);
}

function checkUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw badUsage(`--http takes an http or https URL: ${text}`);
  if (url.username !== '' || url.password !== '')
    throw badUsage('--http takes no credentials: the token goes into a variable');
}

function noteHttp(client: McpClient): void {
  const note =
    client.httpNote ??
    'the client takes the token from the variable TOOL_RUNTIME_TOKEN; make one with: tool-runtime token add';
  process.stderr.write(`note: ${note}\n`);
}

function foldersOf({ workspace }: InstallOptions) {
  return {
    home: homedir(),
    project: resolve(workspace),
    platform: process.platform,
    env: process.env,
    exists: existsSync,
  } as const;
}
