/**
 * Two registries compared by what they do: which tools, paths, commands and hosts are answered differently.
 *
 * The calls that are tried come from the patterns of both registries, and the gates that judge real calls answer them.
 * A difference that no pattern speaks about does not show; rules and other settings are compared as they are written.
 */
import {
  type EffectChange,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type PolicyDiff,
  ToolError,
} from '@tool-runtime/protocol';
import type { Registry, RegistryText } from '../contracts/registry.ts';
import { canonicalJson } from '../platform/digest.ts';
import type { RuntimeParts } from '../session/compile-session.ts';
import { type Probe, probesFor } from './probes.ts';
import { documentOf } from './registry-edits.ts';
import { detailOf, type Rehearsal, rehearse, underRegistry } from './rehearsed-call.ts';

/** Of hundreds of patterns for all tools; each takes a fraction of a millisecond. */
const MAX_PROBES = 50_000;

export interface ComparedRegistry {
  readonly source: RegistryText;
  readonly registry: Registry;
}

export async function diffEffects(
  a: ComparedRegistry,
  b: ComparedRegistry,
  runtime: RuntimeParts,
): Promise<PolicyDiff> {
  const probes = probesFor([a.registry, b.registry], runtime.tools);
  if (probes.length > MAX_PROBES) throw tooMany(probes.length);
  const before = await answers(probes, a.registry, runtime);
  const after = await answers(probes, b.registry, runtime);
  const effects = probes.flatMap(({ kind, subject }, index): readonly EffectChange[] => {
    const [one, other] = [before[index], after[index]];
    // A call that is not understood says nothing about the policy.
    if (one === undefined || other === undefined || one.isMisread || other.isMisread) return [];
    if (one.decision === other.decision) return [];
    const line = other.registry === undefined ? {} : { registry: other.registry };
    return [{ kind, subject, from: one.decision, to: other.decision, ...line }];
  });
  const changes = [...withoutRepeats(effects), ...ruleChanges(a.registry, b.registry), ...settingChanges(a, b)];
  return { changed: changes.length, changes };
}

interface Heard extends Pick<Rehearsal, 'decision'> {
  readonly isMisread: boolean;
  readonly registry: string | undefined;
}

/** Only what is compared: a rehearsal holds all parts of its call. */
function answers(probes: readonly Probe[], registry: Registry, runtime: RuntimeParts): Promise<readonly Heard[]> {
  return underRegistry(registry, runtime, async (parts) => {
    const heard: Heard[] = [];
    for (const { call } of probes) {
      const rehearsal = await rehearse(call, parts);
      const { decision, error } = rehearsal;
      heard.push({ decision, isMisread: isMisread(rehearsal), registry: detailOf(error, 'registry') });
    }
    return heard;
  });
}

function tooMany(count: number): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Registries have too many patterns to compare: ${count} calls to try`, {
    details: { reason: 'too_many_probes', limit: MAX_PROBES, next: 'compare registries with fewer patterns' },
  });
}

function isMisread({ error }: Rehearsal): boolean {
  return error?.code === 'E_VALIDATION_FAIL' && error.details['rule'] === undefined;
}

/** Where a tool as a whole changes, its paths, commands and hosts that change in the same way go without saying. */
function withoutRepeats(changes: readonly EffectChange[]): readonly EffectChange[] {
  const tools = new Map(changes.filter(({ kind }) => kind === 'tool').map((change) => [change.subject, change]));
  return changes.filter(({ kind, subject, from, to }) => {
    const whole = kind === 'tool' ? undefined : tools.get(subject.split(' ', 1)[0] ?? '');
    return whole === undefined || whole.from !== from || whole.to !== to;
  });
}

function ruleChanges(a: Registry, b: Registry): readonly EffectChange[] {
  const rules = new Set([...a.validators.keys(), ...b.validators.keys()]);
  return [...rules].flatMap((rule) => {
    const [from, to] = [a, b].map(({ validators }) => validators.get(rule)?.enforcement ?? 'off') as [string, string];
    if (from === to) return [];
    const spot = b.spot(`validators.${rule}`);
    const line = spot === undefined || to === 'off' ? {} : { registry: `${spot.file}:${spot.line}` };
    return [{ kind: 'rule' as const, subject: rule, from, to, ...line }];
  });
}

/** Their effects are shown by calls. */
const SHOWN_BY_CALLS: ReadonlySet<string> = new Set([
  'version',
  'allowed_tools',
  'approvals',
  'arg_constraints',
  'capabilities',
  'examples',
  'shell_allow',
  'shell_ask',
  'shell_deny',
  'side_effect_level',
  'tools',
  'validators',
]);

const MAX_SHOWN = 200;

function settingChanges(a: ComparedRegistry, b: ComparedRegistry): readonly EffectChange[] {
  const [one, other] = [a, b].map(({ source }) => withoutHosts(documentOf(source))) as [JsonObject, JsonObject];
  const keys = new Set([...Object.keys(one), ...Object.keys(other)].filter((key) => !SHOWN_BY_CALLS.has(key)));
  return [...keys].flatMap((key) => {
    const [from, to] = [shown(one[key]), shown(other[key])];
    if (from === to) return [];
    const spot = other[key] === undefined ? undefined : b.registry.spot(key);
    const line = spot === undefined ? {} : { registry: `${spot.file}:${spot.line}` };
    return [{ kind: 'setting' as const, subject: key, from: cut(from), to: cut(to), ...line }];
  });
}

/** Hosts are tried by calls; what else `network` says is not. */
function withoutHosts(document: JsonObject): JsonObject {
  const { network, ...others } = document;
  if (!isJsonObject(network)) return others;
  const { allowed_domains: _hosts, ...settings } = network;
  return Object.keys(settings).length === 0 ? others : { ...others, network: settings };
}

function shown(value: JsonValue | undefined): string {
  return value === undefined ? 'default' : canonicalJson(value);
}

function cut(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
