/**
 * Everything that may still say no before a tool runs, in the protocol's order: lock, program, source, digest, what the
 * tool says of itself, network, dependencies, pack, config.
 */
import { join } from 'node:path';
import { isToolError, type JsonObject } from '@tool-runtime/protocol';
import { sideEffectRank } from '../../contracts/annotations.ts';
import type { ExternalToolSettings, ToolCapabilities } from '../../contracts/external.ts';
import type { Registry } from '../../contracts/registry.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import type { ExternalPrograms } from '../../platform/commands/external-process.ts';
import { createRunHistory } from '../../platform/runs/run-history.ts';
import type { SealedCopy } from '../../platform/runs/sealed-copy.ts';
import { checkSource, findPin } from '../lock/find-pin.ts';
import { platformKey } from '../lock/lock-file.ts';
import { requireProgram, sealTool } from '../lock/seal-tool.ts';
import { checkDigest, sameDigest } from '../protocol/digests.ts';
import { probeCapabilities, refuseOther } from '../protocol/probe-capabilities.ts';
import { EXTERNAL_LIMITS } from '../protocol/protocol-constants.ts';
import { runRefusal } from '../protocol/run-status.ts';
import { checkDependencies, formatDependencyErrors } from './dependencies.ts';
import { copiesFolder } from './external-ports.ts';
import { packStamp, type RunAttempt } from './run-attempt.ts';

export interface RunArgs {
  readonly args?: readonly string[] | undefined;
  readonly inputs?: JsonObject | undefined;
  /** Workspace-relative. */
  readonly pack?: string | undefined;
  readonly pack_digest?: string | undefined;
}

export interface ReadyRun {
  readonly sealed: SealedCopy;
  readonly programs: ExternalPrograms;
  readonly configPath?: string;
  readonly inputs?: string;
  readonly inputsPath?: string;
}

/** The caller removes the copy. Throws refusals, and leaves no copy then. */
export async function prepareRun(attempt: RunAttempt, args: RunArgs, context: ToolContext): Promise<ReadyRun> {
  const { settings, ports } = attempt;
  const { signal } = context;
  const setting = { lockPath: ports.lock.path, base: copiesFolder(ports.state), signal };
  const pin = findPin(settings, { ...ports, platform: platformKey(process) });
  attempt.pin = pin;
  if (pin === undefined) attempt.audit.push('unpinned_execution');
  else attempt.version = pin.tool.version;
  requireProgram(settings, setting);
  if (pin !== undefined) checkSource(settings, pin);
  const sealed = await sealTool(settings, pin, setting);
  try {
    const programs = ports.programsFor(settings, context.registry);
    const capabilities = await askTool(attempt, { sealed, programs, signal });
    checkNetwork(settings, capabilities, context.registry);
    checkNeeds(attempt, capabilities, args);
    attempt.pack = await findPack(attempt, capabilities, { args, context });
    return { sealed, programs, ...writeConfig(settings, args, sealed) };
  } catch (thrown) {
    await sealed.remove();
    throw thrown;
  }
}

/** Once for each digest; a tool that gives no usable answer is asked again by the next run. */
async function askTool(
  attempt: RunAttempt,
  { sealed, programs, signal }: Pick<ReadyRun, 'sealed' | 'programs'> & { readonly signal: AbortSignal },
): Promise<ToolCapabilities | undefined> {
  const { settings, ports } = attempt;
  const key = `${settings.name} ${sealed.digest} ${JSON.stringify(settings.interpreter)}`;
  const { environment: host, wrapperVersion, probed } = ports;
  const known = probed.get(key);
  const probe =
    known === undefined
      ? await probeCapabilities({ settings, host, wrapperVersion, sealed, programs, signal })
      : { capabilities: known };
  if (attempt.pin !== undefined) refuseOther(probe, settings.name);
  const { capabilities } = probe;
  if (capabilities === undefined) return undefined;
  probed.set(key, capabilities);
  if (capabilities.version !== '') attempt.version = capabilities.version;
  attempt.protocolVersion = capabilities.protocol_version;
  return capabilities;
}

