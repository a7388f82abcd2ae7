/** Pins several tools, one after the other, on top of a lock; says for each what that changes. */
import { isToolError } from '@tool-runtime/protocol';
import type { ExternalToolSettings, LockFile } from '../contracts/external.ts';
import type { GoverningPlace } from '../contracts/governing.ts';
import type { Registry } from '../contracts/registry.ts';
import { packageVersion } from '../platform/package-folder.ts';
import { type LockChange, lockChange, platformKey } from './lock/lock-file.ts';
import { type LockMetadata, type LockRequest, type LockSetting, makeLock } from './lock/make-lock.ts';
import { createSandboxes } from './open-external-tools.ts';
import { copiesFolder } from './run/external-ports.ts';

export interface LockToolsSetting {
  /** Real paths of the state folder and the workspace. */
  readonly state: string;
  readonly root: string;
  readonly governing: readonly GoverningPlace[];
  /** Of the lock. */
  readonly path: string;
  readonly existing: LockFile | undefined;
  readonly registry: Registry;
  readonly metadata?: Readonly<Record<string, LockMetadata>>;
  /** A program that is not there is told like any other difference. */
  readonly check?: boolean;
  readonly signal?: AbortSignal;
}

export interface LockedTools {
  readonly lock: LockFile;
  readonly changes: readonly LockChange[];
}

/** Throws refusals for a program that is not there or cannot be copied. */
export async function lockTools(
  tools: readonly ExternalToolSettings[],
  setting: LockToolsSetting,
): Promise<LockedTools> {
  const sandboxes = createSandboxes({ workspace: setting.root, state: setting.state, governing: setting.governing });
  const changes: LockChange[] = [];
  let lock: LockFile = setting.existing ?? { schema_version: 1, tools: {} };
  try {
    for (const settings of tools) {
      const programs = sandboxes.programsFor(settings, setting.registry);
      const metadata = setting.metadata?.[settings.name];
      const step = await lockTool(
        { settings, metadata, existing: lock },
        { ...makeSetting(setting), programs },
        setting,
      );
      changes.push(step.change);
      lock = step.lock;
    }
  } finally {
    await sandboxes.close();
  }
  return { lock, changes };
}

function makeSetting({ path, state, signal }: LockToolsSetting): Omit<LockSetting, 'programs'> {
  return {
    lockPath: path,
    base: copiesFolder(state),
    environment: process.env,
    wrapperVersion: packageVersion(),
    nowMs: Date.now(),
    signal: signal ?? new AbortController().signal,
  };
}

/** What has not changed stays as it is, also when it was locked. */
async function lockTool(
  request: LockRequest & { readonly existing: LockFile },
  setting: LockSetting,
  { check }: Pick<LockToolsSetting, 'check'>,
): Promise<{ readonly lock: LockFile; readonly change: LockChange }> {
  const { settings, existing: before } = request;
  const place = { tool: settings.name, platform: platformKey(process) };
  try {
    const after = await makeLock(request, setting);
    const change = lockChange({ ...place, before, after });
    return { change, lock: change.change === 'unchanged' ? before : after };
  } catch (thrown) {
    if (check !== true || !isToolError(thrown) || thrown.details['run_code'] !== 'COMPONENT_NOT_FOUND') throw thrown;
    return { change: { ...place, digest: '', change: 'not_found', fields: [] }, lock: before };
  }
}
