/** `import_rules`: import boundaries. The rule that uses them checks what is in them. Those of both sides hold. */
import type { JsonObject } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineSection } from '../section.ts';

export const importRules = defineSection({
  keys: {
    import_rules: z.array(z.record(z.string(), z.unknown())).default([]).describe('Import boundaries'),
  },
  build: ({ import_rules: rules }) => ({ importRules: rules as readonly JsonObject[] }),
  narrow: ({ host, session }) => ({ importRules: [...host.importRules, ...session.importRules] }),
});
