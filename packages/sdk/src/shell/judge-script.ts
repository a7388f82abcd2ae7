/** Whether a script for bash may run. */
import type { CommandList } from '../contracts/command-list.ts';
import type { Registry } from '../contracts/registry.ts';
import { shellRefusal } from './refusal.ts';

/** Throws E_POLICY. */
export function judgeScript(_list: CommandList, registry: Pick<Registry, 'isolation'>): void {
  if (registry.isolation === 'none') {
    throw shellRefusal('Sandboxed command mode needs a sandbox, and isolation is none', {
      reason: 'no_sandbox',
      field: 'isolation',
      next: 'set isolation: bubblewrap, or shell.mode: strict',
    });
  }
}
