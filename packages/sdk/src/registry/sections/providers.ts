/** `providers`: language servers and analyzers by name. The part that starts them checks what is in them. */
import type { JsonValue } from '@tool-runtime/protocol';
import { z } from 'zod';
import { bareTable } from '../freeze.ts';
import { type Narrowing, sameJson } from '../narrowing.ts';
import { defineSection } from '../section.ts';
import { nameText } from '../texts.ts';

export const providers = defineSection({
  keys: {
    providers: z.record(nameText, z.unknown()).default({}).describe('Language servers and analyzers by name'),
  },
  build: (written) => ({ providers: bareTable(Object.entries(written.providers as Record<string, JsonValue>)) }),
  narrow: (narrowing) => ({ providers: narrowProviders(narrowing) }),
  needs: (written) => (Object.keys(written.providers).length > 0 ? 'process_exec' : undefined),
});

function narrowProviders({ host, session, overreach }: Narrowing): Readonly<Record<string, JsonValue>> {
  const kept = Object.entries(session.providers).filter(([name, provider]) => {
    if (sameJson(provider, host.providers[name])) return true;
    overreach.push({ path: `providers.${name}`, message: `Provider is not one of the host's: ${name}` });
    return false;
  });
  return bareTable(kept);
}
