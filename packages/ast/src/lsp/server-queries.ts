/**
 * The questions one process can be asked, typed, with every file name checked on the way in and translated on the way out.
 *
 * They do not wait until the server is ready; that is done before they are given out.
 */
import { type ErrorCode, ToolError } from '@tool-runtime/protocol';
import { ErrorCodes, ResponseError } from 'vscode-jsonrpc/node';
import { z } from 'zod';
import {
  codeActionShape,
  comparePositions,
  diagnosticShape,
  flatRange,
  hoverShape,
  locationsShape,
  prepareRenameShape,
  protocolRange,
  readAnswer,
  symbolInformationShape,
  type TextPosition,
  type TextRange,
} from './answer-shapes.ts';
import type { Deadline } from './deadline.ts';
import type {
  CodeAction,
  CodeActionFilter,
  EditOptions,
  FoundRange,
  Hover,
  PlaceInFile,
  RenameTarget,
  WorkspaceSymbol,
} from './query-results.ts';
import { type DocumentSymbol, readDocumentSymbols } from './query-results.ts';
import { requireRawMethod } from './raw-methods.ts';
import { revealAnswer, sealParams } from './rewrite-uris.ts';
import { refusedEdit } from './server-errors.ts';
import type { ServerSession } from './server-session.ts';
import { type PlannedEdit, readWorkspaceEdit } from './workspace-edit.ts';
import type { WorkspaceUris } from './workspace-uris.ts';

export class ServerQueries {
  readonly #session: ServerSession;
  readonly #deadline: Deadline;
  readonly #uris: WorkspaceUris;

  constructor(session: ServerSession, deadline: Deadline, uris: WorkspaceUris) {
    this.#session = session;
    this.#deadline = deadline;
    this.#uris = uris;
  }

  async references(
    at: PlaceInFile,
    options: { readonly includeDeclaration?: boolean } = {},
  ): Promise<readonly FoundRange[]> {
    const context = { includeDeclaration: options.includeDeclaration ?? true };
    return this.#locations('textDocument/references', { ...(await this.#at(at)), context });
  }

  async definition(at: PlaceInFile): Promise<readonly FoundRange[]> {
    return this.#locations('textDocument/definition', await this.#at(at));
  }

  async implementation(at: PlaceInFile): Promise<readonly FoundRange[]> {
    return this.#locations('textDocument/implementation', await this.#at(at));
  }

