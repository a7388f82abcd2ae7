/** Pyright. Exit code 1 means errors were found; 2 to 4 that it failed, could not read its configuration or its options. */
import { type AnalyzerProvider, configOption } from './provider.ts';

export const pyright: AnalyzerProvider = {
  name: 'pyright',
  format: 'pyright-json',
  goodCodes: [0, 1],
  install: 'install Pyright (npm package pyright) into a folder programs are looked for in',
  // Named paths replace what the project's configuration includes, so none are named unasked.
  command: (target) => ['pyright', '--outputjson', ...configOption('--project', target), ...target.paths],
};
