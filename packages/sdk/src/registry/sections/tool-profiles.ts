/** `tool_profiles`: named lists of tools that MCP clients are shown. What may run is the same with and without them. */
import { z } from 'zod';
import { bareTable } from '../freeze.ts';
import { defineSection } from '../section.ts';
import { nameText, toolGlob } from '../texts.ts';

export const toolProfiles = defineSection({
  keys: {
    tool_profiles: z
      .record(nameText, z.array(toolGlob))
      .default({})
      .describe('Named lists of tools for MCP clients (--profile): what they are shown, not what is allowed'),
  },
  build: ({ tool_profiles: profiles }) => ({
    toolProfiles: bareTable<readonly string[]>(Object.entries(profiles)),
  }),
  narrow: ({ host }) => ({ toolProfiles: host.toolProfiles }),
  toolNames: ['tool_profiles.*.*'],
  meaning: () => ({}),
});
