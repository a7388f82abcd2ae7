/** Opens the tool sources of a runtime: what they bring is one list, closed with one call. */

import type { ErrorEntry } from '@tool-runtime/protocol';
import { once } from '@tool-runtime/protocol/internal';
import type { HeldWorkspace, OpenCommandRunner } from './contracts/commands.ts';
import type { GoverningPlace } from './contracts/governing.ts';
import type { Registry } from './contracts/registry.ts';
import type { AnyTool } from './contracts/tool.ts';
import type { OpenToolSource, ProgramWall, ToolSource } from './contracts/tool-source.ts';
import { lockPlace } from './lock-place.ts';
import type { Redactor } from './redaction/redactor.ts';

export interface SourceSetting {
  readonly sources: readonly ToolSource[];
  readonly workspace: HeldWorkspace;
  readonly state: string;
  readonly registry: Registry;
  readonly redactor: Redactor;
  readonly governing: readonly GoverningPlace[];
  /** The file the operator's registry was read from: the lock lies beside it. Otherwise it lies in the workspace. */
  readonly registryFile?: string | undefined;
  /** The tools that are there already. */
  readonly tools: readonly AnyTool[];
}

/** A source that does not open closes those before it. */
export async function openSources(setting: SourceSetting): Promise<OpenToolSource> {
  const opened: OpenToolSource[] = [];
  const tools: AnyTool[] = [];
  const warnings: ErrorEntry[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(opened.map((source) => source.close()));
  };
  try {
    for (const source of setting.sources) {
      const names = new Set([...setting.tools, ...tools].map((tool) => tool.name));
      const open = await source.open({
        registry: setting.registry,
        root: setting.workspace.path,
        workspace: setting.workspace,
        state: setting.state,
        lock: lockPlace({ ...setting, workspace: setting.workspace.path }),
        governing: setting.governing,
        names,
        openPrograms: (wall) => lazyPrograms(wall, setting),
        redact: (text) => setting.redactor.known.text(text),
      });
      opened.push(open);
      tools.push(...open.tools);
      warnings.push(...open.warnings);
    }
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return { tools, warnings, close };
}

/** The code behind processes and walls is loaded with the first program. */
function lazyPrograms(wall: ProgramWall, { workspace, state, registry, governing }: SourceSetting): OpenCommandRunner {
  const { allowedDomains } = registry;
  let opening: Promise<OpenCommandRunner> | undefined;
  const open = once(() => {
    opening = import('./platform/commands/command-runner.ts').then(({ createCommandRunner }) =>
      createCommandRunner({ workspace, state, allowedDomains, governing, ...wall }),
    );
    return opening;
  });
  return {
    start: async (request) => (await open()).start(request),
    async close() {
      await (await opening?.catch(() => undefined))?.close();
    },
  };
}
