/**
 * One transaction: its tree, and what is known of every path that it changed.
 *
 * The base of a path is what the workspace held when the transaction first changed it. At the end the base is compared with
 * what the workspace holds then: others' changes of other lines are merged on the tree, everything else is a conflict.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { JoinedTransaction, PlanOptions, SessionParts, TransactionPlan } from '../call/state/session-parts.ts';
import {
  ABSENT,
  type PathChange,
  type PathState,
  type StagedChange,
  sameState,
  type WorkspaceChanges,
} from '../changes/change-set.ts';
import type { StagedEffects, StagedTree } from '../contracts/commands.ts';
import type { RuleSubject } from '../contracts/rule.ts';
import { sha256Hex } from '../platform/digest.ts';
import { fromOutermost } from '../policy/declared-paths.ts';
import { lineDiff, mergeLines } from '../text/line-diff.ts';

/** Larger files are not merged. */
const MAX_MERGED_BYTES = 1024 * 1024;
const MAX_ROUNDS = 3;
const MAX_NAMED = 20;
const MAX_DIFFS = 5;
const MAX_DIFF_CHARACTERS = 8 * 1024;

interface Clash {
  readonly path: string;
  /** Undefined: it is not known what the transaction has seen. */
  readonly base: PathState | undefined;
  readonly staged: PathState;
  readonly now: PathState;
}

export interface TransactionGround {
  readonly id: string;
  readonly at: number;
  readonly tree: StagedTree;
  readonly refused: ReadonlySet<string>;
  /** The session's own. */
  readonly real: SessionParts;
  /** With the files of the tree. */
  readonly staged: Pick<SessionParts, 'changes'>;
}

export class StagedTransaction implements JoinedTransaction {
  readonly id: string;
  readonly tree: StagedTree;
  readonly refused: ReadonlySet<string>;
  readonly #ground: TransactionGround;
  /** The files of the workspace, with the content that bases had; and those of the tree. */
  readonly #real: WorkspaceChanges;
  readonly #staged: WorkspaceChanges;
  /** By path of change sets. Undefined: not known. */
  readonly #bases = new Map<string, PathState | undefined>();
  readonly #current = new Map<string, PathState>();
  /** The last call of each tool that changed a path, by tool and path: rules look at its arguments. */
  readonly #subjects = new Map<string, { readonly subject: RuleSubject; readonly path: string }>();
  /** Others changed them too, in other lines. */
  readonly #merged = new Set<string>();
  /** A command wrote where it must not: what it wrote cannot be taken apart, so nothing of it becomes real. */
  #spoiled: ToolError | undefined;

  constructor(ground: TransactionGround) {
    this.id = ground.id;
    this.tree = ground.tree;
    this.refused = ground.refused;
    this.#ground = ground;
    this.#real = ground.real.changes.forCall();
    this.#staged = ground.staged.changes.forCall();
  }

  get subjects(): readonly { readonly subject: RuleSubject; readonly paths: ReadonlySet<string> }[] {
    const bySubject = new Map<RuleSubject, Set<string>>();
    for (const { subject, path } of this.#subjects.values()) {
      const paths = bySubject.get(subject) ?? new Set();
      bySubject.set(subject, paths.add(path));
    }
    return [...bySubject].map(([subject, paths]) => ({ subject, paths }));
  }

