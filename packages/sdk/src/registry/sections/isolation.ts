/** `isolation`: the sandbox around commands. */
import { z } from 'zod';
import type { Registry } from '../../contracts/registry.ts';
import type { Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';

export const isolation = defineSection({
  keys: {
    isolation: z
      .enum(['bubblewrap', 'none'])
      .default('bubblewrap')
      .describe('Sandbox around commands; none switches it off'),
  },
  build: (written) => ({ isolation: written.isolation }),
  narrow: (narrowing) => ({ isolation: narrowIsolation(narrowing) }),
});

function narrowIsolation({ host, session, overreach }: Narrowing): Registry['isolation'] {
  if (session.isolation === 'none' && host.isolation !== 'none') {
    overreach.push({ path: 'isolation', message: 'Isolation cannot be switched off: the host requires it' });
  }
  return host.isolation === 'none' && session.isolation === 'none' ? 'none' : 'bubblewrap';
}
