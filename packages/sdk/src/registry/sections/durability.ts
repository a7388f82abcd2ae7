/** `durability`: what has to be on the disk before a call is answered. */
import { z } from 'zod';
import type { Durability } from '../../contracts/registry.ts';
import { isWritten, type Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';

export const durability = defineSection({
  keys: {
    durability: z
      .enum(['normal', 'full'])
      .default('normal')
      .describe(
        'What a power cut may take: normal: about the last second of records and what the kernel had not written of files; full: nothing that was acknowledged, at the price of waiting for the disk. --durability can only raise it',
      ),
  },
  build: (written) => ({ durability: written.durability }),
  narrow: (narrowing) => ({ durability: narrowDurability(narrowing) }),
});

/** The stronger level holds. */
function narrowDurability({ host, session, overreach }: Narrowing): Durability {
  if (host.durability === 'full' && session.durability === 'normal' && isWritten(session, 'durability')) {
    overreach.push({ path: 'durability', message: 'Durability cannot be lowered: the host requires full' });
  }
  return host.durability === 'full' || session.durability === 'full' ? 'full' : 'normal';
}
