/**
 * What follows a change: the code index is brought up to date, the "after" rules check what the tool wrote through its
 * workspace, and a change that is refused or cannot be checked in time is taken back. Only what went through the
 * workspace can be taken back, so only that is checked.
 */
import { type ErrorEntry, ToolError } from '@tool-runtime/protocol';
import type { RecordedCall } from './state/call-types.ts';
import type { ChangeLog } from './state/change-log.ts';
import { runRules } from './state/run-rules.ts';
import type { PolicyParts, RecordingParts, ResourceParts, SessionParts } from './state/session-parts.ts';
import { settle } from './state/settle.ts';

export async function syncAst(call: RecordedCall, log: ChangeLog, parts: ResourceParts): Promise<void> {
  const { ast } = parts;
  if (ast === undefined) return;
  if (log.changes.length > 0) await ast.refresh(log.changes, call.open.signal());
  // What a process wrote is not in the log.
  if (call.subject.profile.effect === 'process') await ast.catchUp?.(call.open.signal());
}

type Watch = (paths: readonly string[]) => Promise<readonly ErrorEntry[]>;

/**
 * For calls of tools that write text and know nothing of code: asks running language servers what they find wrong with the files
 * before. Undefined, without a promise, where there is nothing to ask.
 */
export function watchServers(call: RecordedCall, { ast, registry }: SessionParts) {
  const { paths } = call.subject;
  if (ast?.watchDiagnostics === undefined || paths.length === 0) return undefined;
  const { annotations, tool } = call.compiled;
  const writesText = annotations.capabilities['workspace']?.includes('write_text') === true;
  if (!writesText || tool.needs?.includes('ast') === true) return undefined;
  const files = [...new Set(paths.map(({ value }) => value).filter((path) => ast.covers(path)))];
  return files.length === 0 ? undefined : ast.watchDiagnostics(files, { registry, signal: call.open.signal() });
}

/** Adds what they find now to the warnings of the call. */
export async function tellNews(watch: Watch, call: RecordedCall, log: ChangeLog): Promise<void> {
  const gone = new Set(log.changes.filter(({ after }) => after === null).map(({ path }) => path));
  const left = call.subject.paths.map(({ value }) => value).filter((path) => !gone.has(path));
  call.open.warnings.push(...(await watch(left)));
}

export async function validateChange(call: RecordedCall, log: ChangeLog, parts: SessionParts): Promise<void> {
  if (log.authored.length === 0) return;
  await runRules('after', call.open, subjectOf(call, log), parts);
}

/** Whether the change has to be taken back when it cannot be checked. */
export function isJudgedAfter(call: RecordedCall, log: ChangeLog, parts: PolicyParts): boolean {
  return log.authored.length > 0 && parts.rules.applies('after', subjectOf(call, log));
}

function subjectOf(call: RecordedCall, log: ChangeLog): RecordedCall['subject'] {
  return { ...call.subject, changes: log.authored };
}

/** Puts the old bytes back. The returned error says whether that worked. */
export async function takeBack(
  blocking: ToolError,
  call: RecordedCall,
  log: ChangeLog,
  parts: SessionParts,
): Promise<ToolError> {
  const { time } = call.open;
  const undone = await settle(() => time.wait('undo', () => log.rollBack()));
  if (!undone.ok) await settle(() => time.wait('record', () => noteFailure(undone.error, call, parts)));
  else await settle(() => time.wait('index', () => parts.ast?.refresh(log.changes, call.open.signal())));
  return new ToolError(blocking.code, blocking.message, {
    ...(blocking.path === undefined ? {} : { path: blocking.path }),
    details: { ...blocking.details, rolled_back: undone.ok },
    cause: undone.ok ? blocking : undone.error,
  });
}

function noteFailure(error: ToolError, call: RecordedCall, parts: RecordingParts): Promise<boolean> {
  return parts.recovery.note(
    {
      kind: 'recovery',
      at_ms: parts.clock.now(),
      call_id: call.open.callId,
      session_id: call.open.sessionId,
      reason: 'rollback_failed',
      classification: 'reconcile',
      note: parts.redact(error.message),
    },
    { blocks: true },
  );
}
