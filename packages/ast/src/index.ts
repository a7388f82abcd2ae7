/** Public surface of the ast package. A line here is a promise. */
import './tool-types.ts';

export { createAst } from './create-ast.ts';
export type { AstOptions } from './plugin/ast-options.ts';
