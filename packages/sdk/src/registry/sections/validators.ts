/** `validators`: the rules in force and their levels. */
import { z } from 'zod';
import { ENFORCEMENTS } from '../../contracts/classes.ts';
import type { Validator } from '../../contracts/registry.ts';
import { freezeMap } from '../freeze.ts';
import { type Narrowing, placeEntry } from '../narrowing.ts';
import { examplesOf } from '../policy-examples.ts';
import { type BuildContext, defineSection } from '../section.ts';
import { exampleList, ruleId } from '../texts.ts';

const validator = z.strictObject({
  rule: ruleId.describe('Rule id'),
  enforcement: z.enum(ENFORCEMENTS).exactOptional().describe("Level; the rule's own when left out"),
  allow: exampleList.exactOptional().describe('Calls that must not be refused; checked at load'),
  deny: exampleList.exactOptional().describe('Calls that must be refused; checked at load'),
});

export const validators = defineSection({
  keys: { validators: z.array(validator).default([]).describe('Rules in force and their levels') },
  build: (written, context) => ({
    validators: freezeMap(new Map(withLevels(written.validators, context).map((entry) => [entry.rule, entry]))),
  }),
  narrow: (narrowing) => ({ validators: narrowValidators(narrowing) }),
  toolNames: ['validators.*.allow.*.tool', 'validators.*.deny.*.tool'],
  examples: ({ validators: written }) =>
    written.flatMap((entry, index) => examplesOf(`validators.${index}`, entry, entry.rule)),
  lists: { validators: (written) => written.validators.map(({ rule }) => rule) },
  meaning: (written, context) => ({ validators: withLevels(written.validators, context) }),
});

function withLevels(written: readonly z.output<typeof validator>[], { rules }: BuildContext): readonly Validator[] {
  return written.map(({ rule, enforcement }) => ({
    rule,
    enforcement: enforcement ?? rules.get(rule)?.defaultEnforcement ?? 'blocking',
  }));
}

/** Host's first, in its order. A session can add rules and strengthen levels. */
function narrowValidators(narrowing: Narrowing): ReadonlyMap<string, Validator> {
  const { host, session } = narrowing;
  const result = new Map<string, Validator>();
  for (const rule of new Set([...host.validators.keys(), ...session.validators.keys()])) {
    const own = session.validators.get(rule);
    const given = host.validators.get(rule);
    const weaker = own !== undefined && given !== undefined && strictness(own) > strictness(given);
    if (weaker) {
      const path = `validators.${rule}.enforcement`;
      narrowing.overreach.push({ path, message: `Rule is ${given.enforcement} at the host: ${rule}` });
    }
    const validator = weaker ? given : (own ?? given);
    if (validator === undefined) continue;
    const spot = (validator === own ? session : host).spot(`validators.${rule}`);
    placeEntry(narrowing, 'validators', { index: result.size, name: rule, spot });
    result.set(rule, validator);
  }
  return freezeMap(result);
}

/** Smaller is stricter. */
function strictness({ enforcement }: Validator): number {
  return ENFORCEMENTS.indexOf(enforcement);
}
