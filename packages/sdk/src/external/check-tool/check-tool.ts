/**
 * Checks a program against the protocol of external tools, by running it.
 *
 * It runs as a plain child process of the checker, in a temporary folder and with the restricted environment of
 * a run, about fifteen times. Nothing isolates it: check programs you would also run.
 */
import { type JsonObject, toToolError } from '@tool-runtime/protocol';
import { isExternalToolName } from '../../contracts/external.ts';
import type { ProbeEnd } from '../../platform/runs/tool-probe-process.ts';
import { EXTERNAL_LIMITS, PROTOCOL_VERSION } from '../protocol/protocol-constants.ts';
import { parseResult } from '../protocol/read-result.ts';
import { checkRun, checkStdin, checkTermination, checkTraces, readSurroundings } from './check-run.ts';
import {
  type CheckId,
  describeEnd,
  failed,
  firstLine,
  judged,
  passed,
  type ToolCheck,
  type ToolCheckReport,
  warned,
  withWords,
} from './checks.ts';
import { type CheckToolOptions, Probe, type ProbedRun, type RunRequest } from './probe.ts';

/** Throws E_VALIDATION_FAIL or E_SHELL when the program cannot be started at all. */
export async function checkTool(options: CheckToolOptions): Promise<ToolCheckReport> {
  const probe = new Probe(options);
  try {
    return await runChecks(probe);
  } finally {
    probe.close();
  }
}

async function runChecks(probe: Probe): Promise<ToolCheckReport> {
  const before = readSurroundings(probe);
  const { checks: capabilities, name, version, withPack } = await checkCapabilities(probe);
  probe.settle({ name, withPack });
  const versions = await checkVersion(probe, version);
  const { checks: good, run } = await checkRun(probe, name);
  // One that does not end would cost the whole time again, each time.
  const further = run.isOverdue ? [] : [...(await checkRefusals(probe)), await checkStdin(probe, run)];
  const termination = await checkTermination(probe, run);
  const checks = [...capabilities, ...versions, ...good, ...further, termination, ...checkTraces(probe, before)];
  const count = (status: string): number => checks.filter((check) => check.status === status).length;
  return { name, version, checks, passed: count('pass'), warned: count('warn'), failed: count('fail') };
}

async function checkVersion(probe: Probe, version: string | undefined): Promise<ToolCheck[]> {
  const end = await probe.ask('--version');
  const text = end.stdout.bytes.toString('utf8').trim();
  const next = 'print the version on one line and exit with 0';
  if (end.isOverdue || end.exitCode !== 0) return [failed('version.answers', { message: withWords(end), next })];
  if (text === '') return [failed('version.answers', { message: 'printed nothing', next })];
  if (text.includes('\n')) return [failed('version.answers', { message: 'printed more than one line', next })];
  const answered = passed('version.answers', firstLine(end.stdout.bytes));
  if (version === undefined) return [answered];
  if (text.includes(version)) return [answered, passed('version.matches', version)];
  const message = `says ${firstLine(end.stdout.bytes)}, --capabilities says ${version}`;
  return [answered, warned('version.matches', { message, next: 'keep the version in one place' })];
}

interface Refusal extends Omit<RunRequest, 'about'> {
  readonly id: CheckId;
  readonly next: string;
}

const BROKEN_JSON = '{"broken": ';
const NO_SUCH_OPTION = '--no-such-option';
const NO_SUCH_VERSION = '999';

/** What a tool must not accept. Each probe differs from a good run in one thing. */
async function checkRefusals(probe: Probe): Promise<ToolCheck[]> {
  const checks: ToolCheck[] = [];
  for (const { id, next, ...request } of refusalsOf(probe)) {
    checks.push(judgeRefusal(id, await probe.run({ about: id, ...request }), next));
  }
  return checks;
}

function refusalsOf({ profile, scene }: Probe): Refusal[] {
  const config = scene.write('broken.json', BROKEN_JSON);
  const nowhere = `${scene.root}/nowhere`;
  return [
    ...(profile === 'neutral' ? [{ id: 'input.inputs', change: { INPUTS: BROKEN_JSON }, next: REFUSE } as const] : []),
    { id: 'input.config', change: { CONFIG: config }, next: REFUSE },
    { id: 'environment.run_dir_unset', change: { RUN_DIR: undefined }, next: REFUSE },
    {
      id: 'environment.run_dir_missing',
      change: { RUN_DIR: nowhere },
      next: 'do not make the run folder: it is given',
    },
    ...(scene.readOnly === undefined
      ? []
      : [{ id: 'environment.run_dir_read_only', change: { RUN_DIR: scene.readOnly }, next: REFUSE } as const]),
    { id: 'environment.protocol_version', change: { PROTOCOL_VERSION: NO_SUCH_VERSION }, next: REFUSE },
    { id: 'arguments.unknown', extraWords: [NO_SUCH_OPTION], next: REFUSE },
  ];
}

const REFUSE = 'say what is wrong on stderr and exit with a code from 1 to 9, 2 being usual';

function judgeRefusal(id: CheckId, end: ProbedRun, next: string): ToolCheck {
  if (end.isOverdue || end.exitCode === null) return failed(id, { message: describeEnd(end), next });
  if (end.exitCode === 0) {
    const fault = { message: 'was accepted, exit code 0', next };
    // Some tools hand their words on to another program and cannot know.
    return id === 'arguments.unknown' ? warned(id, fault) : failed(id, fault);
  }
  if (end.stderr.total === 0) return failed(id, { message: `${describeEnd(end)}, and not a word on stderr`, next });
  return passed(id, withWords(end));
}

