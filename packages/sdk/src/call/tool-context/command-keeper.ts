/** What becomes of the effects of a command that ran on an overlay: applied and on record, or kept until someone decides. */
import { ToolError } from '@tool-runtime/protocol';
import type { ChangeHistory, PathChange, PathState, StagedChange, WorkspaceChanges } from '../../changes/change-set.ts';
import {
  type CommandRequest,
  type EffectsKeeper,
  type EffectsMode,
  stricterEffects,
} from '../../contracts/commands.ts';
import { policyDenial } from '../../contracts/failures.ts';
import { fromOutermost } from '../../policy/declared-paths.ts';
import { lineDiff } from '../../text/line-diff.ts';
import type { GatedCall } from '../state/call-types.ts';
import type { ChangeLog } from '../state/change-log.ts';
import type { JoinedTransaction, SessionParts } from '../state/session-parts.ts';
import { changeOf } from './change-history.ts';

const MAX_DIFF_CHARACTERS = 64 * 1024;
const MAX_FILE_BYTES = 256 * 1024;

/** A call may ask for more caution than the registry, not for less. What may go on as a job is direct unless it asks. */
export function effectsOf(registry: EffectsMode, { effects, mayStay }: CommandRequest): EffectsMode {
  if (effects !== undefined && stricterEffects(effects, registry) !== effects) throw tooWeak(effects, registry);
  if (mayStay === true && registry === 'preview') throw noJobs('A command whose effects are previewed');
  return effects ?? (mayStay === true ? 'direct' : registry);
}

/** `folder`: the part of the workspace that the program saw. */
export function commandKeeper(
  call: GatedCall,
  history: Pick<ChangeHistory, 'commit'>,
  parts: SessionParts,
  folder = parts.folderPrefix,
): EffectsKeeper {
  const changes = call.open.sets();
  const placed = (staged: readonly StagedChange[]): readonly StagedChange[] =>
    folder === '.' ? staged : staged.map((change) => ({ ...change, path: fromOutermost(folder, change.path) }));
  return {
    async apply(staged) {
      await history.commit(placed(staged));
      return changes.isRecording ? call.open.callId : undefined;
    },
    async hold(staged) {
      const own = placed(staged);
      await keepContent(own, changes);
      const { callId, sessionId } = call.open;
      changes.store.put({
        ...{ change_id: callId, call_id: callId, session_id: sessionId, actor: parts.actor, tool: call.subject.tool },
        ...{ at: parts.clock.now(), status: 'pending' },
        paths: own.map(({ path, before, after }) => ({ path, before, after })),
      });
      call.open.progress.changeId = callId;
      return { change_id: callId, diff: await diffOf(own, changes) };
    },
  };
}

/** A command of a transaction: it runs on its tree, and what it changed is noted there. */
export function stagedRequest(
  request: CommandRequest,
  transaction: JoinedTransaction,
  { call, log, parts }: { readonly call: GatedCall; readonly log: ChangeLog; readonly parts: SessionParts },
): CommandRequest {
  if (request.mayStay === true) throw noJobsStaged();
  if (request.effects === 'preview' || parts.registry.effects === 'preview') throw noPreviewStaged();
  const mayChange = ({ path, after }: PathChange): void =>
    call.pathRule?.check({ path, location: path, access: after.kind === 'absent' ? 'delete' : 'write' });
  const never = () => Promise.reject(new TypeError('Effects of a transaction are staged'));
  const keeper: EffectsKeeper = {
    ...{ apply: never, hold: never, known: transaction.known },
    async stage(effects) {
      const fresh = await transaction.noteEffects(effects, mayChange);
      log.judged(transaction.id, fresh.map(changeOf(call.open.sets().inner)), fresh);
      return fresh;
    },
  };
  const { effects: _, ...rest } = request;
  return { ...rest, tree: transaction.tree, keeper };
}

async function keepContent(staged: readonly StagedChange[], { store }: WorkspaceChanges): Promise<void> {
  for (const { path, after, source } of staged) {
    if (after.kind !== 'file' || source === undefined) continue;
    const isKept =
      'bytes' in source ? store.keepBytes(after.digest, source.bytes) : await store.keepFile(after.digest, source.file);
    if (!isKept) throw tooLarge(path);
  }
}

