/** `examples`: calls that the registry must allow, ask about or deny. They are judged whenever it is loaded. */
import { z } from 'zod';
import { examplesAt } from '../policy-examples.ts';
import { defineSection } from '../section.ts';
import { exampleList } from '../texts.ts';

const schema = z.strictObject({
  allow: exampleList.exactOptional().describe('Calls that run without asking'),
  ask: exampleList.exactOptional().describe('Calls that need an approval'),
  deny: exampleList.exactOptional().describe('Calls that are refused'),
});

export const examples = defineSection({
  keys: {
    examples: schema.exactOptional().describe('Calls that must be allowed, asked about or denied; checked at load'),
  },
  build: () => ({}),
  narrow: () => ({}),
  toolNames: ['examples.allow.*.tool', 'examples.ask.*.tool', 'examples.deny.*.tool'],
  examples: ({ examples: written = {} }) =>
    (['allow', 'ask', 'deny'] as const).flatMap((expected) =>
      examplesAt(`examples.${expected}`, written[expected], expected, [expected]),
    ),
  // What is expected of a registry is no part of what it allows.
  meaning: () => ({}),
});
