/**
 * The narrowest registry that would have allowed what was recorded and approved.
 *
 * It starts from the registry in force and can only take away from what that allows, except that what people approved
 * is no longer asked. Every line names the calls it is for, and says so where it allows more than they did. The result
 * is loaded and every call is judged under it again; a call that it does not allow is named, not forced through.
 */
import { isJsonObject, type JsonObject, type JsonValue, type PolicySuggestion } from '@tool-runtime/protocol';
import type { SessionParts } from '../call/state/session-parts.ts';
import { linksOf } from '../call/tool-context/permissions.ts';
import { type SideEffectLevel, sideEffectRank } from '../contracts/annotations.ts';
import { compileGlob } from '../glob/match-glob.ts';
import { loadRegistry } from '../registry/load-registry.ts';
import { MAX_REGISTRY_BYTES } from '../registry/problems.ts';
import { joinArgv } from '../shell/join-argv.ts';
import { literalPattern } from '../shell/strict-advice.ts';
import { commandsOf } from './change-candidates.ts';
import type { RehearsalGround } from './explain-call.ts';
import { generalizePaths, setPatterns } from './generalize-paths.ts';
import { keptArgs, type RecordedCall, recordedCalls, sealedCalls, Unjudged } from './recorded-calls.ts';
import { documentOf } from './registry-edits.ts';
import { type Rehearsal, rehearse, underRegistry } from './rehearsed-call.ts';
import { judgeAgain } from './simulate.ts';
import { type Line, writeSuggestion } from './write-suggestion.ts';

/** A call to be allowed, with what the gates saw in it. */
interface Source {
  readonly call: RecordedCall;
  readonly args: JsonObject;
  readonly rehearsal: Rehearsal;
  /** As written, and where links lead: both must be allowed. */
  readonly paths: readonly UsedPath[];
}

/** Folders with fewer used files are spelled out; a suggestion that is too long for a registry starts lower. */
const THRESHOLDS = [5, 3, 2];

export async function suggest(
  ground: RehearsalGround,
  { since }: { readonly since?: number | undefined } = {},
): Promise<PolicySuggestion> {
  const { runtime } = ground;
  const unjudged = new Unjudged();
  const sources = await underRegistry(ground.registry, runtime, (parts) =>
    findSources({ parts, since, unjudged }, ground),
  );
  const text = writtenFor(sources, ground);
  const registry = loadRegistry(text, { ...ground.known, file: 'suggestion' });
  const allowed = await underRegistry(registry, runtime, async (parts) => {
    let count = 0;
    for (const { call, args } of sources) {
      const { decision, code } = await rehearse({ tool: call.tool, args }, parts);
      if (decision === 'allow') count += 1;
      else unjudged.add(`the suggestion answers ${decision}: ${code}`, call.callId);
    }
    return count;
  });
  return { registry: text, calls: allowed, left_out: unjudged.list() };
}

interface Search {
  readonly parts: SessionParts;
  readonly since: number | undefined;
  readonly unjudged: Unjudged;
}

/** Calls that were allowed, or asked about and approved. What is refused today is not brought back. */
async function findSources(
  { parts, since, unjudged }: Search,
  { runtime }: RehearsalGround,
): Promise<readonly Source[]> {
  const sealed = sealedCalls(runtime, since);
  const sources: Source[] = [];
  for (const call of recordedCalls(runtime, since)) {
    if (!call.isAllowed) continue;
    const kept = keptArgs(call, sealed);
    const rehearsal =
      typeof kept === 'string' ? kept : await judgeAgain(call, { tool: call.tool, args: kept.args }, parts);
    if (typeof kept === 'string' || typeof rehearsal === 'string') {
      unjudged.add(String(rehearsal), call.callId);
    } else if (rehearsal.decision === 'deny') {
      unjudged.add('the registry in force refuses it', call.callId);
    } else sources.push({ call, args: kept.args, rehearsal, paths: pathsOf(rehearsal, parts) });
  }
  return sources;
}

