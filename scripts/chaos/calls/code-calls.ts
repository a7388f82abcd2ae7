/** Code intelligence: the index, edits of a file of the lane's own, and a language server. */
import { existsSync } from 'node:fs';
import { type CallKind, type Lane, planCall } from './call-maker.ts';

const AST_CODES = ['E_AST_EDIT', 'E_AST_PARSE', 'E_VALIDATION_FAIL', 'E_TIMEOUT', 'E_POLICY', 'E_FILE_IO'];
const GOPLS = '/usr/bin/gopls';

export const codeCalls: readonly CallKind[] = [
  { name: 'index', weight: 4, make: index },
  { name: 'query', weight: 15, make: query },
  { name: 'check declarations', weight: 4, make: check },
  { name: 'edit code', weight: 8, make: edit },
  ...(existsSync(GOPLS) ? [{ name: 'language server', weight: 8, make: askServer }] : []),
];

function index(lane: Lane) {
  return planCall(lane, { tool: 'ast_generate', args: { paths: ['src/part-3'] }, mayFail: AST_CODES });
}

function query(lane: Lane) {
  const where = { name_like: 'part1%', file_glob: 'src/part-1/*.ts' };
  return planCall(lane, { tool: 'ast_query', args: { where, limit: 20 }, mayFail: AST_CODES });
}

function check(lane: Lane) {
  const rules = [{ id: 'docs', where: { type: 'function', file_glob: 'src/part-2/*.ts' }, must_have: ['doc'] }];
  return planCall(lane, { tool: 'ast_validate', args: { rules }, mayFail: AST_CODES });
}

/** On sources that git calls change too: whole values or refusals, never half an edit. */
function edit(lane: Lane) {
  const args = {
    operation: 'rewrite',
    language: 'typescript',
    pattern: 'export const $NAME = $VALUE',
    replacement: `export const $NAME = ${++lane.turn}`,
    paths: ['src/part-10/*.ts'],
    server: 'never',
  };
  return planCall(lane, { tool: 'ast_edit', args, mayFail: AST_CODES });
}

function askServer(lane: Lane) {
  const request = { method: 'workspace/symbol', params: { query: 'Greet' } };
  // A server that was killed again and again rests for a while.
  return planCall(lane, {
    tool: 'ast_external',
    args: { provider: 'gopls', request },
    mayFail: [...AST_CODES, 'E_SHELL', 'E_INTERNAL'],
  });
}