/** The operator must have said yes to the tool, the level and the hosts; a tool that wants more does not start. */
function checkNetwork(
  { name, network }: ExternalToolSettings,
  capabilities: ToolCapabilities | undefined,
  registry: Registry,
): void {
  const refuse = (message: string, reason: string, next: string) =>
    runRefusal('COMPONENT_FAILED', { message: `${message}: ${name}`, reason, next, details: { gate: 'network' } });
  if (!network) {
    if (capabilities?.network !== true) return;
    const next = `let the operator set network: true and side_effect_level: network for ${name}`;
    throw refuse('External tool needs the network, which the registry does not give it', 'network_not_granted', next);
  }
  if (sideEffectRank(registry.ceiling.side_effect_level ?? 'network') < sideEffectRank('network')) {
    throw refuse('Ceiling of the session is below network', 'network_ceiling', 'open a session with a higher ceiling');
  }
  if (registry.allowedDomains.length > 0) return;
  const next = 'list the hosts it may reach in network.allowed_domains';
  throw refuse('External tool may use the network but no host is allowed', 'no_allowed_domains', next);
}

function checkNeeds(attempt: RunAttempt, capabilities: ToolCapabilities | undefined, { pack }: RunArgs): void {
  const missing = checkDependencies(capabilities, pack === undefined ? undefined : createRunHistory(attempt.base));
  if (missing.length === 0) return;
  throw runRefusal('DEPENDENCY_MISSING', {
    message: formatDependencyErrors(missing),
    reason: 'dependency_missing',
    next: 'run the tools it needs on the same pack first',
    details: { missing: missing.map(({ tool, output }) => ({ tool, ...(output === undefined ? {} : { output }) })) },
  });
}

async function findPack(
  { settings, ports }: RunAttempt,
  capabilities: ToolCapabilities | undefined,
  { args: { pack, pack_digest: expected }, context }: { readonly args: RunArgs; readonly context: ToolContext },
): Promise<RunAttempt['pack']> {
  if (pack === undefined) {
    if (!(settings.requires_pack ?? capabilities?.requires_pack ?? true)) return undefined;
    throw runRefusal('PACK_REQUIRED', {
      message: `External tool needs a pack: ${settings.name}`,
      reason: 'pack_required',
      next: 'give a path under pack, or let the operator write requires_pack: false',
    });
  }
  const stamp = await packStamp(pack, context.workspace);
  const digest = await packDigest(pack, context);
  if (expected !== undefined && !sameDigest(checkDigest(expected, 'pack_digest'), digest)) {
    throw packRefused(`Digest of the pack is not the expected one: ${expected}`, 'digest_mismatch');
  }
  return { path: join(ports.root, pack), name: pack, digest, stamp };
}

async function packDigest(pack: string, { workspace, signal }: ToolContext): Promise<string> {
  try {
    const { sha256 } = await workspace.readFile(pack, { maxBytes: 0, signal });
    return `sha256:${sha256}`;
  } catch (thrown) {
    if (!isToolError(thrown) || thrown.code !== 'E_FILE_IO') throw thrown;
    throw packRefused(`Pack cannot be read: ${thrown.message}`, 'unreadable', thrown);
  }
}

function packRefused(message: string, reason: string, cause?: unknown) {
  const next = 'give the path of an existing file and its digest';
  return runRefusal('PACK_VERIFICATION_FAILED', { message, reason, next, ...(cause === undefined ? {} : { cause }) });
}

/** The files lie beside the copy, so they disappear with it. */
function writeConfig({ name, config }: ExternalToolSettings, { inputs }: RunArgs, sealed: SealedCopy) {
  const isFilled = config !== undefined && Object.keys(config).length > 0;
  const configText = isFilled ? JSON.stringify(config) : undefined;
  const inputsText = inputs === undefined ? undefined : JSON.stringify(inputs);
  const place = (file: string, text: string): string => {
    if (Buffer.byteLength(text) > EXTERNAL_LIMITS.configBytes) throw tooLarge(name, file);
    try {
      return sealed.addFile(file, text);
    } catch (thrown) {
      throw notWritten(name, file, thrown);
    }
  };
  return {
    ...(configText === undefined ? {} : { configPath: place('config.json', configText) }),
    ...(inputsText === undefined ? {} : { inputs: inputsText, inputsPath: place('inputs.json', inputsText) }),
  };
}

function tooLarge(name: string, file: string) {
  return runRefusal('CONFIG_WRITE_FAILED', {
    message: `Larger than ${EXTERNAL_LIMITS.configBytes} bytes: ${file} of ${name}`,
    reason: 'too_large',
    next: 'give less, or give the path of a file',
  });
}

function notWritten(name: string, file: string, cause: unknown) {
  return runRefusal('CONFIG_WRITE_FAILED', {
    message: `File for the tool cannot be written: ${file} of ${name}`,
    reason: 'unwritable',
    next: 'look at the state folder: it may be full',
    cause,
  });
}
