/**
 * Edits that might turn the answer to a call, narrowest first: each is a guess that is tried before it is suggested.
 *
 * A value that is added fits this call and little else: a path as it is written, a command word for word, one host.
 */
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type RegistryEdit,
  type ToolError,
} from '@tool-runtime/protocol';
import type { Registry } from '../contracts/registry.ts';
import type { AnyTool } from '../contracts/tool.ts';
import { escapeGlob } from '../glob/glob-syntax.ts';
import { compileGlob } from '../glob/match-glob.ts';
import { literalPattern } from '../shell/strict-advice.ts';
import { type Decision, detailOf, type Rehearsal, type RehearsedCall } from './rehearsed-call.ts';

export interface CandidateSetting {
  readonly call: RehearsedCall;
  readonly document: JsonObject;
  readonly wanted: Decision;
  readonly registry: Registry;
  readonly tools: readonly AnyTool[];
}

/** The reasons of all gates that refuse, as one text. */
export function refusals({ heard, error }: Rehearsal): string {
  const all = heard.flatMap(({ answer }) => (answer.ok ? [] : [answer.error.message]));
  return [error?.message ?? '', ...all].join('\n');
}

export function candidates(rehearsal: Rehearsal, setting: CandidateSetting): readonly RegistryEdit[] {
  if (setting.wanted === 'deny') return denying(rehearsal, setting);
  const { error, decision } = rehearsal;
  if (decision === 'ask') return approving(rehearsal, setting);
  return error === undefined ? [] : allowing(error, rehearsal, setting);
}

function denying({ ready }: Rehearsal, { call, document }: CandidateSetting): readonly RegistryEdit[] {
  return [
    ...commandsOf(ready).map((argv) => add('shell_deny', literalPattern(argv))),
    ...hostsOf(ready).map((host) => remove('network.allowed_domains', host)),
    ...constraintsFor(call.tool, document).flatMap(({ path, patterns }) =>
      patterns.map((pattern) => remove(`${path}.arg_patterns`, pattern)),
    ),
    set(`tools.${call.tool}.enabled`, false),
  ];
}

function approving({ code, ready }: Rehearsal, { call, document }: CandidateSetting): readonly RegistryEdit[] {
  const asked = /^shell_ask: (.*)$/s.exec(code)?.[1];
  if (asked !== undefined) return listAt(document, 'shell_ask').map((pattern) => remove('shell_ask', pattern));
  if (code.startsWith('shell.unseen')) return [set('shell.unseen', 'allow')];
  if (!code.startsWith('approval.')) return [];
  const matching = matchingEntries(document, 'approvals.require_approval', call.tool);
  const removed = matching.map((pattern) => remove('approvals.require_approval', pattern));
  const writes = ready === undefined ? [] : [add('approvals.auto_approve', call.tool)];
  return [...removed, ...writes];
}

function allowing(error: ToolError, { ready }: Rehearsal, setting: CandidateSetting): readonly RegistryEdit[] {
  const { call, document, tools, registry } = setting;
  const tool = tools.find(({ name }) => name === call.tool);
  const reason = detailOf(error, 'reason') ?? detailOf(error, 'field');
  switch (reason) {
    case 'tool_disabled':
      return [unset(`tools.${call.tool}.enabled`), unset(`tools.${call.tool}`)];
    case 'tool_not_listed':
      return [add('allowed_tools', call.tool)];
    case 'capability_not_allowed':
      return [...lentBy(error, tools), ...capabilitiesOf(tool, document)];
    case 'side_effect_ceiling':
      return [...raising(ready, tool, document), add('allowed_tools', call.tool)];
    case 'arg_constraint':
      return constraintsFor(call.tool, document).flatMap((constraint) =>
        valuesFor(error, ready).map((value) => add(`${constraint.path}.arg_patterns`, value)),
      );
    case 'write_path':
    case 'approvals.write_path_allowlist':
      return pathsOf(ready).map((path) => add('approvals.write_path_allowlist', escapeGlob(path)));
    case 'approvals.auto_deny':
      return matchingEntries(document, 'approvals.auto_deny', call.tool).map((entry) =>
        remove('approvals.auto_deny', entry),
      );
    case 'denied':
      return listAt(document, 'shell_deny').map((pattern) => remove('shell_deny', pattern));
    case 'unseen':
      return [set('shell.unseen', 'allow')];
    case 'not_listed':
      return hostsOf(ready).map((host) => add('network.allowed_domains', host));
    default:
      return [
        ...byRule(error, registry, document),
        ...commandsOf(ready).map((argv) => add('shell_allow', literalPattern(argv))),
      ];
  }
}

