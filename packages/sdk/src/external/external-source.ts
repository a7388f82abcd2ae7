/**
 * The external tools of a registry, as a source of tools for a runtime.
 *
 * Opening starts nothing and costs little; without entries nothing is loaded. A tool's sandbox is set up with its first run.
 */
import type { ToolSource } from '../contracts/tool-source.ts';
import type { HostEnvironment } from './protocol/tool-environment.ts';

export interface ExternalToolsOptions {
  /** Where secrets, identity and CI are looked up. Default: the host's own. */
  readonly environment?: HostEnvironment;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

export function createExternalTools(options: ExternalToolsOptions = {}): ToolSource {
  return {
    async open(ports) {
      if (ports.registry.externalTools.length === 0) return { tools: [], warnings: [], close: async () => {} };
      const { openExternalTools } = await import('./open-external-tools.ts');
      return openExternalTools(ports, options);
    },
  };
}
