/** Every built-in rule, one line each. */
export { codeAstParsed } from './code.ast.parsed.ts';
export { secNetworkAllowlist } from './sec.network.allowlist.ts';
export { secPathsSandbox } from './sec.paths.sandbox.ts';
export { secShellAllowlist } from './sec.shell.allowlist.ts';
