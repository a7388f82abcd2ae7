/** Tools of other packages, which a registry may name also where the runtime was created without them. */
export const OTHER_TOOLS: readonly string[] = [
  ...['ast_edit', 'ast_external', 'ast_generate', 'ast_query', 'ast_validate'],
  ...['child_open', 'child_call', 'child_close'],
];
