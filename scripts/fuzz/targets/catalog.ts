/** Every fuzz target, loaded when it is run: a new one is one file here, its seeds, and one line. */
import type { FuzzCatalog } from '../fuzz-target.ts';

export const FUZZ_TARGETS: FuzzCatalog = {
  envelopes: async () => (await import('./envelopes.ts')).envelopes,
  'result-json': async () => (await import('./result-json.ts')).resultJson,
  urls: async () => (await import('./urls.ts')).urls,
  globs: async () => (await import('./globs.ts')).globs,
  registries: async () => (await import('./registries.ts')).registries,
  'shell-lines': async () => (await import('./shell-lines.ts')).shellLines,
  patches: async () => (await import('./patches.ts')).patches,
  'lsp-frames': async () => (await import('./lsp-frames.ts')).lspFrames,
  'mcp-frames': async () => (await import('./mcp-frames.ts')).mcpFrames,
  dispatcher: async () => (await import('./dispatcher.ts')).dispatcher,
};
