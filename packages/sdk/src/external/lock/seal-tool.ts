/** The program of a tool as a sealed copy that is what the lock says, or a refusal that reveals only what was expected. */
import { dirname, resolve } from 'node:path';
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import type { ExternalToolSettings } from '../../contracts/external.ts';
import { programExists, type SealedCopy, sealCopy } from '../../platform/runs/sealed-copy.ts';
import { sameDigest } from '../protocol/digests.ts';
import { runRefusal } from '../protocol/run-status.ts';
import type { Pin } from './find-pin.ts';

export interface SealSetting {
  /** The lock's path: programs may be named relative to its folder. */
  readonly lockPath: string;
  /** Where copies are made. */
  readonly base: string;
  readonly signal?: AbortSignal;
}

export function programPath({ command }: ExternalToolSettings, { lockPath }: Pick<SealSetting, 'lockPath'>): string {
  return resolve(dirname(lockPath), command);
}

/** Throws a refusal when there is nothing to run. */
export function requireProgram(settings: ExternalToolSettings, setting: Pick<SealSetting, 'lockPath'>): void {
  if (settings.command === '' || !programExists(programPath(settings, setting))) throw notFound(settings);
}

/** Without a pin nothing is compared. */
export async function sealTool(
  settings: ExternalToolSettings,
  pin: Pin | undefined,
  setting: SealSetting,
): Promise<SealedCopy> {
  const sealed = await copied(settings, setting);
  const refusal = pin === undefined ? undefined : compare(sealed, pin, settings);
  if (refusal === undefined) return sealed;
  await sealed.remove();
  throw refusal;
}

async function copied(settings: ExternalToolSettings, setting: SealSetting): Promise<SealedCopy> {
  const { base, signal } = setting;
  const program = programPath(settings, setting);
  try {
    return await sealCopy({ base, program, files: settings.files, ...(signal === undefined ? {} : { signal }) });
  } catch (thrown) {
    const reason = isToolError(thrown) && thrown.code === 'E_FILE_IO' ? thrown.details['reason'] : undefined;
    if (reason === 'not_found') throw notFound(settings, thrown);
    if (typeof reason !== 'string' || !isToolError(thrown)) throw thrown;
    const next = 'name regular files that can be read; links are not followed';
    throw runRefusal('VERIFICATION_FAILED', { message: thrown.message, reason, next, cause: thrown });
  }
}

function notFound({ name, command }: ExternalToolSettings, cause?: unknown): ToolError {
  return runRefusal('COMPONENT_NOT_FOUND', {
    message: `Program of the external tool not found: ${name} (${command})`,
    reason: 'not_found',
    next: 'install it where the registry says, or fix command',
    ...(cause === undefined ? {} : { cause }),
  });
}

function compare(sealed: SealedCopy, { platform }: Pin, { name, files }: ExternalToolSettings): ToolError | undefined {
  if (!sameDigest(platform.digest, sealed.digest)) return mismatch(name, platform.digest);
  const locked = platform.files;
  if (locked === undefined) {
    return files.length === 0
      ? undefined
      : runRefusal('DIGEST_MISSING', {
          message: `Lock has no digests for the files of the tool: ${name}`,
          reason: 'files_not_pinned',
          next: `lock it again: tool-runtime lock ${name}`,
        });
  }
  const paths = new Set([...Object.keys(locked), ...Object.keys(sealed.files)]);
  const wrong = [...paths].sort().find((path) => !sameDigest(at(locked, path), at(sealed.files, path)));
  return wrong === undefined ? undefined : mismatch(`${name} (${wrong})`, at(locked, wrong));
}

function at(digests: Readonly<Record<string, string>>, path: string): string {
  return Object.hasOwn(digests, path) ? (digests[path] ?? '') : '';
}

function mismatch(subject: string, expected: string): ToolError {
  const what = expected === '' ? 'File is not in the lock' : 'Digest does not match the lock';
  return runRefusal('VERIFICATION_FAILED', {
    message: `${what}: ${subject}${expected === '' ? '' : `, expected ${expected}`}`,
    reason: 'digest_mismatch',
    next: 'restore the program, or lock it again after reviewing what changed',
    ...(expected === '' ? {} : { details: { expected } }),
  });
}