/** Rules that the registry lists can be taken out of it. */
function byRule(error: ToolError, { validators }: Registry, document: JsonObject): readonly RegistryEdit[] {
  const rule = detailOf(error, 'rule');
  if (rule === undefined || !validators.has(rule)) return [];
  return listAt(document, 'validators')
    .filter((entry) => isJsonObject(entry) && entry['rule'] === rule)
    .map((entry) => remove('validators', entry));
}

/** A ceiling that is not written follows from the commands and hosts that are allowed. */
function raising(ready: Rehearsal['ready'], tool: AnyTool | undefined, document: JsonObject): readonly RegistryEdit[] {
  const level = ready?.subject.profile.side_effect_level ?? tool?.annotations?.side_effect_level;
  const raised = level === undefined ? [] : [set('side_effect_level', level)];
  if (document['side_effect_level'] !== undefined) return raised;
  return [
    ...commandsOf(ready).map((argv) => add('shell_allow', literalPattern(argv))),
    ...hostsOf(ready).map((host) => add('network.allowed_domains', host)),
    ...raised,
  ];
}

/** A call that needs an operation is allowed where a tool that has it is. */
function lentBy(error: ToolError, tools: readonly AnyTool[]): readonly RegistryEdit[] {
  const [, capability = '', operation = ''] = /: ([\w-]+)\.([\w-]+)$/.exec(error.message) ?? [];
  return tools
    .filter(({ annotations }) => annotations?.capabilities?.[capability]?.includes(operation) === true)
    .map(({ name }) => add('allowed_tools', name));
}

function capabilitiesOf(tool: AnyTool | undefined, document: JsonObject): readonly RegistryEdit[] {
  const allowed = isJsonObject(document['capabilities']) ? document['capabilities'] : {};
  return Object.entries(tool?.annotations?.capabilities ?? {}).flatMap(([capability, operations]) => {
    const given = allowed[capability];
    const known: readonly JsonValue[] = Array.isArray(given) ? given : [];
    const missing = operations.filter((operation) => !known.includes(operation));
    return missing.length === 0 ? [] : [set(`capabilities.${capability}`, [...known, ...missing])];
  });
}

interface WrittenConstraint {
  readonly path: string;
  readonly patterns: readonly JsonValue[];
}

function constraintsFor(tool: string, document: JsonObject): readonly WrittenConstraint[] {
  return listAt(document, 'arg_constraints').flatMap((entry, index) => {
    if (!isJsonObject(entry) || typeof entry['tool'] !== 'string' || !compileGlob(entry['tool'])(tool)) return [];
    const patterns = entry['arg_patterns'];
    return [{ path: `arg_constraints.${index}`, patterns: Array.isArray(patterns) ? patterns : [] }];
  });
}

/** Of the argument that was refused. */
function valuesFor(error: ToolError, ready: Rehearsal['ready']): readonly string[] {
  const key = detailOf(error, 'key') ?? error.path ?? '';
  const value = ready?.subject.args[key];
  const all: readonly JsonValue[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return all.filter((one) => typeof one !== 'object').map((one) => escapeGlob(String(one)));
}

function pathsOf(ready: Rehearsal['ready']): readonly string[] {
  return [...new Set(ready?.subject.paths.map(({ value }) => value) ?? [])];
}

function hostsOf(ready: Rehearsal['ready']): readonly string[] {
  return (ready?.subject.urls ?? []).flatMap(({ value }) => {
    const url = URL.parse(value);
    return url === null ? [] : [url.host];
  });
}

/** The commands of the call, word by word; none where a line cannot be read. */
export function commandsOf(ready: Rehearsal['ready']): readonly (readonly string[])[] {
  return (ready?.subject.commands ?? []).flatMap(({ list }) => {
    try {
      const { pipelines, script } = list();
      if (script !== undefined)
        return script.seen.filter(({ isTransparent }) => !isTransparent).map(({ argv }) => argv);
      return pipelines.flatMap(({ commands }) => commands.map(({ argv }) => argv));
    } catch {
      return []; // The refusal says what is wrong with the line.
    }
  });
}

function matchingEntries(document: JsonObject, path: string, tool: string): readonly JsonValue[] {
  return listAt(document, path).filter((entry) => typeof entry === 'string' && compileGlob(entry)(tool));
}

function listAt(document: JsonObject, path: string): readonly JsonValue[] {
  let at: JsonValue | undefined = document;
  for (const step of path.split('.')) at = isJsonObject(at) ? at[step] : undefined;
  return Array.isArray(at) ? at : [];
}

function add(path: string, value: JsonValue): RegistryEdit {
  return { op: 'add', path, value };
}

function remove(path: string, value: JsonValue): RegistryEdit {
  return { op: 'remove', path, value };
}

function set(path: string, value: JsonValue): RegistryEdit {
  return { op: 'set', path, value };
}

function unset(path: string): RegistryEdit {
  return { op: 'unset', path };
}
