/**
 * Transactions as one call may use them.
 *
 * A commit is checked on the tree of the transaction before anything of it is real: the rules of the after phase judge what
 * each tool changed, the rules of the commit phase judge the whole, and the registry's commands run on a copy-on-write view
 * that is dropped afterwards. Then everything becomes real through the one commit of the workspace, or nothing does.
 */
import { isToolError, type JsonObject, ToolError } from '@tool-runtime/protocol';
import type { StagedChange } from '../../changes/change-set.ts';
import type { AstIndex } from '../../contracts/ast.ts';
import type { CommandRunner, StagedTree } from '../../contracts/commands.ts';
import type { CommittedTransaction, Transactions } from '../../contracts/transactions.ts';
import type { FileChange } from '../../contracts/workspace.ts';
import { readCommand } from '../../shell/read-command.ts';
import { stagedChangeSet } from '../../validation/staged-change-set.ts';
import type { GatedCall } from '../state/call-types.ts';
import type { ChangeLog, Grant } from '../state/change-log.ts';
import { endingWith } from '../state/git-view.ts';
import { runRules } from '../state/run-rules.ts';
import type { ClosingTransaction, SessionParts, TransactionPlan } from '../state/session-parts.ts';
import { settle } from '../state/settle.ts';
import { changeOf } from './change-history.ts';

const MAX_OUTPUT_BYTES = 64 * 1024;
const TAIL_CHARACTERS = 4096;
/** A rule that runs the same command makes it a check already. */
const RULE_OF_CHECK: Readonly<Record<string, string>> = {
  build: 'build.must.pass',
  lint: 'lint.must.pass',
  fmt: 'fmt.must.pass',
};

export function transactionsFor(
  call: GatedCall,
  held: { readonly log: ChangeLog; readonly grant: Grant },
  parts: SessionParts,
): Transactions {
  const { transactions } = parts;
  return {
    begin: () => held.grant.use(() => transactions.begin(call.open.signal())),
    list: () => transactions.list(),
    async commit(tx_id) {
      const closing = await transactions.take(tx_id, call.open.signal());
      const done = await settle(() => commitTransaction(call, closing, { ...held, parts }));
      if (!done.ok) {
        closing.reopen();
        throw done.error;
      }
      // It is real: what is left behind is swept later and changes nothing of that.
      const ended = await settle(() => closing.end('committed'));
      if (!ended.ok) parts.reportUnexpected(ended.error);
      return done.value;
    },
    async abort(tx_id) {
      const expired = transactions.forget(tx_id);
      if (expired !== undefined) return { tx_id: expired, paths: [] };
      const closing = await transactions.take(tx_id, call.open.signal());
      await closing.end('aborted');
      return { tx_id: closing.id, paths: closing.paths };
    },
  };
}

interface Setting {
  readonly log: ChangeLog;
  readonly grant: Grant;
  readonly parts: SessionParts;
}

async function commitTransaction(
  call: GatedCall,
  closing: ClosingTransaction,
  { log, grant, parts }: Setting,
): Promise<CommittedTransaction> {
  const signal = call.open.signal();
  const plan = await closing.plan({ signal, mayShow: (path) => mayRead(call, path) });
  const { staged } = plan;
  const { inner, commit } = call.open.sets();
  const files = staged.map(changeOf(inner));
  const checked = await checkStaged(call, closing, { staged, files, parts });
  signal.throwIfAborted();
  const rule = call.pathRule === undefined ? {} : { rule: call.pathRule };
  await grant.use(() => commit(staged, rule));
  log.judged(closing.id, files.filter(isNoFolder), staged);
  return { ...committedOf(closing.id, plan, inner), checked };
}

export function committedOf(
  tx_id: string,
  { staged, merged }: TransactionPlan,
  inner: (path: string) => string | undefined,
): Omit<CommittedTransaction, 'checked'> {
  return {
    tx_id,
    paths: staged.map(({ path, before, after }) => ({ path: inner(path) ?? path, before, after })),
    merged: merged.map((path) => inner(path) ?? path),
  };
}

function isNoFolder({ before, after }: FileChange): boolean {
  return before?.type !== 'directory' && after?.type !== 'directory';
}

export function mayRead({ workspace }: Pick<GatedCall, 'workspace'>, path: string): boolean {
  try {
    workspace.requireAllowed(path.toWellFormed(), 'read', 'themselves');
    return true;
  } catch (thrown) {
    if (isToolError(thrown)) return false;
    throw thrown;
  }
}

interface Staged {
  readonly staged: readonly StagedChange[];
  readonly files: readonly FileChange[];
  readonly parts: SessionParts;
}

