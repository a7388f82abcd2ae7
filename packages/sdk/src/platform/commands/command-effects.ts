/**
 * Commands on an overlay: what one wrote is collected when it has ended, and applied or kept as its caller asked.
 *
 * Nothing is half applied. A command that was stopped, that wrote more than can be recorded, or that changed what someone
 * else changed meanwhile leaves the workspace as it is.
 */
import { closeSync } from 'node:fs';
import { relative } from 'node:path';
import { isToolError, type JsonObject, ToolError } from '@tool-runtime/protocol';
import type {
  CommandEffects,
  CommandOutcome,
  CommandRequest,
  EffectsKeeper,
  EffectsMode,
  HeldWorkspace,
  ProtectedPath,
  RunningCommand,
  SharedNetwork,
  StagedTree,
  WorkspaceOverlay,
} from '../../contracts/commands.ts';
import { failure } from '../../contracts/failures.ts';
import { collectUpper } from '../overlay/collect-upper.ts';
import { createOverlays, type MountedOverlay, noOverlay, type OverlayOptions } from '../overlay/overlay-mounts.ts';
import { stagedTree } from '../overlay/staged-tree.ts';

export interface OverlayRun {
  readonly overlay: WorkspaceOverlay;
  /** Takes over the overlay. */
  follow(running: RunningCommand, protectedPaths: readonly ProtectedPath[]): RunningCommand;
  /** For a command that did not start. */
  release(): Promise<void>;
}

export interface CommandOverlays {
  /** Undefined: it runs directly. A string says why, although it was to be recorded. Throws E_POLICY for a preview. */
  open(
    request: Pick<CommandRequest, 'effects' | 'keeper' | 'signal' | 'tree'>,
    network: SharedNetwork | undefined,
  ): Promise<OverlayRun | string | undefined>;
  /** For a transaction: an overlay, or a copy of the workspace where overlays do not work. */
  stage(request: StageRequest): Promise<StagedTree>;
  close(): Promise<void>;
}

export interface StageRequest {
  protectedPaths(): readonly ProtectedPath[];
  /** Why the sandbox cannot be used, when that is known. */
  readonly problem: ToolError | undefined;
  /** Where a copy can be made. */
  readonly copies: Pick<OverlayOptions, 'state' | 'workspace'> | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Without options there are no overlays. */
export function createCommandOverlays(options: OverlayOptions | undefined): CommandOverlays {
  const overlays = options && createOverlays(options);
  // Those of transactions stay mounted for long: they never wait for a network that comes or goes.
  const stages = options && createOverlays(options);
  const releases = new Set<Promise<void>>();
  /** No answer waits for it unless it frees space that the record of the call may need; closing does. */
  const release: Run['release'] = (overlay, isLarge) => {
    const releasing = overlay.release().finally(() => releases.delete(releasing));
    releases.add(releasing);
    releasing.catch(() => {});
    return isLarge ? releasing : undefined;
  };
  return {
    async open(request, network) {
      const { effects: mode, keeper, signal, tree } = request;
      if (tree !== undefined) return onTree(tree, request);
      if (keeper === undefined || mode === undefined || mode === 'direct') return undefined;
      try {
        if (options === undefined || overlays === undefined) throw noSandbox();
        const overlay = await overlays.mount(network);
        const run = { overlay, mode, keeper, workspace: options.workspace, signal };
        return {
          overlay,
          release: overlay.release,
          follow: (running, paths) =>
            follow(running, { ...run, paths, release, leaveSlot: () => running.toBackground() }),
        };
      } catch (thrown) {
        if (mode === 'preview' || keeper.ask !== undefined || !isToolError(thrown)) throw thrown;
        return thrown.message;
      }
    },
    async stage({ protectedPaths, problem, copies, signal }) {
      try {
        if (problem !== undefined) throw problem;
        if (options === undefined || stages === undefined) throw noSandbox();
        const { workspace } = options;
        const protectedNames = () => namesBelow(workspace.path, protectedPaths());
        return stagedTree(await stages.mount(), { workspace, protectedNames });
      } catch (thrown) {
        if (copies === undefined || !isToolError(thrown)) throw thrown;
        const protectedNames = () => namesBelow(copies.workspace.path, protectedPaths());
        const { copiedTree } = await import('../overlay/copied-tree.ts');
        return copiedTree({ ...copies, protectedNames, protectedPaths: protectedPaths(), problem: thrown, signal });
      }
    },
    async close() {
      await Promise.allSettled([...releases]);
      await Promise.all([overlays?.close(), stages?.close()]);
    },
  };
}

function noSandbox(): ToolError {
  return noOverlay('commands have no sandbox here (isolation: none)');
}

/** What a command of a transaction wrote stays on the tree, also when it was stopped. */
function onTree(tree: StagedTree, { keeper }: Pick<CommandRequest, 'keeper'>): OverlayRun {
  return {
    overlay: tree,
    release: async () => {},
    follow(running) {
      const done = running.done.then(async (outcome) => {
        if (keeper?.stage === undefined) return outcome;
        const found = await tree.collect(keeper.known ?? new Set());
        const { leftOut } = found;
        return { ...outcome, effects: { mode: 'staged' as const, changes: await keeper.stage(found), leftOut } };
      });
      return wrapped(running, done);
    },
  };
}

interface Run {
  readonly overlay: MountedOverlay;
  readonly mode: Exclude<EffectsMode, 'direct'>;
  readonly keeper: EffectsKeeper;
  readonly workspace: HeldWorkspace;
  readonly paths: readonly ProtectedPath[];
  readonly signal: AbortSignal | undefined;
  release(overlay: MountedOverlay, isLarge: boolean): Promise<void> | undefined;
  /** Gives its place among the running commands to others. */
  leaveSlot(): void;
}

function follow(running: RunningCommand, run: Run): RunningCommand {
  const stop = new AbortController();
  const signal = run.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, run.signal]);
  // What failed may have filled the disk.
  let isLarge = true;
  const done = running.done
    .then(async (outcome) => {
      if (signal.aborted) return stoppedOutcome(outcome, run);
      const effects = await settleEffects({ ...run, signal }, outcome);
      isLarge = bytesOf(effects) > SMALL_BYTES;
      return { ...outcome, effects };
    })
    .finally(() => run.release(run.overlay, isLarge));
  return wrapped(running, done, () => stop.abort());
}

