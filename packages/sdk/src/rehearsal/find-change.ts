/**
 * The smallest change of a registry that turns the answer to one call: deny and ask into allow, allow into deny.
 *
 * Every candidate is applied to the document in memory and the call is judged again by the same gates, so what is
 * suggested is known to work. Candidates with fewer edits are tried first. Nothing on disk changes.
 */
import type { RegistryChange, RegistryEdit } from '@tool-runtime/protocol';
import { isToolError, type JsonObject } from '@tool-runtime/protocol';
import type { Registry } from '../contracts/registry.ts';
import { candidates, refusals } from './change-candidates.ts';
import type { RehearsalGround } from './explain-call.ts';
import { applyEdits, describeEdits, documentOf, loadDocument, placeEdits } from './registry-edits.ts';
import { type Decision, type Rehearsal, type RehearsedCall, rehearse, underRegistry } from './rehearsed-call.ts';

/** More than any call we know needs; each step costs the opening of a session. */
const MAX_TRIED = 40;
const MAX_EDITS = 5;

interface Ground extends RehearsalGround {
  redact(text: string): string;
}

/** Null where no change was found: what refuses is no key of the registry, or the text cannot be changed by it. */
export async function findChange(
  call: RehearsedCall,
  before: Rehearsal,
  ground: Ground,
): Promise<RegistryChange | null> {
  if (!ground.isTrusted) return null;
  const document = documentOf(ground.source);
  const wanted: Decision = before.decision === 'allow' ? 'deny' : 'allow';
  const waiting: (readonly RegistryEdit[])[] = [];
  const known = new Set<string>();
  const push = (edits: readonly RegistryEdit[]): void => {
    const key = JSON.stringify(edits.map((edit) => JSON.stringify(edit)).toSorted());
    // A change that would spell out a secret is not suggested.
    if (edits.length > MAX_EDITS || known.has(key) || ground.redact(key) !== key) return;
    known.add(key);
    waiting.push(edits);
  };
  for (const edit of candidates(before, { call, document, wanted, registry: ground.registry, ...ground.runtime }))
    push([edit]);
  for (let tried = 0; tried < MAX_TRIED; tried++) {
    const edits = waiting.shift();
    if (edits === undefined) return null;
    const outcome = await tryEdits(call, { document, edits }, ground);
    if (outcome === undefined) continue;
    const { rehearsal, registry, changed } = outcome;
    if (rehearsal.decision === wanted)
      return report(wanted, await withoutNeedless(call, { document, edits, wanted }, ground), ground);
    // Of no use: it was refused before for the same reasons.
    if (rehearsal.decision !== 'ask' && refusals(rehearsal) === refusals(before)) continue;
    for (const next of candidates(rehearsal, { call, document: changed, wanted, registry, ...ground.runtime }))
      push([...edits, next]);
  }
  return null;
}

interface Tried {
  readonly document: JsonObject;
  readonly edits: readonly RegistryEdit[];
}

interface Outcome {
  readonly rehearsal: Rehearsal;
  readonly registry: Registry;
  readonly changed: JsonObject;
}

/** Undefined when no registry and no session come of the edits. */
export async function tryEdits(
  call: RehearsedCall,
  { document, edits }: Tried,
  { runtime, known, source }: RehearsalGround,
): Promise<Outcome | undefined> {
  try {
    const changed = applyEdits(document, edits);
    const registry = loadDocument(changed, source?.file ?? 'registry', known);
    const rehearsal = await underRegistry(registry, runtime, (parts) => rehearse(call, parts, { hear: true }));
    return { rehearsal, registry, changed };
  } catch (thrown) {
    if (isToolError(thrown)) return undefined;
    throw thrown;
  }
}

/** Leaves out each edit that the answer turns without. */
async function withoutNeedless(
  call: RehearsedCall,
  { document, edits, wanted }: Tried & { readonly wanted: Decision },
  ground: Ground,
): Promise<readonly RegistryEdit[]> {
  let kept = edits;
  for (const edit of edits) {
    const fewer = kept.filter((one) => one !== edit);
    if (fewer.length === 0) break;
    const outcome = await tryEdits(call, { document, edits: fewer }, ground);
    if (outcome?.rehearsal.decision === wanted) kept = fewer;
  }
  return kept;
}

function report(decision: Decision, edits: readonly RegistryEdit[], { registry }: Ground): RegistryChange {
  const placed = placeEdits(edits, registry);
  return { decision, edits: placed, text: describeEdits(placed) };
}
