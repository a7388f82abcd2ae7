/**
 * The engine of the operator's patterns builds large tables when it is loaded, and most calls compile no pattern. In the
 * command its module is evaluated by the first pattern. Written as `require`, because esbuild evaluates only that late.
 */
import type { Plugin } from 'esbuild';

const NAMESPACE = 'late-engine';

export const lateEngine: Plugin = {
  name: 'late-engine',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^re2js$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: 're2js', namespace: NAMESPACE, sideEffects: false } : undefined,
    );
    onLoad({ filter: /./, namespace: NAMESPACE }, () => ({
      contents: `export const RE2JS = { compile: (...given) => require('re2js').RE2JS.compile(...given) };`,
      resolveDir: import.meta.dirname,
    }));
  },
};
