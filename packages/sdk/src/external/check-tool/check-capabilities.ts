/** What a tool says of itself. Later answers are looked at only as far as the earlier ones allow. */
import { type JsonObject, toToolError } from '@tool-runtime/protocol';
import { isExternalToolName } from '../../contracts/external.ts';
import type { ProbeEnd } from '../../platform/runs/tool-probe-process.ts';
import { EXTERNAL_LIMITS, PROTOCOL_VERSION } from '../protocol/protocol-constants.ts';
import { parseResult } from '../protocol/read-result.ts';
import { failed, firstLine, judged, passed, type ToolCheck, warned, withWords } from './checks.ts';
import type { Probe } from './probe.ts';

export interface CapabilitiesFindings {
  readonly checks: readonly ToolCheck[];
  /** As far as they are usable. */
  readonly name: string | undefined;
  readonly version: string | undefined;
  /** True unless the tool says it needs none. */
  readonly withPack: boolean;
}

const UNKNOWN = { name: undefined, version: undefined, withPack: false };

export async function checkCapabilities(probe: Probe): Promise<CapabilitiesFindings> {
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
