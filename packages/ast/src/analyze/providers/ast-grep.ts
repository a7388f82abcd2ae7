/** ast-grep. Exit code 1 means that a rule of level error matched; 2 and above that nothing was scanned. */
import { posix } from 'node:path';
import { type AnalyzerProvider, configOption, pathsOrAll } from './provider.ts';

export const astGrep: AnalyzerProvider = {
  name: 'ast-grep',
  format: 'ast-grep-json',
  goodCodes: [0, 1],
  install: 'install ast-grep (npm package @ast-grep/cli) into a folder programs are looked for in',
  command: (target) => [
    ...['ast-grep', 'scan', '--json=stream'],
    ...configOption(isProject(target.config) ? '--config' : '--rule', target),
    ...pathsOrAll(target),
  ],
};

function isProject(config: string | undefined): boolean {
  return /^sgconfig\.ya?ml$/.test(posix.basename(config ?? ''));
}
