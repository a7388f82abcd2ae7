/**
 * Pins a tool as it is now on this machine: the digest of its program and files, and the version it says it has.
 *
 * Only one thing is checked: a program that says it is another tool, or speaks another protocol, is not pinned. What is
 * locked is what an operator vouches for; its signer is recorded, not verified.
 */
import type { ExternalToolSettings, LockedPlatform, LockedTool, LockFile } from '../../contracts/external.ts';
import type { ExternalPrograms } from '../../platform/commands/external-process.ts';
import type { SealedCopy } from '../../platform/runs/sealed-copy.ts';
import { formatTimestamp } from '../protocol/digests.ts';
import { probeCapabilities, refuseOther } from '../protocol/probe-capabilities.ts';
import type { HostEnvironment } from '../protocol/tool-environment.ts';
import { ownTool, platformKey } from './lock-file.ts';
import { requireProgram, type SealSetting, sealTool } from './seal-tool.ts';

/** What only the operator knows. */
export type LockMetadata = Pick<LockedTool, 'source' | 'commit' | 'signer' | 'resolved_from'> &
  Pick<LockedPlatform, 'url'>;

export interface LockSetting extends SealSetting {
  readonly programs: ExternalPrograms;
  /** The host's. */
  readonly environment: HostEnvironment;
  readonly wrapperVersion: string;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

export interface LockRequest {
  readonly settings: ExternalToolSettings;
  readonly metadata?: LockMetadata | undefined;
  /** The lock so far: its other tools and platforms are kept. */
  readonly existing: LockFile | undefined;
}

/** Throws refusals for a program that is not there, cannot be copied, or says that it is another tool. */
export async function makeLock(
  { settings, metadata = {}, existing }: LockRequest,
  setting: LockSetting,
): Promise<LockFile> {
  requireProgram(settings, setting);
  const sealed = await sealTool(settings, undefined, setting);
  try {
    const before = ownTool(existing, settings.name);
    const version = (await versionOf(settings, sealed, setting)) ?? before?.version ?? '';
    const key = platformKey(process);
    const platforms = { ...before?.platforms, [key]: pinned(sealed, metadata, before?.platforms[key]) };
    const tool = {
      ...described(settings, metadata, before),
      version,
      locked_at: formatTimestamp(setting.nowMs),
      platforms,
    };
    return { schema_version: 1, tools: { ...existing?.tools, [settings.name]: tool } };
  } finally {
    await sealed.remove();
  }
}

/** An address that is not said anew stays with the program it was for. */
function pinned({ digest, files }: SealedCopy, metadata: LockMetadata, before?: LockedPlatform): LockedPlatform {
  const url = metadata.url ?? (before?.digest === digest ? before.url : undefined);
  return {
    digest,
    ...(Object.keys(files).length === 0 ? {} : { files }),
    ...(url === undefined ? {} : { url }),
  };
}

/** Values given now count; the others stay as they were. */
function described(
  settings: ExternalToolSettings,
  metadata: LockMetadata,
  before: LockedTool | undefined,
): Pick<LockedTool, 'source' | 'commit' | 'signer' | 'resolved_from'> {
  const source = metadata.source ?? settings.source ?? before?.source;
  const commit = metadata.commit ?? before?.commit;
  const signer = metadata.signer ?? before?.signer;
  const resolved = metadata.resolved_from ?? before?.resolved_from;
  return {
    ...(source === undefined ? {} : { source }),
    ...(commit === undefined ? {} : { commit }),
    ...(signer === undefined ? {} : { signer }),
    ...(resolved === undefined ? {} : { resolved_from: resolved }),
  };
}

async function versionOf(
  settings: ExternalToolSettings,
  sealed: SealedCopy,
  { programs, environment: host, wrapperVersion, signal }: LockSetting,
): Promise<string | undefined> {
  const probe = await probeCapabilities({ settings, host, wrapperVersion, sealed, programs, signal });
  refuseOther(probe, settings.name);
  return probe.capabilities?.version;
}
