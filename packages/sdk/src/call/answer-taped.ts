/**
 * Answers a call from a cassette. It passed the gates like any other; nothing runs, and the journal says where the answer is from.
 *
 * File changes are made only where replay is to make them, under the rules of the call and through the same resolution of paths
 * as every other change.
 */
import { isUtf8 } from 'node:buffer';
import { dirname, join } from 'node:path/posix';
import type { ToolError } from '@tool-runtime/protocol';
import { ABSENT, type PathState, type StagedChange, sameState, type WorkspaceChanges } from '../changes/change-set.ts';
import type { RecordedContent, RecordedFile, TapedCall } from '../contracts/cassette.ts';
import type { TerminalStatus } from '../contracts/classes.ts';
import { policyDenial } from '../contracts/failures.ts';
import { sha256Hex } from '../platform/digest.ts';
import type { JudgedCall, OpenCall, Outcome } from './state/call-types.ts';
import { ChangeLog, Grant } from './state/change-log.ts';
import type { SessionParts } from './state/session-parts.ts';
import { timesOf } from './state/settle.ts';
import { announceProgress, noteDecision, writeTrail } from './state/trail.ts';
import { historyFor } from './tool-context/change-history.ts';

export interface TapedAdmission {
  readonly judged: JudgedCall;
  readonly taped: TapedCall;
}

export async function answerTaped({ judged, taped }: TapedAdmission, parts: SessionParts): Promise<Outcome> {
  const { open } = judged;
  noteDecision(open, { outcome: 'allow', gate: 'cassette', code: 'answered_from_cassette' }, parts);
  await open.time.wait('record', () => writeTrail(open, parts));
  const { files = [], events } = taped;
  if (files.length > 0) await open.time.wait('tool', () => taped.inTurn(() => applyFiles(judged, files)));
  for (const { pct, message, data } of events) announceProgress(open, { pct, message, data }, parts);
  return outcomeOf(open, taped, {
    bytes: bytesOf(judged, taped),
    changes: [],
    endedAt: parts.clock.now(),
    ...timesOf(open, parts),
  });
}

/** A call that was refused when it was recorded gets that answer; one that was answered then differs from now on. */
export function refuseTaped(open: OpenCall, outcome: Outcome, error: ToolError): Outcome {
  const { taped } = open.request;
  if (taped === undefined || !('answer' in taped)) return outcome;
  if (!taped.answer.ok) return outcomeOf(open, taped, outcome);
  taped.refused(error);
  return outcome;
}

type Figures = Omit<Outcome, 'status' | 'data' | 'errors'>;

function outcomeOf(open: OpenCall, { answer }: TapedCall, figures: Figures): Outcome {
  // Those of the gates are in the recorded answer too.
  open.warnings.splice(0, open.warnings.length, ...answer.warnings);
  open.masks.masked = answer.redacted ?? 0;
  open.progress.changeId = answer.change_id;
  const status: TerminalStatus = answer.ok
    ? 'completed'
    : answer.errors[0]?.code === 'E_TIMEOUT'
      ? 'timed_out'
      : 'failed';
  return { ...figures, status, data: answer.data, errors: answer.errors };
}

function bytesOf({ compiled }: JudgedCall, { answer, files = [] }: TapedCall): number {
  const written = files.reduce((sum, file) => sum + ('file' in file ? (contentOf(file.file)?.length ?? 0) : 0), 0);
  if (written > 0 || !answer.ok) return written;
  try {
    return compiled.tool.measure?.(answer.data) ?? 0;
  } catch {
    // An answer may be edited by hand.
    return 0;
  }
}

async function applyFiles(call: JudgedCall, files: readonly RecordedFile[]): Promise<void> {
  const sets = call.open.sets();
  const staged: StagedChange[] = [];
  const known = new Set(files.map(({ path }) => path));
  for (const file of files) {
    for (const folder of foldersAbove(file.path)) {
      if (known.has(folder) || 'absent' in file) continue;
      known.add(folder);
      const before = await stateAt(sets, folder);
      if (before.kind === 'absent') staged.push({ path: folder, before, after: { kind: 'folder', mode: 0o755 } });
    }
    const change = await stagedFile(sets, file);
    if (!sameState(change.before, change.after)) staged.push(change);
  }
  // The cassette has the approval that the call once needed.
  const history = historyFor(
    { ...call, verdict: 'allow' },
    { log: new ChangeLog({ keepOriginals: false }), grant: new Grant() },
  );
  if (staged.length > 0) await history.commit(staged);
}

async function stagedFile(sets: WorkspaceChanges, file: RecordedFile): Promise<StagedChange> {
  const { path } = file;
  const before = await stateAt(sets, path);
  if ('absent' in file) return { path, before, after: ABSENT };
  if ('folder' in file) return { path, before, after: { kind: 'folder', mode: Number.parseInt(file.mode, 8) } };
  if ('link' in file) return { path, before, after: { kind: 'link', target: innerTarget(path, file.link) } };
  const bytes = contentOf(file.file);
  if (bytes === undefined) throw notRecorded(path);
  const after: PathState = {
    ...{ kind: 'file', digest: sha256Hex(bytes), size: bytes.length },
    mode: Number.parseInt(file.mode, 8),
  };
  return { path, before, after, source: { bytes } };
}

async function stateAt(sets: WorkspaceChanges, path: string): Promise<PathState> {
  const name = sets.inner(path);
  if (name === undefined) throw outside(path, 'it is outside of the folder of this session');
  const { location, states } = await sets.capture(name, { keep: false, alone: true });
  return states.get(location) ?? ABSENT;
}

function contentOf(content: RecordedContent): Uint8Array | undefined {
  if ('text' in content) return Buffer.from(content.text);
  return 'base64' in content ? Buffer.from(content.base64, 'base64') : undefined;
}

/** The form in which content is recorded. */
export function recordedContent(bytes: Uint8Array, redact: (text: string) => string): RecordedContent {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isUtf8(buffer) && !buffer.includes(0)) return { text: redact(buffer.toString('utf8')) };
  return { base64: buffer.toString('base64') };
}

function foldersAbove(path: string): readonly string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, at) => names.slice(0, at + 1).join('/'));
}

function innerTarget(path: string, target: string): string {
  const place = join(dirname(path), target);
  if (target.startsWith('/') || place === '..' || place.startsWith('../'))
    throw outside(path, 'the link leads out of the workspace');
  return target;
}

function outside(path: string, why: string): ToolError {
  return policyDenial(`Recorded file change cannot be applied, because ${why}: ${path}`, {
    path,
    details: { gate: 'cassette', reason: 'cassette_file_refused', next: 'replay without applying file changes' },
  });
}

function notRecorded(path: string): ToolError {
  return policyDenial(`Recorded file change cannot be applied, because its content was not recorded: ${path}`, {
    path,
    details: {
      gate: 'cassette',
      reason: 'cassette_file_left_out',
      next: 'replay without applying file changes, or put the content into the cassette by hand',
    },
  });
}
