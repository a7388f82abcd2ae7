/** The formats findings are read from. A new one is a file, its test and a line here. */
export { astGrepJson } from './ast-grep-json.ts';
export { biomeJson } from './biome-json.ts';
export { eslintJson } from './eslint-json.ts';
export { oxlintJson } from './oxlint-json.ts';
export { pyrightJson } from './pyright-json.ts';
export { sarif } from './sarif.ts';
export { semgrepJson } from './semgrep-json.ts';
