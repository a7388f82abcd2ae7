/** What one call did to files, path by path, for people who look at the call afterwards. Known secrets are masked. */
import type { CallChange } from '@tool-runtime/protocol';
import type { PathState, SessionChanges, WorkspaceChanges } from './changes/change-set.ts';
import type { Redactor } from './redaction/redactor.ts';
import { decodeText } from './text/encoding.ts';
import { lineDiff } from './text/line-diff.ts';

const MAX_PATHS = 200;
const MAX_DIFF_CHARS = 200_000;
/** Change sets of the session that are looked through; older ones are found with `change_list`. */
const MAX_SETS = 5000;

interface Place {
  readonly changes: SessionChanges;
  readonly redactor: Redactor;
  readonly sessionId: string;
  readonly callId: string;
}

export async function changeOfCall({ changes, redactor, sessionId, callId }: Place): Promise<CallChange | undefined> {
  const sets = changes.store.list({ session_id: sessionId, limit: MAX_SETS });
  const set = sets.find(({ call_id }) => call_id === callId);
  if (set === undefined) return undefined;
  const files = changes.forCall();
  const paths: CallChange['paths'][number][] = [];
  let left = MAX_DIFF_CHARS;
  for (const { path, before, after } of set.paths.slice(0, MAX_PATHS)) {
    const [old, now] = left > 0 ? [await textOf(before, path, files), await textOf(after, path, files)] : [];
    const diff = old === undefined || now === undefined ? undefined : redactor.redactText(lineDiff(old, now));
    paths.push({
      path: redactor.redactText(path.toWellFormed()),
      before: before.kind,
      after: after.kind,
      ...(diff === undefined ? {} : { diff: diff.slice(0, left) }),
    });
    left -= diff?.length ?? 0;
  }
  return { change_id: set.change_id, status: set.status, paths, is_cut: left <= 0 || set.paths.length > MAX_PATHS };
}

/** Undefined for what is no text or not kept. A link counts as the text of its target, a folder as nothing. */
async function textOf(state: PathState, path: string, { store, read }: WorkspaceChanges): Promise<string | undefined> {
  if (state.kind === 'link') return `${state.target.toWellFormed()}\n`;
  if (state.kind !== 'file') return '';
  const bytes = store.bytes(state.digest) ?? (await read(path, state.digest));
  return bytes === undefined || bytes.includes(0) ? undefined : decodeText(bytes, 'utf-8');
}
