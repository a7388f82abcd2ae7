/** Every tool this package brings, one line each. */
export { astEdit } from './ast-edit.ts';
export { astExternal } from './ast-external.ts';
export { astGenerate } from './ast-generate.ts';
export { astQuery } from './ast-query.ts';
export { astValidate } from './ast-validate.ts';