/** For people: what would change, file by file, up to a bound. */
export async function diffOf(staged: readonly StagedChange[], changes: WorkspaceChanges): Promise<string> {
  let diff = '';
  for (const [index, change] of staged.entries()) {
    const { path, before, after } = change;
    if (diff.length > MAX_DIFF_CHARACTERS) return `${diff}… ${staged.length - index} more paths\n`;
    const text = await textDiff(change, changes);
    diff += `--- ${nameOf(before, `a/${path}`)}\n+++ ${nameOf(after, `b/${path}`)}\n${text}`;
  }
  return diff.length > MAX_DIFF_CHARACTERS
    ? `${diff.slice(0, MAX_DIFF_CHARACTERS)}\n… cut; change_show has the rest\n`
    : diff;
}

async function textDiff(change: StagedChange, changes: WorkspaceChanges): Promise<string> {
  const { path, before, after, source } = change;
  const [old, now] = [
    await textOf(before, () => changes.read(path, digestOf(before))),
    await textOf(after, () => source && changes.content(source, digestOf(after))),
  ];
  const modes = modeOf(before) !== undefined && modeOf(after) !== undefined && modeOf(before) !== modeOf(after);
  const mode = modes ? `mode ${modeOf(before)} → ${modeOf(after)}\n` : '';
  if (old === undefined || now === undefined) return `${mode}${after.kind} differs (binary or large)\n`;
  const lines = lineDiff(old, now);
  return `${mode}${lines}${lines === '' || lines.endsWith('\n') ? '' : '\n'}`;
}

/** Undefined for what cannot be shown as lines. */
async function textOf(
  state: PathState,
  read: () => Promise<Uint8Array | undefined> | Uint8Array | undefined,
): Promise<string | undefined> {
  if (state.kind === 'link') return `link to ${state.target}\n`;
  if (state.kind !== 'file') return state.kind === 'folder' ? 'folder\n' : '';
  const bytes = state.size > MAX_FILE_BYTES ? undefined : await read();
  return bytes === undefined || bytes.includes(0) ? undefined : Buffer.from(bytes).toString('utf8');
}

function nameOf(state: PathState, name: string): string {
  return state.kind === 'absent' ? '/dev/null' : name;
}

function digestOf(state: PathState): string {
  return state.kind === 'file' ? state.digest : '';
}

function modeOf(state: PathState): string | undefined {
  return 'mode' in state ? state.mode.toString(8) : undefined;
}

function tooWeak(asked: EffectsMode, registry: EffectsMode): ToolError {
  return policyDenial(`Effects cannot be ${asked} here: the registry says ${registry}`, {
    path: 'effects',
    details: { gate: 'effects', reason: 'effects_too_weak', next: `leave out effects, or ask for ${registry}` },
  });
}

export function noJobs(which: string): ToolError {
  return policyDenial(`${which} cannot go on as a job`, {
    path: 'yield_after_ms',
    details: { gate: 'effects', reason: 'no_jobs_in_preview', next: 'leave out yield_after_ms' },
  });
}

function noJobsStaged(): ToolError {
  return policyDenial('A command of a transaction cannot go on as a job', {
    path: 'yield_after_ms',
    details: { gate: 'transaction', reason: 'no_jobs_in_transaction', next: 'leave out yield_after_ms' },
  });
}

function noPreviewStaged(): ToolError {
  return policyDenial('Effects that are only previewed cannot be part of a transaction', {
    path: 'effects',
    details: {
      gate: 'transaction',
      reason: 'no_preview_in_transaction',
      next: 'run the command outside of transactions',
    },
  });
}

function tooLarge(path: string): ToolError {
  return new ToolError('E_SHELL', `Change is too large to be kept for review: ${path}`, {
    path,
    details: {
      reason: 'effects_too_large',
      next: 'nothing was applied; ask the operator to raise changes.max_file_mib',
    },
  });
}
