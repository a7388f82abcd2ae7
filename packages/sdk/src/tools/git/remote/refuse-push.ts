/** Why nothing may be pushed, with the line that decided. */
import type { ToolError } from '@tool-runtime/protocol';
import { policyDenial } from '../../../contracts/failures.ts';
import type { Registry } from '../../../contracts/registry.ts';

export function refusePush(registry: Pick<Registry, 'spot'>): ToolError {
  const spot = registry.spot('git.allow_push');
  return policyDenial('Push is not allowed: git.allow_push is false', {
    details: {
      gate: 'route',
      reason: 'push_forbidden',
      field: 'git.allow_push',
      ...(spot === undefined ? {} : { registry: `${spot.file}:${spot.line}` }),
      next: 'have the operator set git.allow_push: true in the registry',
    },
  });
}
