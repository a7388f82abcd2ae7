/** createAst: code intelligence for one runtime, with its tools and rules. Opening it reads and parses nothing. */
import type { AstIndex, AstPlugin, Registry } from '@tool-runtime/sdk';
import type { AstOptions } from './plugin/ast-options.ts';
import { type CodeServices, createCodeServices, stagedServices, type UseServices } from './plugin/code-services.ts';
import { createRuntimeIndex } from './plugin/runtime-index.ts';
import * as rules from './rules/catalog.ts';
import * as tools from './tools/catalog.ts';

export function createAst(options: AstOptions = {}): AstPlugin {
  let opened: CodeServices | undefined;
  /** Those of open transactions, by the index that their calls are given. */
  const staged = new WeakMap<AstIndex, CodeServices>();
  const use: UseServices = (context) => {
    const own = context?.ast && staged.get(context.ast);
    if (own !== undefined) return own;
    if (opened === undefined) throw new TypeError('Code intelligence is used before its runtime opened it');
    return opened;
  };
  return {
    tools: Object.values(tools).map((define) => define(use)),
    rules: Object.values(rules).map((define) => define(use)),
    async open(ports) {
      if (opened !== undefined)
        throw new TypeError('Code intelligence serves one runtime: call createAst once for each');
      await checkSettings(ports.registry);
      const services = createCodeServices(ports, options);
      opened = services;
      const index: AstIndex = {
        ...createRuntimeIndex(services),
        stage(tree) {
          const own = stagedServices(services, tree, options);
          const view = { ...createRuntimeIndex(own), close: () => own.close() };
          staged.set(view, own);
          return view;
        },
      };
      return {
        index,
        async close() {
          opened = undefined;
          await services.close();
        },
      };
    },
  };
}

/** What the registry leaves to us is checked when the runtime opens, not when a rule or a tool first needs it. */
async function checkSettings(registry: Registry): Promise<void> {
  if (registry.importRules.length > 0) {
    const { compileImportRules } = await import('./rules/imports/import-rule.ts');
    compileImportRules(registry);
  }
  if (Object.keys(registry.providers).length > 0) {
    const [{ analyzerSettings }, { resolveProviders }] = await Promise.all([
      import('./tools/external/analyzer-settings.ts'),
      import('./lsp/resolve-providers.ts'),
    ]);
    analyzerSettings(registry.providers);
    resolveProviders(registry.providers);
  }
}