interface CapabilitiesFindings {
  readonly checks: readonly ToolCheck[];
  /** As far as they are usable. */
  readonly name: string | undefined;
  readonly version: string | undefined;
  /** True unless the tool says it needs none. */
  readonly withPack: boolean;
}

const UNKNOWN = { name: undefined, version: undefined, withPack: false };

/** What a tool declares. Later answers are checked only as far as the earlier ones allow. */
async function checkCapabilities(probe: Probe): Promise<CapabilitiesFindings> {
  const end = await probe.ask('--capabilities');
  if (end.isOverdue || end.exitCode !== 0) {
    const next = `print one JSON object and exit with 0, within ${probe.limits.capabilitiesMs} ms`;
    return { ...UNKNOWN, checks: [failed('capabilities.answers', { message: withWords(end), next })] };
  }
  const checks = [passed('capabilities.answers', 'exit code 0'), judgeStderr(end)];
  const { maximum, total } = { maximum: EXTERNAL_LIMITS.capabilitiesBytes, total: end.stdout.total };
  if (total > maximum) {
    const message = `${total} bytes, more than ${maximum}`;
    return { ...UNKNOWN, checks: [...checks, failed('capabilities.size', { message, next: 'say less' })] };
  }
  checks.push(passed('capabilities.size', `${total} bytes`));
  const parsed = parseAnswer(end.stdout.bytes);
  checks.push(...parsed.checks);
  if (parsed.value === undefined) return { ...UNKNOWN, checks };
  return { checks: [...checks, ...judgeFields(parsed.value)], ...usable(parsed.value) };
}

function judgeStderr({ stderr }: ProbeEnd): ToolCheck {
  if (stderr.total === 0) return passed('capabilities.stderr', 'stderr is empty');
  const message = `wrote to stderr: ${firstLine(stderr.bytes)}`;
  return warned('capabilities.stderr', { message, next: 'keep stderr for failures' });
}

function parseAnswer(bytes: Buffer): { checks: ToolCheck[]; value: JsonObject | undefined } {
  try {
    const value = parseResult(bytes, EXTERNAL_LIMITS.capabilitiesBytes);
    return {
      checks: [passed('capabilities.json', 'a JSON object'), passed('capabilities.duplicate_keys', 'none')],
      value,
    };
  } catch (thrown) {
    const { message, details } = toToolError(thrown);
    const isDouble = details['reason'] === 'duplicate_key';
    const id = isDouble ? 'capabilities.duplicate_keys' : 'capabilities.json';
    const next = isDouble ? 'give every key once' : 'print one JSON object and nothing else on stdout';
    return { checks: [failed(id, { message, next })], value: undefined };
  }
}

function judgeFields(value: JsonObject): ToolCheck[] {
  return [judgeName(value), judgeVersion(value), judgeProtocol(value), judgePack(value), judgeOthers(value)];
}

function judgeName({ name }: JsonObject): ToolCheck {
  if (typeof name === 'string' && isExternalToolName(name)) return passed('capabilities.name', name);
  const next = 'use a-z, 0-9, dot, underscore and hyphen, a letter or digit first, at most 64, no ".."';
  return failed('capabilities.name', { message: `name is ${shown(name)}`, next });
}

function judgeVersion({ version }: JsonObject): ToolCheck {
  if (typeof version === 'string' && version !== '') return passed('capabilities.version', version);
  return failed('capabilities.version', {
    message: `version is ${shown(version)}`,
    next: 'give a text such as "1.0.0"',
  });
}

function judgeProtocol({ protocol_version: found }: JsonObject): ToolCheck {
  if (found === PROTOCOL_VERSION) return passed('capabilities.protocol_version', String(found));
  const message = `protocol_version is ${shown(found)}`;
  return failed('capabilities.protocol_version', { message, next: `speak version ${PROTOCOL_VERSION} and say so` });
}

function judgePack({ requires_pack: found }: JsonObject): ToolCheck {
  if (typeof found === 'boolean') return passed('capabilities.requires_pack', String(found));
  const next = 'say "requires_pack": false, or true';
  if (found !== undefined)
    return failed('capabilities.requires_pack', { message: `requires_pack is ${shown(found)}`, next });
  return warned('capabilities.requires_pack', { message: 'not said, which means true', next });
}

const TEXTS = ['description', 'publisher', 'repo', 'signing_identity'];
const LISTS = ['requires_tools', 'requires_outputs', 'commands'];

function judgeOthers(value: JsonObject): ToolCheck {
  const isList = (found: unknown): boolean => Array.isArray(found) && found.every((item) => typeof item === 'string');
  const wrong = [
    ...TEXTS.filter((field) => value[field] !== undefined && typeof value[field] !== 'string'),
    ...LISTS.filter((field) => value[field] !== undefined && !isList(value[field])),
    ...(value['network'] === undefined || typeof value['network'] === 'boolean' ? [] : ['network']),
  ];
  const fault = {
    message: `wrong type: ${wrong.join(', ')}`,
    next: 'texts, lists of texts, and network as true or false',
  };
  return judged('capabilities.fields', wrong.length === 0 ? undefined : fault, 'types are right');
}

function usable(value: JsonObject): Omit<CapabilitiesFindings, 'checks'> {
  const { name, version, requires_pack: withPack } = value;
  return {
    name: typeof name === 'string' && isExternalToolName(name) ? name : undefined,
    version: typeof version === 'string' && version !== '' ? version : undefined,
    withPack: withPack !== false,
  };
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : firstLine(Buffer.from(JSON.stringify(value)));
}
