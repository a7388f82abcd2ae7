/** Public surface of the ast package. A line here is a promise. */
export { createAst } from './create-ast.ts';
export type { AstOptions } from './plugin/ast-options.ts';
