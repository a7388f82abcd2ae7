/**
 * Everything that may still say no before a tool runs, in the protocol's order: lock, program, source, digest, what the
 * tool declares, network, dependencies, pack, config.
 */
import { join } from 'node:path';
import { isToolError, type JsonObject } from '@tool-runtime/protocol';
import { sideEffectRank } from '../../contracts/annotations.ts';
import {
  type ExternalToolSettings,
  isExternalToolName,
  type RunHistory,
  type ToolCapabilities,
} from '../../contracts/external.ts';
import type { Registry } from '../../contracts/registry.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import type { ExternalPrograms } from '../../platform/commands/external-process.ts';
import { shownPath } from '../../platform/descriptors/path-rules.ts';
import { createRunHistory } from '../../platform/runs/find-runs.ts';
import type { SealedCopy } from '../../platform/runs/sealed-copy.ts';
import { checkSource, findPin } from '../lock/find-pin.ts';
import { platformKey } from '../lock/lock-file.ts';
import { requireProgram, sealTool } from '../lock/seal-tool.ts';
import { checkDigest, sameDigest } from '../protocol/digests.ts';
import { probeCapabilities, refuseOther } from '../protocol/probe-capabilities.ts';
import { EXTERNAL_LIMITS } from '../protocol/protocol-constants.ts';
import { parseResult, validateResult } from '../protocol/read-result.ts';
import { runRefusal } from '../protocol/run-status.ts';
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

interface DependencyError {
  /** Blank when an output's path names no tool. */
  readonly tool: string;
  readonly output?: string;
}

type Needs = Pick<ToolCapabilities, 'requires_tools' | 'requires_outputs'>;

/**
 * What a tool says it needs from others, checked against the runs that lie beside the pack.
 *
 * A needed output is looked for in the newest successful run of its tool, since every run has a folder of its own; the
 * path as it is written counts too. Names come from the tool and are checked before they reach the history.
 *
 * Empty when all is there, when nothing is known of the tool, and without a pack: then there is no history.
 */
export function checkDependencies(capabilities: Needs | undefined, history: RunHistory | undefined): DependencyError[] {
  if (capabilities === undefined || history === undefined) return [];
  const newest = createLookup(history);
  const tools = capabilities.requires_tools.filter((tool) => newest(tool) === undefined);
  const outputs = capabilities.requires_outputs.filter((output) => !hasOutput(output, history, newest));
  return [...tools.map((tool) => ({ tool })), ...outputs.map((output) => ({ tool: toolOf(output), output }))];
}

type Lookup = (tool: string) => string | undefined;

/** The newest run that ended in `success`; each tool is looked up once. */
function createLookup(history: RunHistory): Lookup {
  const found = new Map<string, string | undefined>();
  return (tool) => {
    if (!found.has(tool)) found.set(tool, newestSuccess(tool, history));
    return found.get(tool);
  };
}

function newestSuccess(tool: string, history: RunHistory): string | undefined {
  if (!isExternalToolName(tool)) return undefined;
  return history.runsOf(tool).find((runId) => isSuccess(history.readResult(tool, runId)));
}

function isSuccess(file: ReturnType<RunHistory['readResult']>): boolean {
  if (typeof file === 'string') return false;
  try {
    return validateResult(parseResult(file)).status === 'success';
  } catch {
    // An unreadable result proves no success; its run has reported why.
    return false;
  }
}

function hasOutput(output: string, history: RunHistory, newest: Lookup): boolean {
  const parts = safeParts(output);
  const [tool, ...rest] = parts;
  if (tool === undefined || rest.length === 0 || !isExternalToolName(tool)) return false;
  const runId = newest(tool);
  return (runId !== undefined && history.hasOutput([tool, runId, ...rest])) || history.hasOutput(parts);
}

/** Empty for a path that could lead anywhere but down. */
function safeParts(path: string): string[] {
  const parts = path.split('/');
  const isSafe = parts.every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\\0]/.test(part));
  return isSafe ? parts : [];
}

function toolOf(output: string): string {
  const [tool = ''] = safeParts(output);
  return isExternalToolName(tool) ? tool : '';
}

/** One line for people; blank when nothing is missing. */
export function formatDependencyErrors(missing: readonly DependencyError[]): string {
  const tools = [...new Set(missing.map(({ tool }) => shownPath(tool)).filter((tool) => tool !== ''))].sort();
  const outputs = missing.flatMap(({ output }) => (output === undefined ? [] : [shownPath(output)]));
  const [first] = tools;
  if (tools.length > 1) {
    const tail = outputs.length === 0 ? '' : `; outputs not found: ${outputs.join(', ')}`;
    return `Required tools have not run successfully: ${tools.join(', ')}${tail}`;
  }
  if (first !== undefined && outputs.length > 0) return `Required output of ${first} not found: ${outputs.join(', ')}`;
  if (first !== undefined) return `Required tool has not run successfully: ${first}`;
  return outputs.length === 0 ? '' : `Required outputs not found: ${outputs.join(', ')}`;
}
