/** Runtimes with mounted servers, one after the other on the same folders, as an operator would see them. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, type Runtime, type Session, type SessionOptions } from '@tool-runtime/sdk';
import { createGateway, type Gateway, type GatewayOptions } from '../../src/mcp/gateway/create-gateway.ts';
import { approvePins } from '../../src/mcp/gateway/pin-file.ts';

export const REPOSITORY = join(import.meta.dirname, '../../../..');
const MODULES = join(REPOSITORY, 'node_modules');

export interface Opened {
  readonly gateway: Gateway;
  readonly runtime: Runtime;
  readonly session: Session;
}

export interface Stage {
  readonly workspace: string;
  readonly state: string;
  readonly log: readonly { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }[];
  open(registry: object, options?: GatewayOptions, session?: SessionOptions): Promise<Opened>;
  /** Lists the tools of a server and approves all of them. */
  approve(registry: object, server: string): Promise<void>;
  dispose(): Promise<void>;
}

export function createStage(): Stage {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-gateway-'));
  const workspace = join(scratch, 'workspace');
  const state = join(scratch, 'state');
  mkdirSync(workspace);
  const closing: (() => Promise<void>)[] = [];
  const log: { event: string; fields: Readonly<Record<string, unknown>> }[] = [];
  const write = (event: string, fields: Readonly<Record<string, unknown>> = {}): void =>
    void log.push({ event, fields });
  const open: Stage['open'] = async (registry, options = {}, sessionOptions = {}) => {
    const gateway = createGateway({ log: { debug: write, info: write, warn: write }, ...options });
    const text = JSON.stringify({ version: 1, ...registry });
    const runtime = await createRuntime({ workspace, state, registry: { text, file: 'registry' }, sources: [gateway] });
    let closed: Promise<void> | undefined;
    const close = (): Promise<void> => {
      closed ??= runtime.close();
      return closed;
    };
    closing.push(close);
    return { gateway, runtime: { ...runtime, close }, session: await runtime.openSession(sessionOptions) };
  };
  return {
    workspace,
    state,
    log,
    open,
    async approve(registry, server) {
      const { gateway, runtime } = await open(registry);
      await gateway.refresh(server);
      approvePins(state, server);
      await runtime.close();
    },
    async dispose() {
      await Promise.all(closing.map((close) => close()));
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

/** Entries of `mcp_servers`; the servers lie outside the workspace, so their folders are shown to them. */
export function nodeServer(script: string, args: readonly string[] = [], more: object = {}): object {
  return {
    command: [process.execPath, script, ...args],
    tools: ['*'],
    read_paths: [MODULES, join(REPOSITORY, 'packages')],
    ...more,
  };
}

export const everything = (more: object = {}): object =>
  nodeServer(join(MODULES, '@modelcontextprotocol/server-everything/dist/index.js'), [], more);

export const filesystem = (folder: string, more: object = {}): object =>
  nodeServer(join(MODULES, '@modelcontextprotocol/server-filesystem/dist/index.js'), [folder], more);

export const modern = (more: object = {}): object =>
  nodeServer(join(import.meta.dirname, 'servers/modern-stdio.ts'), [], more);

export const lying = (mode: string, more: object = {}, note = ''): object =>
  nodeServer(join(import.meta.dirname, 'servers/lying-server.mjs'), note === '' ? [mode] : [mode, note], more);

/** Its tools are what a file in the workspace says. */
export const told = (file = 'tools.json', more: object = {}): object =>
  nodeServer(join(import.meta.dirname, 'servers/told-server.mjs'), [file], more);

/** No question for any of them. */
export function mounted(servers: Readonly<Record<string, object>>, more: object = {}): object {
  return { approvals: { auto_approve: ['*'] }, mcp_servers: servers, ...more };
}
