/** The check of a rule that is about places in code. The code for it is loaded when it first runs. */
import type { RuleDefinition } from '@tool-runtime/sdk';
import type { InspectServices } from './inspect-changes.ts';
import type { JudgedKind, PlaceJudge } from './judge-places.ts';

export function checkPlaces<Kind extends JudgedKind>(
  use: () => InspectServices,
  judge: PlaceJudge<Kind>,
): RuleDefinition['check'] {
  return async (_subject, context) => {
    const [{ inspectChanges }, { judgePlaces }] = await Promise.all([
      import('./inspect-changes.ts'),
      import('./judge-places.ts'),
    ]);
    const files = await inspectChanges(await context.changeSet(), { services: use(), context });
    return judgePlaces(files, judge);
  };
}