const SMALL_BYTES = 16 * 1024 * 1024;

function bytesOf({ changes }: CommandEffects): number {
  return changes.reduce((sum, { after }) => sum + (after.kind === 'file' ? after.size : 0), 0);
}

/** What it printed belongs to the effects that a person was to be asked about. */
function stoppedOutcome(outcome: CommandOutcome, { keeper }: Run): CommandOutcome {
  if (keeper.ask !== undefined)
    throw failure('cancellation', 'retryable', 'Command was stopped before it was approved');
  return outcome;
}

/** A command that was to be recorded and ran directly. */
export function withProblem(running: RunningCommand, effectsProblem: string): RunningCommand {
  return wrapped(
    running,
    running.done.then((outcome) => ({ ...outcome, effectsProblem })),
  );
}

function wrapped(running: RunningCommand, done: Promise<CommandOutcome>, onStop?: () => void): RunningCommand {
  // A caller that only stops a command never looks at its outcome.
  done.catch(() => {});
  return {
    get pids() {
      return running.pids;
    },
    write: (bytes) => running.write(bytes),
    endInput: () => running.endInput(),
    isListening: (port) => running.isListening(port),
    toBackground: () => running.toBackground(),
    async stop() {
      onStop?.();
      await running.stop();
      await done.catch(() => {});
    },
    done,
  };
}

async function settleEffects(run: Run, outcome: CommandOutcome): Promise<CommandEffects> {
  const { overlay, mode, keeper, workspace, signal } = run;
  const lower = workspace.open();
  // No process is left that uses it, and what it holds is looked at from outside.
  const unmounted = overlay.unmount();
  unmounted.catch(() => {});
  try {
    const protectedNames = namesBelow(workspace.path, run.paths);
    // What it printed belongs to what a person was to be asked about.
    const ran = keeper.ask === undefined ? printed(outcome) : {};
    const collected = await collectUpper({
      upper: overlay.upper,
      lower,
      native: overlay.native,
      sinceNs: overlay.sinceNs,
      protectedNames,
      signal,
    }).catch((thrown: unknown) => {
      throw withDetails(thrown, ran);
    });
    const { changes, leftOut, conflicts } = collected;
    if (conflicts.length > 0) throw conflict(conflicts, ran);
    if (keeper.ask !== undefined) {
      // People are slow: others may run meanwhile.
      run.leaveSlot();
      await keeper.ask({ outcome, changes, leftOut });
    }
    const facts = { mode, changes: changes.map(({ path, before, after }) => ({ path, before, after })), leftOut };
    if (changes.length === 0) return facts;
    if (mode === 'preview') return { ...facts, ...(await keeper.hold(changes)) };
    await unmounted;
    const id = await keeper.apply(changes);
    return { ...facts, ...(id === undefined ? {} : { change_id: id }) };
  } finally {
    closeSync(lower);
  }
}

function namesBelow(workspace: string, paths: readonly ProtectedPath[]): readonly string[] {
  return paths.flatMap(({ path }) => (path.startsWith(`${workspace}/`) ? [relative(workspace, path)] : []));
}

const MAX_NAMED = 20;

function printed({ code, stdout, stderr }: CommandOutcome): JsonObject {
  return { code, stdout: stdout.text, stderr: stderr.text };
}

function withDetails(thrown: unknown, ran: JsonObject): unknown {
  if (!isToolError(thrown)) return thrown;
  const path = thrown.path === undefined ? {} : { path: thrown.path };
  return new ToolError(thrown.code, thrown.message, { ...path, details: { ...thrown.details, ...ran }, cause: thrown });
}

function conflict(paths: readonly string[], ran: JsonObject): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Changed while the command ran: ${paths[0]}`, {
    details: {
      reason: 'changed_meanwhile',
      paths: paths.slice(0, MAX_NAMED),
      total: paths.length,
      ...ran,
      next: 'nothing of the command was applied; run it again',
    },
  });
}
