/** Every rule this package brings, one line each. */
export { codeFnDocsExported } from './code.fn.docs.exported.ts';
export { codeModImportRules } from './code.mod.import.rules.ts';
export { codeNoPanicInLib } from './code.no.panic.in.lib.ts';
export { codeNoUnwrap } from './code.no.unwrap.ts';