function writtenFor(sources: readonly Source[], ground: RehearsalGround): string {
  const texts = THRESHOLDS.map(
    (from) => () => writeSuggestion(linesFor(sources, from, ground), restOf(ground, sources)),
  );
  let text = '';
  for (const write of texts) {
    text = write();
    if (Buffer.byteLength(text) <= MAX_REGISTRY_BYTES) break;
  }
  return text;
}

/** The keys that the suggestion writes itself. */
const OWN_KEYS = [
  'version',
  'allowed_tools',
  'arg_constraints',
  'shell_allow',
  'network',
  'side_effect_level',
  'approvals',
  'shell_ask',
  'examples',
];

/** Everything else stays as it is in force. */
function restOf({ source, registry }: RehearsalGround, sources: readonly Source[]): JsonObject {
  const document = documentOf(source);
  const rest = Object.entries(document).filter(([key]) => !OWN_KEYS.includes(key));
  const { approvals, network } = document;
  const approved = new Set(sources.filter(({ call }) => call.before === 'ask').map(({ call }) => call.tool));
  const commands = sources.filter(({ call }) => call.before === 'ask').flatMap(textsOf);
  const kept = registry.shellAsk.filter(({ test }) => !commands.some(test)).map(({ source: pattern }) => pattern);
  return {
    ...Object.fromEntries(rest),
    ...(isJsonObject(network) && network['insecure_credentials'] !== undefined
      ? { insecure: network['insecure_credentials'] }
      : {}),
    ...(kept.length === 0 ? {} : { shell_ask: kept }),
    ...(isJsonObject(approvals) ? { approvals: approvalsFor(approvals, approved) } : {}),
  };
}

