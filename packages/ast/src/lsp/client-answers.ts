/**
 * What we say about ourselves and answer when a server asks.
 *
 * Edits are never applied for a server: the caller applies them under the rules of the runtime. File changes
 * are announced by us, so servers need not watch; new and moved files in an edit are announced as understood, because a
 * server that believes otherwise leaves them out without a word.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';

export const CLIENT_CAPABILITIES: JsonObject = {
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

export interface ClientFacts {
  readonly rootUri: string;
  readonly settings: JsonObject;
  /** Called with each method the server registers later on. */
  onRegister(method: string): void;
}

export function answerServer(method: string, params: unknown, facts: ClientFacts): JsonValue {
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