/** Throws what blocks the commit. Answers the names of the commands that passed. */
async function checkStaged(
  call: GatedCall,
  closing: ClosingTransaction,
  { staged, files, parts }: Staged,
): Promise<readonly string[]> {
  if (staged.length === 0) return [];
  const { transaction } = closing.parts;
  if (transaction === undefined || transaction instanceof ToolError) return [];
  const cover = coverOf(transaction.tree);
  const commands: CommandRunner = {
    start: async (request) => parts.programs.commands.start({ ...request, tree: await cover.open() }),
  };
  const checking: SessionParts = {
    ...closing.parts,
    rules: parts.rules,
    ast: comparing(closing.parts.ast, parts.ast),
    programs: { ...parts.programs, commands: { ...parts.programs.commands, ...commands } },
  };
  try {
    await judgeByTool(call, closing, { staged, files, parts: checking });
    await judgeWhole(call, files, { checking, parts });
    return await runChecks(call, commands, parts);
  } finally {
    await cover.release();
  }
}

async function judgeByTool(
  call: GatedCall,
  { subjects }: ClosingTransaction,
  { staged, files, parts }: Staged,
): Promise<void> {
  for (const { subject, paths } of subjects) {
    const changes = files.filter((file, at) => paths.has(staged[at]?.path ?? '') && isNoFolder(file));
    if (changes.length > 0) await runRules('after', call.open, { ...subject, changes }, parts);
  }
}

async function judgeWhole(
  call: GatedCall,
  changes: readonly FileChange[],
  { checking, parts }: { readonly checking: SessionParts; readonly parts: SessionParts },
): Promise<void> {
  const subject = { ...call.subject, changes, git: { verb: 'commit' as const } };
  const source = {
    changes,
    staged: checking.readOnlyWorkspace,
    real: parts.readOnlyWorkspace,
    git: endingWith(parts.programs.git, call.open.signal),
    signal: call.open.signal(),
  };
  let set: ReturnType<typeof stagedChangeSet> | undefined;
  await runRules('on-commit', call.open, subject, checking, () => {
    set ??= stagedChangeSet(source);
    return set;
  });
}

/** A change is measured by the whole transaction and not by its last step. */
function comparing(staged: AstIndex | undefined, real: AstIndex | undefined): AstIndex | undefined {
  if (staged === undefined) return undefined;
  return {
    ...staged,
    async parseProblems(path, signal, { isNew = false } = {}) {
      const now = await staged.parseProblems(path, signal, { isNew: true });
      if (now.length === 0 || isNew || real === undefined) return now;
      const before = await real.parseProblems(path, signal, { isNew: true });
      return now.length > before.length ? now : [];
    },
  };
}

async function runChecks(call: GatedCall, commands: CommandRunner, parts: SessionParts): Promise<readonly string[]> {
  const { registry, redactor } = parts;
  const names = checksOf(parts);
  for (const name of names) {
    const command = registry.commands[name] ?? '';
    const running = await commands.start({
      list: readCommand(command),
      ...{ cwd: '.', env: {}, stdin: null, network: false, maxOutputBytes: MAX_OUTPUT_BYTES },
      filter: () => redactor.known.stream(call.open.masks),
      signal: call.open.signal(),
    });
    const { code, signal, stdout, stderr } = await running.done;
    call.open.signal().throwIfAborted();
    if (code !== 0)
      throw checkFailed(name, { command, exit_code: code, signal, ...outputOf(stdout.text, stderr.text) });
  }
  return names;
}

/** Commands that must pass before a commit. */
export function checksOf({ registry }: Pick<SessionParts, 'registry'>): readonly string[] {
  return registry.changes.tx_checks.filter(
    (name) => registry.commands[name] !== undefined && !registry.validators.has(RULE_OF_CHECK[name] ?? ''),
  );
}

/** The same, and those that rules run. */
export function commandsOfCommit(parts: Pick<SessionParts, 'registry'>): readonly string[] {
  const { validators } = parts.registry;
  const ofRules = Object.keys(RULE_OF_CHECK).filter(
    (name) => validators.get(RULE_OF_CHECK[name] ?? '')?.enforcement === 'blocking',
  );
  return [...checksOf(parts), ...ofRules];
}

function outputOf(stdout: string, stderr: string): JsonObject {
  return { stdout: stdout.slice(-TAIL_CHARACTERS), stderr: stderr.slice(-TAIL_CHARACTERS) };
}

function checkFailed(name: string, facts: JsonObject): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Command fails on the staged tree: commands.${name}`, {
    details: {
      gate: 'transaction',
      reason: 'check_failed',
      check: name,
      ...facts,
      next: 'nothing was committed; fix what it reports in the transaction and tx_commit again, or tx_abort',
    },
  });
}

/** Made with the first command. */
function coverOf(tree: StagedTree): { open(): Promise<StagedTree>; release(): Promise<void> } {
  let made: Promise<StagedTree> | undefined;
  return {
    open() {
      made ??= tree.cover();
      return made;
    },
    release: async () => (await made?.catch(() => undefined))?.release(),
  };
}
