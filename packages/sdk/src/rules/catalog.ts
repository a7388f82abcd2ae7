/** Every built-in rule, one line each. */
export { codeAstParsed } from './code.ast.parsed.ts';
export { secPathsSandbox } from './sec.paths.sandbox.ts';
