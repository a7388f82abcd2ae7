/** A workspace in which fake language servers are opened, read and asked. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { createWorkspace, openRoot } from '@tool-runtime/sdk/testing';
import { ResponseError } from 'vscode-jsonrpc/node';
import { createSystemTimers, Deadline } from '../../../packages/ast/src/lsp/deadline.ts';
import type { LspProvider } from '../../../packages/ast/src/lsp/known-providers.ts';
import { openSession, type ServerSession } from '../../../packages/ast/src/lsp/server-session.ts';
import { WorkspaceUris } from '../../../packages/ast/src/lsp/workspace-uris.ts';
import { type ClientMessage, FakeLanguageServer } from './fake-server.ts';
import { ROOT } from './odd-output.ts';

const PROVIDER: LspProvider = {
  name: 'fuzzed',
  command: 'fuzzed',
  args: [],
  languages: ['text'],
  documents: { '.txt': 'text' },
  rootMarkers: [],
  initializationOptions: {},
  settings: { a: { b: 1 } },
  env: {},
  ready: { kind: 'progress-idle', quietMs: 1, graceMs: 1 },
  memoryMb: 1024,
  install: 'nothing',
};
const TIMEOUT_MS = 5_000;

export interface Scene {
  readonly uris: WorkspaceUris;
  /** Says hello by itself; what else it hears goes to `hear`. */
  open(hear: Hear): Promise<{ readonly server: FakeLanguageServer; readonly session: ServerSession }>;
  close(): void;
}

type Hear = (message: ClientMessage, server: FakeLanguageServer) => void;

export function openScene(): Scene {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'fuzz-lsp-')));
  const root = join(scratch, 'workspace');
  mkdirSync(root);
  writeFileSync(join(root, 'a.txt'), 'one two\nthree\n');
  const folder = openRoot(root);
  // Servers see another place than the real one, so that inputs can name it.
  const uris = new WorkspaceUris({ root: fileURLToPath(ROOT) });
  const setting = {
    workspace: createWorkspace(folder),
    uris,
    timers: createSystemTimers(),
    provider: PROVIDER,
    folder: '.',
    signal: new AbortController().signal,
    memoryOf: () => undefined,
  };
  return {
    uris,
    async open(hear) {
      const server = new FakeLanguageServer((message, self) => {
        if (message.method !== 'initialize') hear(message, self);
        else self.answer({ jsonrpc: '2.0', id: message.id, result: { capabilities: {} } });
      });
      return { server, session: await openSession({ ...setting, commands: server }, 1) };
    },
    close() {
      folder.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

export function newDeadline(): Deadline {
  return new Deadline(PROVIDER.name, createSystemTimers(), { timeoutMs: TIMEOUT_MS });
}

export async function end({ process }: ServerSession): Promise<void> {
  process.end(new ToolError('E_INTERNAL', 'The case is over', { details: { reason: 'over' } }));
  await process.ended;
}

/** In a word why a question failed; nothing but a ToolError or the server's own refusal may be the reason. */
export function reasonOf(thrown: unknown): string {
  if (thrown instanceof ResponseError) return 'server error';
  assert.ok(isToolError(thrown), `not a ToolError: ${thrown instanceof Error ? thrown.stack : String(thrown)}`);
  return String(thrown.details['reason'] ?? thrown.code);
}
