/** Biome, as SARIF because its JSON is experimental. Exit code 1 is findings or failure; a failure prints no SARIF. */
import { type AnalyzerProvider, configOption, pathsOrAll } from './provider.ts';

export const biome: AnalyzerProvider = {
  name: 'biome',
  format: 'sarif',
  goodCodes: [0, 1],
  install: 'install Biome (npm package @biomejs/biome) into a folder programs are looked for in',
  command: (target) => [
    // Unasked it stops after twenty findings.
    ...['biome', 'lint', '--reporter=sarif', '--max-diagnostics=none', '--no-errors-on-unmatched', '--colors=off'],
    ...configOption('--config-path', target),
    ...pathsOrAll(target),
  ],
};
