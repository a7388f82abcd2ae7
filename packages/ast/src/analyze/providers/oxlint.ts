/** oxlint. Exit code 1 means errors were found, or that it could not work; then the output is not JSON. */
import { type AnalyzerProvider, configOption, pathsOrAll } from './provider.ts';

export const oxlint: AnalyzerProvider = {
  name: 'oxlint',
  format: 'oxlint-json',
  goodCodes: [0, 1],
  install: 'install oxlint (npm package oxlint) into a folder programs are looked for in',
  command: (target) => [
    // Else it prints a sentence in front of the JSON when there is nothing to lint.
    ...['oxlint', '--format=json', '--no-error-on-unmatched-pattern'],
    ...configOption('--config', target),
    ...pathsOrAll(target),
  ],
};
