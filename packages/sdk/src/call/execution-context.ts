/** What a running tool is handed: capabilities bound to its call, nothing that reaches past the policy. */
import { type ErrorEntry, type JsonObject, ToolError } from '@tool-runtime/protocol';
import { sideEffectRank } from '../contracts/annotations.ts';
import type { FileChange, Workspace } from '../contracts/workspace.ts';
import type { OpenCall, RecordedCall } from './call-types.ts';
import type { ChangeLog } from './change-log.ts';
import type { ExecutionContext, SessionParts } from './session-parts.ts';

const WRITES = sideEffectRank('workspace_write');

/** Methods are bound, because tools take the context apart: `run(args, { workspace, progress })`. */
export class CallContext implements ExecutionContext {
  readonly callId: string;
  readonly sessionId: string;
  readonly args: JsonObject;
  readonly workspace: Workspace;
  readonly progress: (pct: number, message: string) => void;
  readonly warn: (entry: ErrorEntry) => void;
  readonly changed: (change: FileChange) => void;
  readonly respond: (data: unknown) => void;
  /** What the tool delivered, once it has. */
  delivered: unknown;
  readonly #call: RecordedCall;

  constructor(call: RecordedCall, log: ChangeLog, parts: SessionParts) {
    const { open } = call;
    this.#call = call;
    this.callId = open.callId;
    this.sessionId = open.sessionId;
    this.args = call.args;
    const mayWrite = sideEffectRank(call.view.profile.side_effect_level) >= WRITES;
    this.workspace = mayWrite ? log.tracked() : parts.readOnlyWorkspace;
    this.progress = (pct, message) => emitProgress(open, { pct, message }, parts);
    this.warn = (entry) => open.warnings.push(entry);
    this.changed = (change) => log.changes.push(change);
    this.respond = (data) => {
      this.delivered = data;
    };
  }

  get signal(): AbortSignal {
    return this.#call.open.signal();
  }
}

/** Never steps back and never leaves 0 to 100, whatever a tool reports. */
function emitProgress(open: OpenCall, report: { pct: number; message: string }, parts: SessionParts): void {
  const { progress, request } = open;
  const bounded = Number.isFinite(report.pct) ? Math.min(100, Math.max(0, report.pct)) : 0;
  progress.pct = Math.max(progress.pct, bounded);
  if (!parts.events.active) return;
  parts.events.emit(parts.sessionId, {
    type: 'EventMessage',
    event: 'TaskProgress',
    request_id: request.requestId,
    progress: { pct: progress.pct, message: parts.redact(report.message) },
  });
}

/** A view that cannot write, whatever the tool tries. */
export function readOnlyView(workspace: Workspace): Workspace {
  const refuse = (path: string): never => {
    throw new ToolError('E_POLICY', `This call may only read: ${path}`, {
      path,
      details: { gate: 'workspace', next: 'declare side_effect_level workspace_write in the annotations of the tool' },
    });
  };
  return {
    stat: (path) => workspace.stat(path),
    readFile: (path, options) => workspace.readFile(path, options),
    lockKeys: (path) => workspace.lockKeys(path),
    writeFile: refuse,
    removeFile: refuse,
  };
}
