/** One MCP server of ours on real stdio or real HTTP, with a scratch workspace, and what its journal says. */
import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRuntime, type StoredRecord } from '@tool-runtime/sdk';
import { openHost, TOKENS } from '../open-host.ts';
import { createScratch, FROM_SOURCE } from '../run-cli.ts';
import { COMPILE_CACHE } from './compile-cache.ts';

export type TransportKind = 'stdio' | 'http';

export interface StdioAddress {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

export interface HttpAddress {
  readonly url: URL;
  readonly headers: Record<string, string>;
}

export interface Stage {
  readonly kind: TransportKind;
  readonly workspace: string;
  /** On the command line of the process that `sh talk` starts beside itself. */
  readonly oddNumber: string;
  stdio(): StdioAddress;
  http(token?: string): HttpAddress;
  /** Everything on record so far. */
  journal(): Promise<readonly StoredRecord[]>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** `file_write` needs a yes; the script below may run. */
const REGISTRY = `version: 1
shell_allow: ['^sh talk$']
approvals:
  auto_approve: [shell_exec]
  require_approval: [file_write]
`;

/** A script talks, with a child at its side, until it is stopped. */
function filesWith(oddNumber: string): Readonly<Record<string, string>> {
  return { 'hello.txt': 'hello\n', talk: `sleep ${oddNumber} &\nwhile :; do echo tick; sleep 0.1; done\n` };
}

/** How long the child sleeps, and how it is found. */
function newOddNumber(): string {
  return `300.${randomInt(1_000_000_000)}`;
}

export function openStage(kind: TransportKind): Promise<Stage> {
  return kind === 'stdio' ? openStdio() : openHttp();
}

async function openStdio(): Promise<Stage> {
  const scratch = createScratch();
  const { root, workspace, state, options } = scratch;
  const oddNumber = newOddNumber();
  for (const [name, text] of Object.entries(filesWith(oddNumber))) scratch.write(name, text);
  const registry = join(root, 'registry.yaml');
  writeFileSync(registry, REGISTRY);
  return {
    kind: 'stdio',
    workspace,
    oddNumber,
    stdio: () => ({
      command: process.execPath,
      args: [...FROM_SOURCE, 'mcp', ...options, '--registry', registry, '--profile', 'structured'],
      env: COMPILE_CACHE,
    }),
    http: () => {
      throw new TypeError('This stage is on stdio');
    },
    journal: () => readJournal(workspace, state),
    [Symbol.asyncDispose]: async () => scratch[Symbol.dispose](),
  };
}

async function openHttp(): Promise<Stage> {
  const oddNumber = newOddNumber();
  const host = await openHost({ registryText: REGISTRY, files: filesWith(oddNumber) });
  return {
    kind: 'http',
    workspace: host.workspace,
    oddNumber,
    stdio: () => {
      throw new TypeError('This stage is on HTTP');
    },
    http: (token = TOKENS.operator) => ({
      url: new URL(`${host.url}/mcp?profile=structured`),
      headers: { authorization: `Bearer ${token}` },
    }),
    journal: async () => [...host.host.workspaces.find(undefined).runtime.records()],
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

async function readJournal(workspace: string, state: string): Promise<readonly StoredRecord[]> {
  const runtime = await createRuntime({ workspace, state });
  try {
    return [...runtime.records()];
  } finally {
    await runtime.close();
  }
}
