/** Every built-in rule, one line each. */
export { branchNamingConvention } from './branch.naming.convention.ts';
export { buildMustPass } from './build.must.pass.ts';
export { codeAstParsed } from './code.ast.parsed.ts';
export { codeTodoBlockers } from './code.todo.blockers.ts';
export { commitMessageConventional } from './commit.message.conventional.ts';
export { fmtMustPass } from './fmt.must.pass.ts';
export { lintMustPass } from './lint.must.pass.ts';
export { secGitCleanTree } from './sec.git.clean_tree.ts';
export { secNetworkAllowlist } from './sec.network.allowlist.ts';
export { secPathsSandbox } from './sec.paths.sandbox.ts';
export { secShellAllowlist } from './sec.shell.allowlist.ts';
export { secretsScan } from './secrets.scan.ts';
export { testRequiredChanged } from './test.required.changed.ts';
