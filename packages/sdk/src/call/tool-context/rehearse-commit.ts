/**
 * What the commit of a transaction is about to make real, noted before it runs: a retry after a crash finds all of it, or nothing
 * and the transaction gone.
 */
import type { PathChange } from '../../changes/change-set.ts';
import type { ExpectedChange } from '../../contracts/rehearsal.ts';
import type { CommittedTransaction } from '../../contracts/transactions.ts';
import type { JudgedCall } from '../state/call-types.ts';
import type { SessionParts } from '../state/session-parts.ts';
import { readPath } from './read-path.ts';
import { checksOf, committedOf, mayRead } from './transactions-for.ts';

/** Noting more would take longer than the commit; such a one stays unknown when it is lost. */
const MAX_CHANGES = 2000;

interface Setting {
  readonly call: JudgedCall;
  readonly parts: SessionParts;
  expect(change: ExpectedChange): void;
}

/** Throws what the commit would throw before it changes anything, and for what cannot be compared. */
export async function rehearseCommit(
  tx_id: string | undefined,
  { call, parts, expect }: Setting,
): Promise<CommittedTransaction> {
  const signal = call.open.signal();
  const closing = await parts.transactions.take(tx_id, signal);
  try {
    const plan = await closing.plan({ signal, mayShow: (path) => mayRead(call, path) });
    const committed = committedOf(closing.id, plan, call.open.sets().inner);
    const compared = withoutFilledFolders(committed.paths);
    if (compared.length > MAX_CHANGES) throw new TypeError(`Too many changes to compare: ${compared.length}`);
    for (const { path } of compared) {
      if (!path.isWellFormed()) throw new TypeError('A name that is no UTF-8 cannot be compared');
      const [before, after] = [
        await readPath(parts.readOnlyWorkspace, path),
        await readPath(closing.parts.readOnlyWorkspace, path),
      ];
      expect({ subject: `path:${path}`, before: before.exact, after: after.hasLinks ? null : after.content });
    }
    return { ...committed, checked: plan.staged.length === 0 ? [] : checksOf(parts) };
  } finally {
    closing.reopen();
  }
}

/** A folder in which something changes is told by that; read as a whole it would be told by what others do in it, too. */
function withoutFilledFolders(paths: readonly PathChange[]): readonly PathChange[] {
  const filled = new Set<string>();
  for (const { path } of paths) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) filled.add(path.slice(0, at));
  }
  return paths.filter(({ path, before, after }) => {
    const isNoFolder = before.kind !== 'folder' && after.kind !== 'folder';
    return isNoFolder || !filled.has(path);
  });
}
