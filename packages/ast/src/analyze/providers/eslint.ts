/** ESLint. Exit code 1 means errors were found, 2 that it could not work, such as without a configuration. */
import { type AnalyzerProvider, configOption, pathsOrAll } from './provider.ts';

export const eslint: AnalyzerProvider = {
  name: 'eslint',
  format: 'eslint-json',
  goodCodes: [0, 1],
  install: 'install ESLint (npm package eslint) into a folder programs are looked for in',
  command: (target) => [
    ...['eslint', '--format', 'json', '--no-error-on-unmatched-pattern'],
    ...configOption('--config', target),
    ...pathsOrAll(target),
  ],
};