  async hover(at: PlaceInFile): Promise<Hover | null> {
    const method = 'textDocument/hover';
    const hover = readAnswer(hoverShape, await this.#send(method, await this.#at(at)), method);
    if (hover === null) return null;
    const parts = Array.isArray(hover.contents) ? hover.contents : [hover.contents];
    const text = parts.map((part) => (typeof part === 'string' ? part : part.value)).join('\n\n');
    return { text: this.#uris.hideIn(text), ...(hover.range ? { range: flatRange(hover.range) } : {}) };
  }

  async documentSymbol(path: string): Promise<readonly DocumentSymbol[]> {
    const method = 'textDocument/documentSymbol';
    const answer = await this.#send(method, { textDocument: await this.#document(path) });
    return readDocumentSymbols(answer, { method, hide: (text) => this.#uris.hideIn(text) });
  }

  async workspaceSymbol(query: string): Promise<readonly WorkspaceSymbol[]> {
    const method = 'workspace/symbol';
    const symbols = readAnswer(z.array(symbolInformationShape).nullable(), await this.#send(method, { query }), method);
    return (symbols ?? []).map(({ name, kind, containerName, location }) => ({
      name: this.#uris.hideIn(name),
      kind,
      ...(containerName ? { container: this.#uris.hideIn(containerName) } : {}),
      path: this.#uris.nameOf(location.uri),
      ...(location.range === undefined ? {} : flatRange(location.range)),
    }));
  }

  /** Null where nothing can be renamed. */
  async prepareRename(at: PlaceInFile): Promise<RenameTarget | null> {
    const method = 'textDocument/prepareRename';
    const target = readAnswer(prepareRenameShape, await this.#send(method, await this.#at(at)), method);
    if (target === null) return null;
    if ('defaultBehavior' in target) return target.defaultBehavior ? {} : null;
    if ('start' in target) return { range: flatRange(target) };
    return { range: flatRange(target.range), placeholder: this.#uris.hideIn(target.placeholder) };
  }

  /** The plan only. Throws E_AST_EDIT when the server refuses, or would change nothing or something it must not. */
  async rename(at: PlaceInFile, newName: string, options: EditOptions = {}): Promise<PlannedEdit> {
    const method = 'textDocument/rename';
    return this.#plan(await this.#send(method, { ...(await this.#at(at)), newName }), method, options);
  }

  async codeActions(path: string, range: TextRange, filter: CodeActionFilter = {}): Promise<readonly CodeAction[]> {
    const method = 'textDocument/codeAction';
    const textDocument = await this.#document(path);
    const context = {
      diagnostics: (this.#session.diagnostics.raw(this.#uris.clean(path)) ?? []).filter((item) => touches(item, range)),
      ...(filter.only === undefined ? {} : { only: filter.only }),
    };
    const answer = await this.#send(method, { textDocument, range: protocolRange(range), context });
    return (readAnswer(z.array(z.unknown()).nullable(), answer, method) ?? []).map((item) =>
      this.#action(item, method),
    );
  }

  /** Throws E_AST_EDIT for an action that only runs a command of the server's: commands are not run. */
  async resolveCodeAction(handle: string, options: EditOptions = {}): Promise<PlannedEdit> {
    const method = 'codeAction/resolve';
    const item = this.#session.kept.get(handle);
    const { edit } = readAnswer(codeActionShape, item, method);
    const resolved =
      edit === undefined ? readAnswer(codeActionShape, await this.#send(method, item), method).edit : edit;
    return this.#plan(resolved ?? null, method, options);
  }

  /** One of the methods that only read, as it is: files by relative path or URI, answers with relative paths. */
  async raw(method: string, params: unknown): Promise<unknown> {
    requireRawMethod(method);
    const translation = { uris: this.#uris, kept: this.#session.kept };
    const sealed = sealParams(params, translation);
    // Opening checks the file as the workspace does, links included.
    for (const path of new Set(sealed.paths)) await this.#document(path);
    return revealAnswer(await this.#send(method, sealed.params), translation, method);
  }

  /** The server's own list, when it answers to be asked. */
  async pulledDiagnostics(path: string): Promise<readonly unknown[]> {
    const method = 'textDocument/diagnostic';
    const shape = z.object({ items: z.array(z.unknown()).default([]) });
    return readAnswer(shape, await this.#send(method, { textDocument: await this.#document(path) }), method).items;
  }

  async #document(path: string): Promise<{ readonly uri: string }> {
    const { uri } = await this.#deadline.race(this.#session.documents.open(path), { late: 'request_timeout' });
    this.#session.readiness.documentOpened();
    return { uri };
  }

  async #at({
    path,
    line,
    character,
  }: PlaceInFile): Promise<{ textDocument: { uri: string }; position: TextPosition }> {
    return { textDocument: await this.#document(path), position: { line, character } };
  }

  async #send(method: string, params: unknown): Promise<unknown> {
    try {
      return (await this.#session.process.request(method, params, this.#deadline)) ?? null;
    } catch (thrown) {
      throw explainRefusal(thrown, method, (text) => this.#uris.hideIn(text));
    }
  }

  async #locations(method: string, params: unknown): Promise<readonly FoundRange[]> {
    const found = readAnswer(locationsShape, await this.#send(method, params), method) ?? [];
    return found.map((each) =>
      'uri' in each
        ? { path: this.#uris.nameOf(each.uri), ...flatRange(each.range) }
        : { path: this.#uris.nameOf(each.targetUri), ...flatRange(each.targetSelectionRange) },
    );
  }

  #plan(edit: unknown, method: string, { allowFileOperations = false }: EditOptions): PlannedEdit {
    const { documents } = this.#session;
    const reading = {
      uris: this.#uris,
      method,
      allowFileOperations,
      versionOf: (path: string) => documents.versionOf(path),
    };
    const plan = edit === null ? undefined : readWorkspaceEdit(edit, reading);
    if (plan !== undefined && (Object.keys(plan.files).length > 0 || plan.operations.length > 0)) return plan;
    throw refusedEdit('empty_edit', `Language server would change nothing: ${method}`, {
      next: 'name the place of a symbol that can be changed; actions that only run a command are not run',
    });
  }

  #action(item: unknown, method: string): CodeAction {
    const { title, kind, isPreferred, disabled } = readAnswer(codeActionShape, item, method);
    return {
      handle: this.#session.kept.keep(item),
      title: this.#uris.hideIn(title),
      ...(kind === undefined ? {} : { kind: this.#uris.hideIn(kind) }),
      isPreferred: isPreferred ?? false,
      ...(disabled === undefined ? {} : { disabled: this.#uris.hideIn(disabled.reason) }),
    };
  }
}

function touches(item: unknown, wanted: TextRange): boolean {
  const parsed = diagnosticShape.safeParse(item);
  if (!parsed.success) return false;
  const { start, end } = protocolRange(wanted);
  const { range } = parsed.data;
  return comparePositions(range.start, end) <= 0 && comparePositions(start, range.end) <= 0;
}

/** ServerCancelled, ContentModified, RequestCancelled: asked at the wrong moment, not wrongly. */
const PASSING = [-32802, -32801, -32800];
const EDITS = ['textDocument/rename', 'textDocument/prepareRename', 'textDocument/codeAction', 'codeAction/resolve'];
const MAX_MESSAGE = 300;

interface Refusal {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly retry: 'retryable' | 'not_retryable';
  readonly next: string;
}

/**
 * A server's own error answer as one of ours: whose fault it is decides the code.
 *
 * What was thrown, unless it is the server's answer.
 */
function explainRefusal(thrown: unknown, method: string, hide: (text: string) => string): unknown {
  if (!(thrown instanceof ResponseError)) return thrown;
  const { code, reason, retry, next } = judge(thrown.code, method);
  const said = hide(thrown.message).slice(0, MAX_MESSAGE);
  return new ToolError(code, `Language server refused: ${method}`, {
    details: { kind: 'tool_failure', retry, reason, said, server_code: thrown.code, next },
  });
}

function judge(code: number, method: string): Refusal {
  if (PASSING.includes(code)) {
    return { code: 'E_INTERNAL', reason: 'server_cancelled', retry: 'retryable', next: 'ask again' };
  }
  if (code === ErrorCodes.MethodNotFound) {
    const kind: ErrorCode = EDITS.includes(method) ? 'E_AST_EDIT' : 'E_VALIDATION_FAIL';
    return { code: kind, reason: 'not_supported', retry: 'not_retryable', next: 'use another provider or method' };
  }
  if (EDITS.includes(method)) {
    return {
      code: 'E_AST_EDIT',
      reason: 'server_refused',
      retry: 'not_retryable',
      next: 'look at what the server said',
    };
  }
  const isOurs = code === ErrorCodes.InvalidParams || code === ErrorCodes.InvalidRequest;
  return {
    code: isOurs ? 'E_VALIDATION_FAIL' : 'E_INTERNAL',
    reason: 'server_refused',
    retry: 'not_retryable',
    next: 'look at what the server said',
  };
}
