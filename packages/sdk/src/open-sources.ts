/** Opens the tool sources of a runtime: what they bring is one list, closed with one call. */
import type { ErrorEntry } from '@tool-runtime/protocol';
import { once } from '@tool-runtime/protocol/internal';
import { readOnlyView } from './call/tool-context/execution-context.ts';
import type { AstIndex, AstPlugin, OpenAst } from './contracts/ast.ts';
import type { HeldWorkspace, OpenCommandRunner } from './contracts/commands.ts';
import type { GoverningPlace } from './contracts/governing.ts';
import type { Registry } from './contracts/registry.ts';
import type { AnyTool } from './contracts/tool.ts';
import type { OpenToolSource, ProgramWall, ToolSource } from './contracts/tool-source.ts';
import type { Workspace } from './contracts/workspace.ts';
import { lockPlace } from './governing-places.ts';
import { lazySessionPrograms, lazySpawner } from './platform/commands/lazy-session-programs.ts';
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
  return { tools, warnings, servers: () => opened.flatMap((source) => source.servers?.() ?? []), close };
}

/** The code for processes and sandboxes is loaded with the first program. */
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

interface AstSetting {
  readonly ast: AstIndex | AstPlugin | undefined;
  readonly root: HeldWorkspace;
  readonly state: string;
  readonly workspace: Workspace;
  readonly registry: Registry;
  readonly redactor: Redactor;
  readonly governing: readonly GoverningPlace[];
}

/**
 * Opens the code-intelligence engine of a runtime, when it has one.
 *
 * The engine with its tools and rules, when it is one and not an index alone.
 */
export function pluginOf(ast: AstSetting['ast']): AstPlugin | undefined {
  return ast !== undefined && 'open' in ast ? ast : undefined;
}

/** Language servers run inside the sandbox of the runtime's own registry: they outlive sessions. */
export async function openAst({ ast, ...setting }: AstSetting): Promise<OpenAst | undefined> {
  if (ast === undefined) return undefined;
  if (!('open' in ast)) return { index: ast, close: async () => {} };
  const { root, state, workspace, registry, redactor, governing } = setting;
  const programs = lazySessionPrograms({
    ...{ workspace: root, state, registry, actor: 'ast', governing },
    spawner: lazySpawner(),
  });
  const opened = await ast.open({
    workspace: readOnlyView(workspace),
    root: root.path,
    state,
    commands: programs.commands,
    registry,
    redact: (text) => redactor.known.text(text),
  });
  return {
    index: opened.index,
    async close() {
      await opened.close();
      await programs.close();
    },
  };
}

/**
 * The external tools of a registry, as a source of tools for a runtime.
 *
 * Opening starts nothing and costs little; without entries nothing is loaded. A tool's sandbox is set up with its first
 * run.
 */
export function createExternalTools(): ToolSource {
  return {
    async open(ports) {
      if (ports.registry.externalTools.length === 0) return { tools: [], warnings: [], close: async () => {} };
      const { openExternalTools } = await import('./external/open-external-tools.ts');
      return openExternalTools(ports, {});
    },
  };
}