  /** What it changed so far. */
  get paths(): readonly PathChange[] {
    return [...this.#current].map(([path, after]) => ({ path, before: this.#bases.get(path) ?? ABSENT, after }));
  }

  get known(): ReadonlySet<string> {
    const { inner } = this.#real;
    return new Set([...this.#bases].flatMap(([path, base]) => (base === undefined ? [] : [inner(path) ?? path])));
  }

  note(subject: RuleSubject, paths: readonly PathChange[], bytes: (digest: string) => Uint8Array | undefined): void {
    for (const { path, before, after } of paths) {
      if (!this.#bases.has(path)) {
        this.#bases.set(path, before);
        const content = before.kind === 'file' && before.size <= MAX_MERGED_BYTES ? bytes(before.digest) : undefined;
        if (before.kind === 'file' && content !== undefined) this.#real.store.keepBytes(before.digest, content);
      }
      this.#current.set(path, after);
      this.#subjects.set(`${subject.tool} ${path}`, { subject, path });
    }
  }

  async noteEffects(
    { changes, conflicts }: StagedEffects,
    mayChange: (change: PathChange) => void,
  ): Promise<readonly PathChange[]> {
    const outer = changes.map((change) => this.#outer(change));
    const isUnknown = new Set(conflicts);
    const fresh: PathChange[] = [];
    for (const [at, { path, before, after }] of outer.entries()) {
      const last = this.#current.get(path) ?? before;
      if (sameState(last, after)) continue;
      fresh.push({ path, before: last, after });
      if (this.#bases.has(path)) continue;
      this.#bases.set(path, isUnknown.has(changes[at]?.path ?? '') ? undefined : before);
      await this.#keepBase(path, before);
    }
    for (const path of conflicts) {
      const own = this.#outerPath(path);
      if (!this.#bases.has(own)) this.#bases.set(own, undefined);
    }
    try {
      for (const change of fresh) mayChange(change);
    } catch (thrown) {
      if (thrown instanceof ToolError) this.#spoiled ??= thrown;
      throw thrown;
    }
    return fresh;
  }

  async plan({ signal, mayShow }: PlanOptions): Promise<TransactionPlan> {
    if (this.#spoiled !== undefined) throw spoiled(this.id, this.#spoiled);
    for (let round = 1; ; round++) {
      const found = await this.#compare(signal);
      if (found.clashes.length > 0) throw await this.#conflict(found.clashes, mayShow);
      if (found.merges.length === 0) return { staged: found.staged, merged: [...this.#merged].sort() };
      if (round === MAX_ROUNDS) throw busy(found.merges.map(({ path }) => path));
      await this.#staged.commit(found.merges);
      for (const { path, after } of found.merges) {
        this.#merged.add(path);
        this.#current.set(path, after);
      }
      for (const [path, now] of found.bases) this.#bases.set(path, now);
    }
  }

  async #compare(signal: AbortSignal) {
    const { changes, conflicts } = await this.tree.collect(this.known, signal);
    const isUnknown = new Set(conflicts.map((path) => this.#outerPath(path)));
    const staged: StagedChange[] = [];
    const merges: StagedChange[] = [];
    const clashes: Clash[] = [];
    const bases = new Map<string, PathState>();
    for (const change of changes.map((one) => this.#outer(one))) {
      const { path, before: now, after } = change;
      isUnknown.delete(path);
      const base = this.#baseOf(path, now, conflicts);
      if (base !== undefined && sameState(base, now)) staged.push(change);
      else if (base !== undefined && sameState(base, after)) continue;
      else if (now.kind === 'folder' && after.kind === 'folder') continue;
      else {
        const merge = base && (await this.#merge(path, { base, now, after }));
        if (merge === undefined) clashes.push({ path, base, staged: after, now });
        else {
          merges.push({ path, before: after, ...merge });
          bases.set(path, now);
        }
      }
    }
    for (const path of isUnknown) {
      if (!this.#bases.has(path) || this.#bases.get(path) !== undefined) continue;
      clashes.push({ path, base: undefined, staged: this.#current.get(path) ?? ABSENT, now: ABSENT });
    }
    return { staged, merges, clashes, bases };
  }

  #baseOf(path: string, now: PathState, conflicts: readonly string[]): PathState | undefined {
    if (this.#bases.has(path)) return this.#bases.get(path);
    return conflicts.some((one) => this.#outerPath(one) === path) ? undefined : now;
  }

  /** Undefined when both changed the same lines, or something that has none. */
  async #merge(
    path: string,
    { base, now, after }: { readonly base: PathState; readonly now: PathState; readonly after: PathState },
  ): Promise<Pick<StagedChange, 'after' | 'source'> | undefined> {
    if (base.kind !== 'file' || now.kind !== 'file' || after.kind !== 'file') return undefined;
    const isModeClash = base.mode !== now.mode && base.mode !== after.mode && now.mode !== after.mode;
    if (isModeClash) return undefined;
    const mode = base.mode === after.mode ? now.mode : after.mode;
    const [old, theirs, ours] = [
      this.#real.store.bytes(base.digest),
      await this.#real.read(path, now.digest),
      await this.#staged.read(path, after.digest),
    ];
    const bytes = base.digest === after.digest ? theirs : old && theirs && ours && mergeLines(old, ours, theirs);
    if (bytes === undefined) return undefined;
    return { after: { kind: 'file', digest: sha256Hex(bytes), size: bytes.length, mode }, source: { bytes } };
  }

  /** What a command replaced is still in the workspace. */
  async #keepBase(path: string, before: PathState): Promise<void> {
    if (before.kind !== 'file' || before.size > MAX_MERGED_BYTES) return;
    const bytes = await this.#real.read(path, before.digest);
    if (bytes !== undefined) this.#real.store.keepBytes(before.digest, bytes);
  }

  async #conflict(clashes: readonly Clash[], mayShow: PlanOptions['mayShow']): Promise<ToolError> {
    const [first] = clashes;
    const shown = clashes.slice(0, MAX_NAMED).map(({ path }) => (this.#real.inner(path) ?? path).toWellFormed());
    const conflicts = [];
    for (const clash of clashes.slice(0, MAX_DIFFS)) {
      if (mayShow(this.#real.inner(clash.path) ?? clash.path)) conflicts.push(await this.#diffs(clash));
    }
    const others = [...new Set(clashes.flatMap(({ path }) => this.#laterSet(path) ?? []))];
    const by = others.length === 0 ? 'outside of the tools' : `by ${others.join(', ')}`;
    return new ToolError(
      'E_FILE_IO',
      `${shown[0]} was changed in transaction ${this.id} and ${by} in the same place, so nothing was committed`,
      {
        path: shown[0] ?? '',
        details: {
          reason: 'conflict',
          tx_id: this.id,
          ...(others.length === 0 ? {} : { change_ids: others }),
          paths: shown,
          total: clashes.length,
          conflicts,
          next:
            first?.base === undefined
              ? 'tx_abort, and make the changes again on the current files'
              : 'tx_abort, read the files as they are now, and make the changes again',
        },
      },
    );
  }

  async #diffs({ path, base, staged, now }: Clash) {
    const old = base && textOf(base, base.kind === 'file' ? this.#real.store.bytes(base.digest) : undefined);
    const ours = textOf(staged, staged.kind === 'file' ? await this.#staged.read(path, staged.digest) : undefined);
    const theirs = textOf(now, now.kind === 'file' ? await this.#real.read(path, now.digest) : undefined);
    return {
      path: (this.#real.inner(path) ?? path).toWellFormed(),
      transaction: diffOf(old ?? theirs, ours),
      others: old === undefined ? '(not known: it was changed before the transaction changed it)' : diffOf(old, theirs),
    };
  }

  /** The newest change set of others that has the path. */
  #laterSet(path: string): string | undefined {
    const { at } = this.#ground;
    return this.#real.store
      .list({ status: 'applied', limit: 1000 })
      .find((set) => set.at >= at && set.paths.some((change) => change.path === path))?.change_id;
  }

  #outer<Change extends PathChange>(change: Change): Change {
    return { ...change, path: this.#outerPath(change.path) };
  }

  #outerPath(path: string): string {
    return fromOutermost(this.#ground.real.folderPrefix, path);
  }
}

/** Undefined for what cannot be shown as lines. */
function textOf(state: PathState, bytes: Uint8Array | undefined): string | undefined {
  if (state.kind === 'link') return `link to ${state.target}\n`;
  if (state.kind !== 'file') return state.kind === 'folder' ? 'folder\n' : '';
  return bytes === undefined || bytes.includes(0) ? undefined : Buffer.from(bytes).toString('utf8');
}

function diffOf(from: string | undefined, to: string | undefined): string {
  if (from === undefined || to === undefined) return '(binary or large)';
  const diff = lineDiff(from, to).toWellFormed();
  return diff.length > MAX_DIFF_CHARACTERS ? `${diff.slice(0, MAX_DIFF_CHARACTERS)}\n… cut` : diff;
}

function spoiled(id: string, cause: ToolError): ToolError {
  return new ToolError('E_POLICY', `Transaction ${id} cannot be committed: ${cause.message}`, {
    ...(cause.path === undefined ? {} : { path: cause.path }),
    details: { ...cause.details, reason: 'transaction_spoiled', next: 'tx_abort; a command wrote where it may not' },
    cause,
  });
}

function busy(paths: readonly string[]): ToolError {
  return new ToolError('E_FILE_IO', `Others go on changing files of the transaction: ${paths[0]}`, {
    path: paths[0] ?? '',
    details: { reason: 'conflict', paths: paths.slice(0, MAX_NAMED), next: 'tx_commit again' },
  });
}
