/**
 * What the lock says about a tool on this machine, and whether the registry says the same.
 *
 * A lock that lies in the workspace came with the repository and counts only while the operator trusts its content.
 * Running without an entry is possible where the operator allows it by name, never in CI.
 */
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import {
  type ExternalToolSettings,
  LOCK_FILE,
  type LockedPlatform,
  type LockedTool,
} from '../../contracts/external.ts';
import type { ToolSourcePorts } from '../../contracts/tool-source.ts';
import { readOperatorFile } from '../../platform/descriptors/file-content.ts';
import { sha256Hex } from '../../platform/digest.ts';
import { EXTERNAL_LIMITS } from '../protocol/protocol-constants.ts';
import { type RefusalCode, runRefusal } from '../protocol/run-status.ts';
import type { HostEnvironment } from '../protocol/tool-environment.ts';
import { parseLockFile } from './lock-file.ts';

export interface Pin {
  readonly tool: LockedTool;
  readonly platform: LockedPlatform;
}

export interface PinSetting {
  readonly lock: ToolSourcePorts['lock'];
  readonly environment: HostEnvironment;
  /** `linux/amd64`. */
  readonly platform: string;
}

/** Undefined: the tool may run unpinned. Throws a refusal otherwise. */
export function findPin(settings: ExternalToolSettings, setting: PinSetting): Pin | undefined {
  const { name } = settings;
  const text = readLock(setting.lock);
  if (text === undefined) {
    return unpinned(settings, setting, ['LOCKFILE_ERROR', `Lock file not found: ${LOCK_FILE}`]);
  }
  const lock = parsedLock(text, setting.lock);
  const tool = Object.hasOwn(lock.tools, name) ? lock.tools[name] : undefined;
  if (tool === undefined) return unpinned(settings, setting, ['NOT_IN_LOCKFILE', `Tool is not in the lock: ${name}`]);
  const platform = Object.hasOwn(tool.platforms, setting.platform) ? tool.platforms[setting.platform] : undefined;
  if (platform !== undefined) return { tool, platform };
  const message = `Lock has no digest for this platform: ${name} on ${setting.platform}`;
  return unpinned(settings, setting, ['PLATFORM_NOT_IN_LOCKFILE', message]);
}

function readLock({ path }: PinSetting['lock']): string | undefined {
  try {
    return readOperatorFile(path, { maxBytes: EXTERNAL_LIMITS.lockBytes });
  } catch (thrown) {
    if (isToolError(thrown) && thrown.details['reason'] === 'ENOENT') return undefined;
    throw unusable('Lock file cannot be read', 'unreadable_lock', thrown);
  }
}

function parsedLock(text: string, { isTrusted }: PinSetting['lock']) {
  if (!isTrusted(sha256Hex(text))) {
    throw runRefusal('LOCKFILE_ERROR', {
      message: `Lock of the workspace is not trusted: ${LOCK_FILE}`,
      reason: 'lock_not_trusted',
      next: 'review it, then run: tool-runtime trust',
    });
  }
  try {
    return parseLockFile(text);
  } catch (thrown) {
    throw unusable(isToolError(thrown) ? thrown.message : 'Lock file is not valid', 'invalid_lock', thrown);
  }
}

function unusable(message: string, reason: string, cause: unknown): ToolError {
  return runRefusal('LOCKFILE_ERROR', { message, reason, next: 'lock the tools again: tool-runtime lock', cause });
}

function unpinned(
  { name, allow_unpinned: isAllowed }: ExternalToolSettings,
  { environment }: PinSetting,
  [code, message]: readonly [RefusalCode, string],
): undefined {
  const isCi = !['', '0', 'false'].includes(environment['CI'] ?? '');
  if (isAllowed && !isCi) return undefined;
  throw runRefusal(code, {
    message,
    reason: isAllowed ? 'unpinned_in_ci' : 'not_pinned',
    next: isAllowed ? `lock it: unpinned tools do not run in CI (${name})` : `lock it: tool-runtime lock ${name}`,
  });
}

/** The registry, the lock and the signer must mean the same source. Throws a refusal. */
export function checkSource({ name, source }: ExternalToolSettings, { tool }: Pin): void {
  if (source !== undefined && source !== tool.source) {
    throw misaligned(`Source in the registry is not the one that was locked: ${name}`, 'source_mismatch');
  }
  const repository = tool.signer?.source_repository_uri;
  const said = source ?? tool.source;
  if (repository !== undefined && said !== undefined && repositoryOf(repository) !== repositoryOf(said)) {
    throw misaligned(`Signer's repository is not the source: ${name}`, 'signer_mismatch');
  }
}

function misaligned(message: string, reason: string): ToolError {
  return runRefusal('VERIFICATION_FAILED', {
    message,
    reason,
    next: 'fix the source in the registry, or lock the tool again after reviewing where it comes from',
  });
}

/** `owner/name@v1`, `github.com/owner/name` and `https://github.com/owner/name.git` are one repository. */
function repositoryOf(text: string): string {
  const bare = text
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
    .replace(/@[^/]*$/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
  return bare.split('/').length === 2 && !bare.split('/')[0]?.includes('.') ? `github.com/${bare}` : bare;
}
