/** Change sets as one call may use them: what it commits is governed, recorded and can be taken back like every other change. */
import type { ChangeHistory, PathChange, PathState, StagedChange } from '../../changes/change-set.ts';
import { sideEffectRank } from '../../contracts/annotations.ts';
import { policyDenial } from '../../contracts/failures.ts';
import type { FileSnapshot } from '../../contracts/workspace.ts';
import type { JudgedCall } from '../state/call-types.ts';
import type { ChangeLog, Grant } from '../state/change-log.ts';

const WRITES = sideEffectRank('workspace_write');

export function historyFor(
  call: JudgedCall,
  { log, grant }: { readonly log: ChangeLog; readonly grant: Grant },
): ChangeHistory {
  const changes = call.open.sets();
  const { store } = changes;
  return {
    capture: changes.capture,
    read: changes.read,
    inner: changes.inner,
    list: (filter) => store.list(filter),
    get: (id) => store.get(id),
    bytes: (digest) => store.bytes(digest),
    setStatus: (id, status) => store.setStatus(id, status),
    async commit(staged, { isRestored = false, ...options } = {}) {
      const mayWrite = sideEffectRank(call.subject.profile.side_effect_level) >= WRITES;
      if (!mayWrite || call.verdict !== 'allow') throw mayOnlyRead();
      const rule = call.pathRule === undefined ? {} : { rule: call.pathRule };
      await grant.use(() => changes.commit(staged, { ...options, ...rule }));
      const files = staged.filter(({ before, after }) => before.kind !== 'folder' && after.kind !== 'folder');
      const undo = () =>
        changes.commit(
          reversed(staged, (digest) => store.bytes(digest)),
          options,
        );
      if (isRestored) log.judged(call.open.callId, files.map(changeOf(changes.inner)), staged);
      else log.committed(files.map(changeOf(changes.inner)), staged, undo);
    },
  };
}

export function changeOf(inner: ChangeHistory['inner']) {
  return ({ path, before, after }: PathChange) => ({
    path: inner(path) ?? path,
    before: snapshotOf(before),
    after: snapshotOf(after),
  });
}

function snapshotOf(state: PathState): FileSnapshot | null {
  if (state.kind === 'absent') return null;
  if (state.kind === 'file') return { sha256: state.digest, size: state.size, mode: state.mode };
  if (state.kind === 'folder') return { sha256: null, size: 0, mode: state.mode, type: 'directory' };
  return { sha256: null, size: state.target.length, mode: 0o777, type: 'symlink' };
}

function reversed(
  staged: readonly StagedChange[],
  bytes: (digest: string) => Uint8Array | undefined,
): readonly StagedChange[] {
  return staged.map(({ path, before, after }) => {
    const content = before.kind === 'file' ? bytes(before.digest) : undefined;
    return { path, before: after, after: before, ...(content === undefined ? {} : { source: { bytes: content } }) };
  });
}

function mayOnlyRead(): Error {
  return policyDenial('This call may only read', {
    details: { gate: 'workspace', next: 'declare side_effect_level workspace_write in the annotations of the tool' },
  });
}
