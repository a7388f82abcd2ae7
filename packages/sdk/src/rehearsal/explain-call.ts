/** What every gate says to one call, with the line that decides, and the smallest change that would turn the answer. */
import type { GateReport, PolicyExplanation } from '@tool-runtime/protocol';
import type { GateName, HeardGate } from '../call/check-gates.ts';
import { explainRefusal } from '../call/record-refusal.ts';
import type { SessionParts } from '../call/state/session-parts.ts';
import type { Registry, RegistryText } from '../contracts/registry.ts';
import type { KnownNames } from '../registry/check-names.ts';
import type { RuntimeParts } from '../session/compile-session.ts';
import { findChange } from './find-change.ts';
import { codeOf, detailOf, entryOf, type Rehearsal, type RehearsedCall, rehearse } from './rehearsed-call.ts';

/** What changes of a registry are tried on. */
export interface RehearsalGround {
  readonly runtime: RuntimeParts;
  readonly known: KnownNames;
  /** Undefined: none is written. */
  readonly source: RegistryText | undefined;
  readonly registry: Registry;
  /** The registry in the workspace is not trusted, so its own text cannot widen anything. */
  readonly isTrusted: boolean;
}

/** `ground` is undefined where the session has a registry of its own, which no change of the operator's is tried on. */
export async function explainCall(
  call: RehearsedCall,
  parts: SessionParts,
  ground: RehearsalGround | undefined,
): Promise<PolicyExplanation> {
  const rehearsal = await rehearse(call, parts, { hear: true });
  const { decision, code, error, open, ready } = rehearsal;
  const level = parts.tools.get(call.tool)?.staticProfile.side_effect_level ?? null;
  return {
    decision,
    code,
    tool: call.tool,
    gates: reportGates(rehearsal, parts),
    change: ground === undefined ? null : await findChange(call, rehearsal, { ...ground, redact: parts.redact }),
    errors: error === undefined ? [] : [entryOf(error)],
    warnings: [...open.warnings],
    paths: ready?.subject.paths.map(({ value }) => parts.redact(value)) ?? [],
    side_effect_level: ready?.subject.profile.side_effect_level ?? level,
    fingerprint: parts.registry.fingerprint,
  };
}

const NAMES: readonly GateName[] = [
  'transaction',
  'ceiling',
  'arguments',
  'rules',
  'approval',
  'write_paths',
  'commands',
  'policy',
  'coordinator',
];

function reportGates(rehearsal: Rehearsal, parts: SessionParts): readonly GateReport[] {
  const { ready, error, heard } = rehearsal;
  if (ready === undefined) {
    // Nothing behind it can be asked: there is no tool, or there are no arguments that it takes.
    const isRoute = !parts.tools.has(rehearsal.open.request.tool);
    const first: GateReport[] = isRoute ? [] : [{ gate: 'route', answer: 'allow' }];
    const refused = refusalReport(isRoute ? 'route' : 'schema', error);
    return [...first, refused, ...NAMES.map((gate): GateReport => ({ gate, answer: 'not_asked' }))];
  }
  const hooks: GateReport[] = parts.hooks.isEmpty
    ? []
    : [{ gate: 'hooks', answer: 'not_asked', message: 'Hooks of the program may refuse or change the call' }];
  return [
    { gate: 'route', answer: 'allow' },
    { gate: 'schema', answer: 'allow' },
    ...hooks,
    ...heard.map((gate) => reportGate(gate, rehearsal, parts)),
    ...laterGates(rehearsal, parts),
  ];
}

function reportGate({ name, answer }: HeardGate, { ready }: Rehearsal, parts: SessionParts): GateReport {
  const rules = name === 'rules' && ready !== undefined ? { rules: parts.rules.asked('before', ready.subject) } : {};
  if (!answer.ok) {
    const error = explainRefusal(answer.error, parts);
    return { ...refusalReport(name, error), ...rules, ...placeOf(name, error, parts) };
  }
  if (name === 'coordinator' && parts.coordinator !== undefined) {
    return { gate: name, answer: 'not_asked', message: 'The coordinator is asked when the call is made' };
  }
  const { asks = false, code, field = FIELDS[name] } = answer.value ?? {};
  return {
    gate: name,
    answer: asks ? 'ask' : 'allow',
    ...(code === undefined ? {} : { code }),
    ...rules,
    ...(field === undefined ? {} : lineOf(field, parts.registry)),
  };
}

/** The key of the registry that a gate goes by where it names none itself. */
const FIELDS: Readonly<Partial<Record<GateName, string>>> = {
  ceiling: 'side_effect_level',
  arguments: 'arg_constraints',
  rules: 'validators',
  approval: 'approvals',
  write_paths: 'approvals.write_path_allowlist',
  commands: 'shell_ask',
};

function placeOf(name: GateName, error: Parameters<typeof codeOf>[0], { registry }: SessionParts) {
  const line = detailOf(error, 'registry');
  const field = detailOf(error, 'field') ?? FIELDS[name];
  if (field === undefined) return line === undefined ? {} : { registry: line };
  return { ...lineOf(field, registry), ...(line === undefined ? {} : { registry: line }) };
}

function lineOf(field: string, { spot }: Registry): Pick<GateReport, 'field' | 'registry'> {
  const place = spot(field);
  return { field, ...(place === undefined ? {} : { registry: `${place.file}:${place.line}` }) };
}

function refusalReport(gate: string, error: Parameters<typeof codeOf>[0] | undefined): GateReport {
  if (error === undefined) return { gate, answer: 'deny' };
  const [rule, field, registry, next] = ['rule', 'field', 'registry', 'next'].map((key) => detailOf(error, key));
  return {
    gate,
    answer: 'deny',
    code: codeOf(error),
    message: error.message,
    ...(rule === undefined ? {} : { rule }),
    ...(field === undefined ? {} : { field }),
    ...(registry === undefined ? {} : { registry }),
    ...(next === undefined ? {} : { next }),
  };
}

/** What still has a say when the call is made, and cannot be asked before. */
function laterGates({ ready }: Rehearsal, parts: SessionParts): readonly GateReport[] {
  const { subject } = ready ?? {};
  const budgets = Object.keys(parts.registry.budgets).length;
  const commit =
    subject?.git === undefined
      ? []
      : [...parts.rules.asked('guard', subject), ...parts.rules.asked('on-commit', subject)];
  return [
    ...(budgets === 0
      ? []
      : [
          {
            gate: 'budget',
            answer: 'not_asked' as const,
            message: 'A rehearsal takes no budget',
            ...lineOf('budgets', parts.registry),
          },
        ]),
    ...(commit.length === 0
      ? []
      : [
          {
            gate: 'commit',
            answer: 'not_asked' as const,
            rules: commit,
            message: 'These rules judge the repository when the call runs',
          },
        ]),
  ];
}
