/**
 * Semgrep. Not exercised by our tests, which run a stand-in that prints the documented shapes: it cannot be installed
 * where they run. Without local rules it would ask its registry over the network, so rules must be named.
 */
import { type AnalyzerProvider, configOption, pathsOrAll } from './provider.ts';

export const semgrep: AnalyzerProvider = {
  name: 'semgrep',
  format: 'semgrep-json',
  goodCodes: [0, 1],
  install: 'install Semgrep (python3 -m pip install semgrep) into a folder programs are looked for in',
  configHint: 'give a file or folder of Semgrep rules inside the workspace as config',
  command: (target) => [
    ...['semgrep', 'scan', '--json', '--quiet', '--metrics=off', '--disable-version-check'],
    ...configOption('--config', target),
    ...pathsOrAll(target),
  ],
};