/** What was approved is not asked again; the rest of the section stays. */
function approvalsFor(approvals: JsonObject, approved: ReadonlySet<string>): JsonObject {
  const isApproved = (pattern: JsonValue): boolean => [...approved].some((tool) => compileGlob(String(pattern))(tool));
  const required = listOf(approvals['require_approval']).filter((pattern) => !isApproved(pattern));
  const { require_approval: _replaced, ...others } = approvals;
  return { ...others, ...(required.length === 0 ? {} : { require_approval: required }) };
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function textsOf({ rehearsal }: Source): readonly string[] {
  return commandsOf(rehearsal.ready).map(joinArgv);
}

export interface SuggestedLines {
  readonly tools: readonly Line[];
  readonly approve: readonly Line[];
  readonly commands: readonly Line[];
  readonly hosts: readonly Line[];
  readonly constraints: readonly { readonly tool: string; readonly key: string; readonly patterns: readonly Line[] }[];
  /** Those of the registry in force; they hold as well. */
  readonly kept: readonly JsonValue[];
  readonly level: SideEffectLevel;
}

function linesFor(sources: readonly Source[], from: number, { source, registry }: RehearsalGround): SuggestedLines {
  const by = <T>(values: (one: Source) => readonly T[]): ReadonlyMap<T, readonly Source[]> => {
    const found = new Map<T, Source[]>();
    for (const one of sources) {
      for (const value of values(one)) {
        const users = found.get(value) ?? [];
        users.push(one);
        found.set(value, users);
      }
    }
    return found;
  };
  const asked = sources.filter(({ call }) => call.before === 'ask');
  return {
    tools: [...by(({ call }) => [call.tool]), ...readersOf(sources)].map(([tool, users]) => lineOf(tool, users)),
    approve: registry.approvals === undefined && asked.length === 0 ? [] : approvedTools(sources),
    commands: [...by(({ rehearsal }) => commandsOf(rehearsal.ready).map(literalPattern))].map(([pattern, users]) =>
      lineOf(pattern, users),
    ),
    hosts: [...by(hostsOf)].map(([host, users]) => lineOf(host, users)),
    constraints: constraintsFor(sources, from),
    kept: withoutExamples(listOf(documentOf(source)['arg_constraints'])),
    level: highest(sources),
  };
}

/** A tool that leaves artifacts needs one that reads them; without it the registry would not fit its tools. */
function readersOf(sources: readonly Source[]): readonly (readonly [string, readonly Source[]])[] {
  const used = new Set(sources.map(({ call }) => call.tool));
  const wanted = sources.flatMap((one) => {
    const {
      kind,
      emits_artifacts,
      inline_result,
      result_readers = [],
    } = one.rehearsal.ready?.compiled.annotations ?? {};
    const needsReader = kind === 'execute' && emits_artifacts === true && inline_result !== true;
    const isRead = result_readers.some((reader) => used.has(reader));
    return needsReader && !isRead ? result_readers.slice(0, 1).map((reader) => ({ reader, one })) : [];
  });
  return [...Map.groupBy(wanted, ({ reader }) => reader)].map(([reader, users]) => [
    reader,
    users.map(({ one }) => one),
  ]);
}

/** An approvals section asks by default, so all that ran is in its list. */
function approvedTools(sources: readonly Source[]): readonly Line[] {
  return [...Map.groupBy(sources, ({ call }) => call.tool)].map(([tool, users]) => {
    const asked = users.filter(({ call }) => call.before === 'ask').length;
    return { ...lineOf(tool, users), ...(asked === 0 ? {} : { note: `ASKED UNTIL NOW, and approved ${asked} times` }) };
  });
}

function withoutExamples(constraints: readonly JsonValue[]): readonly JsonValue[] {
  return constraints.map((entry) => {
    if (!isJsonObject(entry)) return entry;
    const { allow: _allow, ...others } = entry;
    return others;
  });
}

function constraintsFor(sources: readonly Source[], from: number): SuggestedLines['constraints'] {
  const byKey = Map.groupBy(
    sources.flatMap((one) =>
      one.paths.map((path) => ({ ...path, one, id: JSON.stringify([one.call.tool, path.key]) })),
    ),
    ({ id }) => id,
  );
  return [...byKey].map(([id, uses]) => {
    const [tool, key] = JSON.parse(id) as [string, string];
    const values = uses.map(({ value }) => value);
    const patterns = uses[0]?.isSet === true ? setPatterns(values) : generalizePaths(values, from);
    return {
      tool,
      key,
      patterns: patterns.map(({ pattern, paths, isWidened }) => {
        const users = uses.filter(({ value }) => paths.includes(value)).map(({ one }) => one);
        const note = `WIDER than the calls: made from ${paths.length} paths`;
        return { ...lineOf(pattern, users), ...(isWidened ? { note } : {}) };
      }),
    };
  });
}

interface UsedPath {
  readonly key: string;
  readonly value: string;
  /** It stands for a set of files. */
  readonly isSet: boolean;
}

function pathsOf({ ready }: Rehearsal, { workspace }: SessionParts): readonly UsedPath[] {
  if (ready === undefined) return [];
  const { path_params: keys, set_params: sets = [] } = ready.compiled.annotations.arg_schema;
  const named = ready.subject.paths.filter(({ key }) => keys.includes(key));
  const left = sets.filter((key) => keys.includes(key) && !named.some((path) => path.key === key));
  const links = linksOf(ready.compiled.annotations);
  return [...named, ...left.map((key) => ({ key, value: '.' }))].flatMap(({ key, value }) => {
    const isSet = sets.includes(key);
    const location = /[*?[{\\]/.test(value) ? value : workspace.locate(value, links).location;
    return [...new Set([value, location])].map((path) => ({ key, value: path, isSet }));
  });
}

function hostsOf({ rehearsal }: Source): readonly string[] {
  return (rehearsal.ready?.subject.urls ?? []).flatMap(({ value }) => URL.parse(value)?.host ?? []);
}

function highest(sources: readonly Source[]): SideEffectLevel {
  const levels = sources.map(({ rehearsal }) => rehearsal.ready?.subject.profile.side_effect_level ?? 'none');
  return levels.toSorted((one, other) => sideEffectRank(other) - sideEffectRank(one))[0] ?? 'none';
}

function lineOf(value: string, users: readonly Source[]): Line {
  return { value, calls: users.map(({ call }) => call.callId) };
}
