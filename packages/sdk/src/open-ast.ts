/** Opens the code-intelligence engine of a runtime, when it has one. */
import { readOnlyView } from './call/tool-context/execution-context.ts';
import type { AstIndex, AstPlugin, OpenAst } from './contracts/ast.ts';
import type { HeldWorkspace } from './contracts/commands.ts';
import type { GoverningPlace } from './contracts/governing.ts';
import type { Registry } from './contracts/registry.ts';
import type { Workspace } from './contracts/workspace.ts';
import { lazySessionPrograms, lazySpawner } from './platform/commands/lazy-session-programs.ts';
import type { Redactor } from './redaction/redactor.ts';

export interface AstSetting {
  readonly ast: AstIndex | AstPlugin | undefined;
  readonly root: HeldWorkspace;
  readonly state: string;
  readonly workspace: Workspace;
  readonly registry: Registry;
  readonly redactor: Redactor;
  readonly governing: readonly GoverningPlace[];
}

/** The engine with its tools and rules, when it is one and not an index alone. */
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
