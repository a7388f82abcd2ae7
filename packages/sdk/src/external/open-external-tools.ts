/** Opens the external tools of one runtime: their definitions, and the sandboxes their runs share. */
import { type ErrorEntry, ToolError } from '@tool-runtime/protocol';
import type { ExternalToolSettings } from '../contracts/external.ts';
import type { Registry } from '../contracts/registry.ts';
import type { OpenToolSource, ToolSource, ToolSourcePorts } from '../contracts/tool-source.ts';
import {
  createExternalPrograms,
  type ExternalPrograms,
  type ExternalSandbox,
} from '../platform/commands/external-process.ts';
import { packageVersion } from '../platform/package-folder.ts';
import { sweepSealedCopies } from '../platform/runs/sealed-copy.ts';
import { externalTool } from './external-tool.ts';
import { createRunIds } from './protocol/run-ids.ts';
import type { HostEnvironment } from './protocol/tool-environment.ts';
import { copiesFolder, type ExternalPorts } from './run/external-ports.ts';

interface ExternalToolsOptions {
  /** Where secrets, identity and CI are looked up. Default: the host's own. */
  readonly environment?: HostEnvironment;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** Throws E_VALIDATION_FAIL when a name is taken. */
export async function openExternalTools(
  ports: ToolSourcePorts,
  options: ExternalToolsOptions,
): Promise<OpenToolSource> {
  const { registry, state, root, lock } = ports;
  const listed = registry.externalTools.filter(({ command }) => command !== '');
  for (const { name } of listed) if (ports.names.has(name)) throw taken(name, registry);
  await sweepSealedCopies(copiesFolder(state));
  const sandboxes = createSandboxes(ports);
  const now = options.now ?? Date.now;
  const shared: ExternalPorts = {
    state,
    root,
    lock,
    environment: options.environment ?? process.env,
    wrapperVersion: packageVersion(),
    ids: createRunIds(now),
    now,
    probed: new Map(),
    programsFor: sandboxes.programsFor,
  };
  return {
    tools: listed.map((settings) => externalTool(settings, shared)),
    warnings: registry.externalTools.filter(({ command }) => command === '').map((tool) => noCommand(tool, registry)),
    close: sandboxes.close,
  };
}

/** One sandbox for each tool and what a session's registry makes of it. */
export function createSandboxes({
  workspace,
  state,
  governing,
}: Pick<ExternalSandbox, 'workspace' | 'state' | 'governing'>) {
  const sandboxes = new Map<string, ExternalPrograms>();
  return {
    programsFor(settings: ExternalToolSettings, { isolation, allowedDomains }: Registry): ExternalPrograms {
      const readPaths = [
        ...settings.read_paths,
        ...settings.interpreter.slice(0, 1).filter((path) => path.startsWith('/')),
      ];
      const key = JSON.stringify([readPaths, isolation, allowedDomains]);
      const known = sandboxes.get(key);
      if (known !== undefined) return known;
      const made = createExternalPrograms({ workspace, state, isolation, allowedDomains, readPaths, governing });
      sandboxes.set(key, made);
      return made;
    },
    async close(): Promise<void> {
      await Promise.all([...sandboxes.values()].map((sandbox) => sandbox.close()));
    },
  };
}

function place(name: string, registry: Registry) {
  const spot = registry.spot(`external_tools.${name}`);
  return spot === undefined ? {} : { registry: `${spot.file}:${spot.line}` };
}

function taken(name: string, registry: Registry): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Name of the external tool is taken: ${name}`, {
    path: 'external_tools',
    details: { ...place(name, registry), next: 'give it another name' },
  });
}

function noCommand({ name }: ExternalToolSettings, registry: Registry): ErrorEntry {
  return {
    code: 'E_POLICY',
    message: `External tool has no command: ${name}`,
    path: 'external_tools',
    details: {
      ...place(name, registry),
      next: 'give it one; a name alone only keeps a tool in a registry that narrows another',
    },
  };
}

/**
 * The external tools of a registry, as a source of tools for a runtime.
 *
 * Opening starts nothing and costs little; without entries nothing is loaded. A tool's sandbox is set up with its first
 * run.
 */
export function createExternalTools(options: ExternalToolsOptions = {}): ToolSource {
  return {
    async open(ports) {
      if (ports.registry.externalTools.length === 0) return { tools: [], warnings: [], close: async () => {} };
      const { openExternalTools } = await import('./open-external-tools.ts');
      return openExternalTools(ports, options);
    },
  };
}
