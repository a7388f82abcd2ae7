/**
 * One process of a server that shook hands: its documents, diagnostics and readiness, gone with it.
 *
 * The listener exists before the process does, because a server may speak before it answers `initialize`.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { CommandRunner, Workspace } from '@tool-runtime/sdk';
import { z } from 'zod';
import { readAnswer } from './answer-shapes.ts';
import type { LspTimers } from './deadline.ts';
import { Deadline } from './deadline.ts';
import { DiagnosticStore } from './diagnostic-store.ts';
import { KeptValues } from './kept-values.ts';
import type { LspProvider } from './known-providers.ts';
import { OpenDocuments } from './open-documents.ts';
import { Readiness } from './ready-strategy.ts';
import { badAnswer, serverGone } from './server-errors.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';
import type { WorkspaceUris } from './workspace-uris.ts';

export interface SessionSetting {
  readonly commands: CommandRunner;
  readonly workspace: Workspace;
  readonly uris: WorkspaceUris;
  readonly timers: LspTimers;
  readonly provider: LspProvider;
  /** Workspace-relative folder that is the server's root. */
  readonly folder: string;
  /** Ends it without a word, also while it starts. */
  readonly signal: AbortSignal;
  /** Bytes that processes and what they started hold; undefined where that cannot be seen. */
  memoryOf(pids: readonly number[]): number | undefined;
}

export interface ServerSession {
  readonly generation: number;
  readonly process: ServerProcess;
  readonly documents: OpenDocuments;
  readonly diagnostics: DiagnosticStore;
  readonly readiness: Readiness;
  readonly kept: KeptValues;
  /** Whether the server answers to be asked for diagnostics. */
  pullsDiagnostics(): boolean;
  /** Asks the server to end, and ends it. */
  shutDown(): Promise<void>;
}

const INITIALIZE_MS = 60_000;
const SHUTDOWN_MS = 2_000;
const MEMORY_EVERY_MS = 5_000;
const MIB = 1024 * 1024;

const initializeShape = z.object({
  capabilities: z.looseObject({ positionEncoding: z.string().optional(), diagnosticProvider: z.unknown().optional() }),
});

/** Throws what `startServerProcess` throws, E_TIMEOUT or E_INTERNAL when the handshake fails; nothing runs on then. */
export async function openSession(setting: SessionSetting, generation: number): Promise<ServerSession> {
  const { provider, uris, timers, workspace, commands, folder } = setting;
  const readiness = new Readiness(provider.ready, timers);
  const registered = new Set<string>();
  const rootUri = uris.toUri(folder);
  const facts = { rootUri, settings: provider.settings, onRegister: (method: string) => registered.add(method) };
  const documents = new OpenDocuments({
    workspace,
    uris,
    notify: (method, params) => process.notify(method, params),
    languageOf: (path) => languageId(provider, path) ?? 'plaintext',
    onOpenOrClose: (path) => diagnostics.forget(path),
    onText: () => diagnostics.forgetAll(),
    onFileSet: (paths) => {
      if (paths.some((path) => mayConcern(provider, path))) readiness.fileSetChanged();
    },
  });
  const diagnostics = new DiagnosticStore(
    uris,
    (path) => documents.versionOf(path),
    () => timers.monotonic(),
  );
  const process = await startServerProcess({
    commands,
    provider,
    cwd: folder,
    signal: setting.signal,
    hide: (text) => uris.hideIn(text),
    listener: {
      notification(method, params) {
        if (method === 'textDocument/publishDiagnostics') diagnostics.accept(params);
        else readiness.notice(method, params);
      },
      progress: (token, value) => readiness.progress(token, value),
      request: (method, params) => answerServer(method, params, facts),
    },
  });
  const stopWatching = watchMemory(setting, process);
  process.ended.then(() => {
    stopWatching();
    readiness.dispose();
  });
  const capabilities = await shakeHands(setting, process, rootUri);
  return {
    generation,
    process,
    documents,
    diagnostics,
    readiness,
    kept: new KeptValues(generation),
    pullsDiagnostics: () => capabilities.diagnosticProvider !== undefined || registered.has('textDocument/diagnostic'),
    shutDown: () => shutDown(setting, process),
  };
}

/** By the longest ending that fits. */
export function languageId({ documents }: LspProvider, path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const endings = Object.keys(documents).filter((ending) => name.endsWith(ending) && name.length > ending.length);
  const [longest] = endings.sort((a, b) => b.length - a.length);
  return longest === undefined ? undefined : documents[longest];
}

/** A name without a dot may be a folder with files of the server's inside. */
function mayConcern(provider: LspProvider, path: string): boolean {
  return languageId(provider, path) !== undefined || !path.slice(path.lastIndexOf('/') + 1).includes('.');
}

