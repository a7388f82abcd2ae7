/** A host with a session as agents have them: edits, a refused escape, a question, a failing test, a child. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type RunningHost, startHost } from '@tool-runtime/host';
import { type ConsoleRole, type JsonObject, SCOPES, type ToolResponse } from '@tool-runtime/protocol';
import { createHostClient, type HostClient } from '@tool-runtime/protocol/client';
import { lazyGateway } from '../../packages/host/src/mcp/gateway/lazy-gateway.ts';

export const REGISTRY = `version: 1
shell_allow:
  - '^node --test$'
  - '^ls$'
approvals:
  auto_approve: ['file_*', 'fs_*', 'grep', 'shell_exec', 'change_*']
  require_approval: [fs_delete]
  auto_deny: [curl]
children:
  max_children: 4
budgets:
  max_calls: 5000
limits:
  approval_timeout_ms: 600000
`;

export const FILES: Readonly<Record<string, string>> = {
  'src/invoice.js': `export function total(lines) {\n  let sum = 0;\n  for (const line of lines) sum += line.price;\n  return sum;\n}\n`,
  'src/tax.js': `export const RATE = 0.19;\n\nexport function withTax(net) {\n  return net * (1 + RATE);\n}\n`,
  'test/invoice.test.js': `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { total } from '../src/invoice.js';\n\ntest('adds up quantities', () => {\n  assert.equal(total([{ price: 2, quantity: 3 }]), 6);\n});\n`,
  'package.json': `{ "name": "billing", "type": "module" }\n`,
  'README.md': `# billing\n\nInvoices and taxes.\n`,
  'notes/old.txt': `no longer needed\n`,
};

export interface ConsoleHost {
  readonly url: string;
  readonly host: RunningHost;
  readonly client: HostClient;
  readonly workspace: string;
  /** A link that signs in once. */
  link(role?: ConsoleRole): string;
  openSession(client: string): Promise<Session>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Session {
  readonly id: string;
  readonly token: string;
  call(tool: string, args: JsonObject): Promise<ToolResponse>;
}

export interface ConsoleHostOptions {
  readonly registry?: string;
  readonly files?: Readonly<Record<string, string>>;
  /** Of a host that comes back at the same address. */
  readonly port?: number;
  /** Called with the state folder before the host starts. */
  prepare?(state: string): Promise<void>;
}

export async function openConsoleHost({
  registry = REGISTRY,
  files = FILES,
  port = 0,
  prepare,
}: ConsoleHostOptions = {}): Promise<ConsoleHost> {
  const folder = mkdtempSync(join(tmpdir(), 'console-host-'));
  const workspace = join(folder, 'billing');
  mkdirSync(workspace);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), text);
  }
  await prepare?.(join(folder, 'state'));
  const host = await startHost({
    workspaces: [workspace],
    state: join(folder, 'state'),
    http: { hostname: '127.0.0.1', port },
    // A function: then the host opens anew when tools of mounted servers are approved.
    runtime: () => ({ registry: { text: registry, file: 'tool-runtime.yaml' }, sources: [lazyGateway()] }),
  });
  const url = host.url ?? '';
  const client = createHostClient({ url, token: host.token ?? '' });
  return {
    url,
    host,
    client,
    workspace,
    link(role = 'approver') {
      const operator = { id: 'operator', name: 'operator', scopes: new Set(SCOPES) };
      return `${url}/#code=${host.host.console.mint(role, operator, () => true).code}`;
    },
    async openSession(name) {
      const { session_id, token } = await client.openSession({ client: { name } });
      return sessionOf(url, session_id, token);
    },
    async [Symbol.asyncDispose]() {
      await host.stop({ now: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function sessionOf(url: string, id: string, token: string): Session {
  const own = createHostClient({ url, token });
  return { id, token, call: async (tool, args) => (await own.call(id, { tool, args })) as ToolResponse };
}

/** Resolves while its question still waits for an answer; `asked` is the call that asks. */
export async function playSession(
  console: ConsoleHost,
): Promise<{ readonly session: Session; readonly asked: Promise<ToolResponse> }> {
  const session = await console.openSession('claude-code');
  const other = await console.openSession('codex');
  await session.call('fs_list', { path: '.' });
  await session.call('grep', { pattern: 'price', path: 'src' });
  await session.call('file_read', { path: 'src/invoice.js' });
  await session.call('shell_exec', { cmd: 'node --test' });
  await session.call('file_edit', { path: 'src/invoice.js', old: 'line.price;', new: 'line.price * line.quantity;' });
  await session.call('shell_exec', { cmd: 'node --test' });
  await session.call('file_read', { path: '../../../etc/passwd' });
  await session.call('curl', { url: 'https://example.org/collect' });
  await session.call('file_write', {
    path: 'src/round.js',
    content: 'export const round = (value) => Math.round(value * 100) / 100;\n',
  });
  const child = await console.client.openChild(session.id, {
    agent_id: 'reviewer',
    tools: ['grep', 'file_read', 'fs_list'],
    budget: { max_calls: 20 },
  });
  const reviewer = sessionOf(console.url, child.session_id, child.token);
  await reviewer.call('grep', { pattern: 'RATE', path: '.' });
  await reviewer.call('file_read', { path: 'src/tax.js' });
  await reviewer.call('file_write', { path: 'src/tax.js', content: 'export const RATE = 0;\n' });
  await other.call('file_read', { path: 'README.md' });
  await other.call('grep', { pattern: 'tax', path: '.' });
  await other.call('file_read', { path: 'missing.txt' });
  const asked = session.call('fs_delete', { path: 'notes/old.txt' });
  while ((await console.client.approvals()).length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  return { session, asked };
}
