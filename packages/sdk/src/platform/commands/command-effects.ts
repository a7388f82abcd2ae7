/**
 * Commands on an overlay: what one wrote is collected when it has ended, and applied or kept as its caller asked.
 *
 * Nothing is half applied. A command that was stopped, that wrote more than can be recorded, or that changed what someone
 * else changed meanwhile leaves the workspace as it is.
 */
import { closeSync } from 'node:fs';
import { relative } from 'node:path';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type {
  CommandEffects,
  CommandOutcome,
  CommandRequest,
  EffectsKeeper,
  HeldWorkspace,
  ProtectedPath,
  RunningCommand,
  SharedNetwork,
} from '../../contracts/commands.ts';
import { collectUpper } from '../overlay/collect-upper.ts';
import { createOverlays, type MountedOverlay, noOverlay, type OverlayOptions } from '../overlay/overlay-mounts.ts';

export interface OverlayRun {
  readonly overlay: MountedOverlay;
  /** Takes over the overlay. */
  follow(running: RunningCommand, protectedPaths: readonly ProtectedPath[]): RunningCommand;
}

export interface CommandOverlays {
  /** Undefined: it runs directly. A string says why, although it was to be recorded. Throws E_POLICY for a preview. */
  open(request: CommandRequest, network: SharedNetwork | undefined): Promise<OverlayRun | string | undefined>;
  close(): Promise<void>;
}

/** Without options there are no overlays. */
export function createCommandOverlays(options: OverlayOptions | undefined): CommandOverlays {
  const overlays = options && createOverlays(options);
  return {
    async open(request, network) {
      const { effects: mode, keeper, signal } = request;
      if (keeper === undefined || mode === undefined || mode === 'direct') return undefined;
      try {
        if (options === undefined || overlays === undefined)
          throw noOverlay('commands have no sandbox here (isolation: none)');
        const overlay = await overlays.mount(network);
        const run = { overlay, mode, keeper, workspace: options.workspace, signal };
        return { overlay, follow: (running, paths) => follow(running, { ...run, paths }) };
      } catch (thrown) {
        if (mode === 'preview' || !isToolError(thrown)) throw thrown;
        return thrown.message;
      }
    },
    close: async () => overlays?.close(),
  };
}

interface Run {
  readonly overlay: MountedOverlay;
  readonly mode: CommandEffects['mode'];
  readonly keeper: EffectsKeeper;
  readonly workspace: HeldWorkspace;
  readonly paths: readonly ProtectedPath[];
  readonly signal: AbortSignal | undefined;
}

function follow(running: RunningCommand, run: Run): RunningCommand {
  const stop = new AbortController();
  const signal = run.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, run.signal]);
  const done = running.done
    .then(async (outcome) => {
      if (signal.aborted) return outcome;
      return { ...outcome, effects: await settleEffects({ ...run, signal }, outcome) };
    })
    .finally(() => run.overlay.release());
  return wrapped(running, done, () => stop.abort());
}

/** A command that was to be recorded and ran directly. */
export function withProblem(running: RunningCommand, effectsProblem: string): RunningCommand {
  return wrapped(
    running,
    running.done.then((outcome) => ({ ...outcome, effectsProblem })),
  );
}

function wrapped(running: RunningCommand, done: Promise<CommandOutcome>, onStop?: () => void): RunningCommand {
  // Whoever only stops a command never looks at its outcome.
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
  try {
    const protectedNames = namesBelow(workspace.path, run.paths);
    const collected = await collectUpper({
      upper: overlay.upper,
      lower,
      native: overlay.native,
      sinceNs: overlay.sinceNs,
      protectedNames,
      signal,
    });
    if (collected.conflicts.length > 0) throw conflict(collected.conflicts, outcome);
    const { changes, leftOut } = collected;
    const facts = { mode, changes: changes.map(({ path, before, after }) => ({ path, before, after })), leftOut };
    if (changes.length === 0) return facts;
    if (mode === 'preview') return { ...facts, ...(await keeper.hold(changes)) };
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

function conflict(paths: readonly string[], { code, stdout, stderr }: CommandOutcome): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Changed while the command ran: ${paths[0]}`, {
    details: {
      reason: 'changed_meanwhile',
      paths: paths.slice(0, MAX_NAMED),
      total: paths.length,
      code,
      stdout: stdout.text,
      stderr: stderr.text,
      next: 'nothing of the command was applied; run it again',
    },
  });
}
