/** Judges the examples of a registry by the gates of a call: at load, where one that does not hold refuses it, and on request. */
import type { ExampleResult, PolicyCheck } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import type { SessionParts } from '../call/state/session-parts.ts';
import type { PolicyExample, Registry } from '../contracts/registry.ts';
import { registryRefused } from '../registry/problems.ts';
import type { RuntimeParts } from '../session/compile-session.ts';
import { rehearse, underRegistry } from './rehearsed-call.ts';

export async function checkExamples(registry: Registry, runtime: RuntimeParts): Promise<PolicyCheck> {
  const results = await underRegistry(registry, runtime, async (parts) => {
    const judged: ExampleResult[] = [];
    for (const example of registry.examples) judged.push(await checkExample(example, parts));
    return judged;
  });
  const failed = results.filter(({ holds }) => !holds).length;
  return { ok: failed === 0, examples: results.length, failed, results };
}

/** Throws E_VALIDATION_FAIL that names every example that does not hold, with its line. */
export async function requireExamples(registry: Registry, runtime: RuntimeParts): Promise<void> {
  if (registry.examples.length === 0) return;
  const { results } = await checkExamples(registry, runtime);
  const broken = results.filter(({ holds }) => !holds);
  if (broken.length === 0) return;
  const problems = broken.map(({ path, message = '' }) => {
    const { line = 1, column = 1 } = registry.spot(path) ?? {};
    return { path, message, line, column };
  });
  throw registryRefused(registry.spot(broken[0]?.path ?? '')?.file ?? 'registry', problems);
}

async function checkExample(example: PolicyExample, parts: SessionParts): Promise<ExampleResult> {
  const { tool, args, path, expected, anyOf } = example;
  const spot = parts.registry.spot(path);
  const about = { expected, tool, args, path, registry: spot === undefined ? path : `${spot.file}:${spot.line}` };
  const later = laterRule(example, parts);
  if (later !== undefined) return { holds: false, decision: null, ...about, message: later };
  const { decision, code, error } = await rehearse({ tool, args }, parts);
  if (anyOf.includes(decision)) return { holds: true, decision, ...about };
  const call = safeText(`${tool} ${JSON.stringify(args)}`, 160);
  const because = error === undefined ? code : error.message;
  return {
    holds: false,
    decision,
    ...about,
    message: `Example does not hold: ${call} is ${SAID[decision]}, must be ${SAID[expected]} (${safeText(because, 200)})`,
  };
}

const SAID = { allow: 'allowed', ask: 'asked about', deny: 'denied' } as const;

/** What a rule finds in files or commits cannot be told from arguments. */
function laterRule({ rule }: PolicyExample, { rules }: SessionParts): string | undefined {
  if (rule === undefined) return undefined;
  const [active] = rules.select([rule]);
  if (active === undefined || active.rule.phase === 'before') return undefined;
  return `Example cannot be checked: ${rule} judges files or commits, not arguments (remove the example)`;
}