async function shakeHands(
  { provider, timers }: SessionSetting,
  process: ServerProcess,
  rootUri: string,
): Promise<z.output<typeof initializeShape>['capabilities']> {
  try {
    const deadline = new Deadline(provider.name, timers, { timeoutMs: INITIALIZE_MS });
    const answer = await process.request(
      'initialize',
      {
        // In the sandbox our own process id means nothing, and a server that looks for it would end.
        processId: null,
        clientInfo: { name: 'tool-runtime' },
        rootUri,
        workspaceFolders: [{ uri: rootUri, name: 'workspace' }],
        capabilities: CLIENT_CAPABILITIES,
        initializationOptions: provider.initializationOptions,
      },
      deadline,
    );
    const { capabilities } = readAnswer(initializeShape, answer, 'initialize');
    if ((capabilities.positionEncoding ?? 'utf-16') !== 'utf-16') throw badAnswer('initialize', 'not in UTF-16 units');
    process.notify('initialized', {});
    process.notify('workspace/didChangeConfiguration', { settings: provider.settings });
    return capabilities;
  } catch (thrown) {
    process.end(serverGone(provider.name, 'start_failed'));
    await process.ended;
    throw thrown;
  }
}

async function shutDown({ provider, timers }: SessionSetting, process: ServerProcess): Promise<void> {
  const deadline = new Deadline(provider.name, timers, { timeoutMs: SHUTDOWN_MS });
  try {
    await process.request('shutdown', undefined, deadline);
    process.notify('exit', undefined);
    await deadline.race(process.ended, { late: 'request_timeout' });
  } catch {
    // It was asked; what does not end by itself is ended.
  }
  process.end(serverGone(provider.name, 'closed'));
  await process.ended;
}

function watchMemory({ provider, timers, memoryOf }: SessionSetting, process: ServerProcess): () => void {
  const look = (): void => {
    const bytes = memoryOf(process.pids);
    if (bytes !== undefined && bytes > provider.memoryMb * MIB) {
      const used = Math.round(bytes / MIB);
      process.end(serverGone(provider.name, 'memory_cap', { memory_mb: used, cap_mb: provider.memoryMb }));
    }
    disarm = timers.after(MEMORY_EVERY_MS, look);
  };
  let disarm = timers.after(MEMORY_EVERY_MS, look);
  return () => disarm();
}

const CLIENT_CAPABILITIES: JsonObject = {
  general: { positionEncodings: ['utf-16'] },
  window: { workDoneProgress: true },
  workspace: {
    applyEdit: false,
    configuration: true,
    workspaceFolders: true,
    didChangeWatchedFiles: { dynamicRegistration: true },
    workspaceEdit: {
      documentChanges: true,
      resourceOperations: ['create', 'rename', 'delete'],
      failureHandling: 'abort',
    },
    symbol: {},
  },
  textDocument: {
    synchronization: { didSave: true },
    rename: { prepareSupport: true },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    definition: {},
    implementation: {},
    references: {},
    hover: { contentFormat: ['markdown', 'plaintext'] },
    callHierarchy: {},
    typeHierarchy: {},
    codeAction: {
      codeActionLiteralSupport: {
        codeActionKind: { valueSet: ['', 'quickfix', 'refactor', 'source', 'source.organizeImports'] },
      },
      isPreferredSupport: true,
      disabledSupport: true,
      dataSupport: true,
      resolveSupport: { properties: ['edit'] },
    },
    publishDiagnostics: { versionSupport: true },
    diagnostic: { dynamicRegistration: true },
  },
  experimental: { serverStatusNotification: true },
};

interface ClientFacts {
  readonly rootUri: string;
  readonly settings: JsonObject;
  /** Called with each method the server registers later on. */
  onRegister(method: string): void;
}

/**
 * What we say about ourselves and answer when a server asks.
 *
 * Edits are never applied for a server: the caller applies them under the rules of the runtime. File changes
 * are announced by us, so servers need not watch; new and moved files in an edit are announced as understood, because a
 * server that believes otherwise leaves them out without a word.
 */
function answerServer(method: string, params: unknown, facts: ClientFacts): JsonValue {
  switch (method) {
    case 'workspace/configuration':
      return listOf(params, 'items').map((item) => section(facts.settings, textOf(item, 'section')));
    case 'workspace/workspaceFolders':
      return [{ uri: facts.rootUri, name: 'workspace' }];
    case 'workspace/applyEdit':
      return { applied: false, failureReason: 'Edits are applied by the client only when it asked for them' };
    case 'window/showDocument':
      return { success: false };
    case 'client/registerCapability':
      for (const item of listOf(params, 'registrations')) facts.onRegister(textOf(item, 'method'));
      return null;
    default:
      return null;
  }
}

function section(settings: JsonObject, name: string): JsonValue {
  let value: JsonValue = settings;
  for (const key of name === '' ? [] : name.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key)) return null;
    value = (value as JsonObject)[key] ?? null;
  }
  return value;
}

function listOf(value: unknown, key: string): readonly unknown[] {
  const list = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return Array.isArray(list) ? list : [];
}

function textOf(value: unknown, key: string): string {
  const text = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return typeof text === 'string' ? text : '';
}
