/** The analyzers that can be run by name. A new one is a file and a line here. */
export { astGrep } from './ast-grep.ts';
export { biome } from './biome.ts';
export { eslint } from './eslint.ts';
export { oxlint } from './oxlint.ts';
export { pyright } from './pyright.ts';
export { semgrep } from './semgrep.ts';
