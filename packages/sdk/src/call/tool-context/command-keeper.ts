/** What becomes of the effects of a command that ran on an overlay: applied and on record, or kept until someone decides. */
import { ToolError } from '@tool-runtime/protocol';
import type { ChangeHistory, PathState, StagedChange, WorkspaceChanges } from '../../changes/change-set.ts';
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
import type { SessionParts } from '../state/session-parts.ts';

const MAX_DIFF_CHARACTERS = 64 * 1024;
const MAX_FILE_BYTES = 256 * 1024;

/** A call may ask for more caution than the registry, not for less. What may go on as a job is direct unless it asks. */
export function effectsOf(registry: EffectsMode, { effects, mayStay }: CommandRequest): EffectsMode {
  if (effects !== undefined && stricterEffects(effects, registry) !== effects) throw tooWeak(effects, registry);
  if (mayStay === true && registry === 'preview') throw noJobs();
  return effects ?? (mayStay === true ? 'direct' : registry);
}

export function commandKeeper(
  call: GatedCall,
  history: Pick<ChangeHistory, 'commit'>,
  parts: SessionParts,
): EffectsKeeper {
  const { changes } = parts;
  const placed = (staged: readonly StagedChange[]): readonly StagedChange[] =>
    staged.map((change) => ({ ...change, path: fromOutermost(parts.folderPrefix, change.path) }));
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

async function keepContent(staged: readonly StagedChange[], { store }: WorkspaceChanges): Promise<void> {
  for (const { path, after, source } of staged) {
    if (after.kind !== 'file' || source === undefined) continue;
    const isKept =
      'bytes' in source ? store.keepBytes(after.digest, source.bytes) : await store.keepFile(after.digest, source.file);
    if (!isKept) throw tooLarge(path);
  }
}

/** For people: what would change, file by file, up to a bound. */
async function diffOf(staged: readonly StagedChange[], changes: WorkspaceChanges): Promise<string> {
  let diff = '';
  for (const [index, { path, before, after }] of staged.entries()) {
    if (diff.length > MAX_DIFF_CHARACTERS) return `${diff}… ${staged.length - index} more paths\n`;
    const text = await textDiff({ path, before, after }, changes);
    diff += `--- ${nameOf(before, `a/${path}`)}\n+++ ${nameOf(after, `b/${path}`)}\n${text}`;
  }
  return diff.length > MAX_DIFF_CHARACTERS
    ? `${diff.slice(0, MAX_DIFF_CHARACTERS)}\n… cut; change_show has the rest\n`
    : diff;
}

async function textDiff({ path, before, after }: StagedChange, changes: WorkspaceChanges): Promise<string> {
  const [old, now] = [
    await textOf(before, () => changes.read(path, digestOf(before))),
    await textOf(after, () => changes.store.bytes(digestOf(after))),
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

function noJobs(): ToolError {
  return policyDenial('A command whose effects are previewed cannot go on as a job', {
    path: 'yield_after_ms',
    details: { gate: 'effects', reason: 'no_jobs_in_preview', next: 'leave out yield_after_ms' },
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
