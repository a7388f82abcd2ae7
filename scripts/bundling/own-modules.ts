/**
 * Modules of Node's own, asked for by call. An import of one copies all its exports, and by that loads what the module
 * itself loads late: `node:fs` its streams and promises, `node:crypto` the web's. CommonJS inside an ES module cannot
 * require them either.
 */
import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

const REQUIRED = 'required-module';
const IMPORTED = 'imported-module';
const NAME = /^[A-Za-z_$][\w$]*$/;

export const ownModules: Plugin = {
  name: 'own-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[a-z]/ }, ({ path: specifier, kind }) => {
      if (!isBuiltin(specifier) || kind === 'dynamic-import') return undefined;
      const name = specifier.startsWith('node:') ? specifier : `node:${specifier}`;
      // Its name is a promise that asking for it changes nothing: what is not used is left out.
      return { path: name, namespace: kind === 'require-call' ? REQUIRED : IMPORTED, sideEffects: false };
    });
    onLoad({ filter: /./, namespace: REQUIRED }, ({ path: name }) => ({
      contents: `module.exports = ${asked(name)};`,
    }));
    onLoad({ filter: /./, namespace: IMPORTED }, ({ path: name }) => ({ contents: namesOf(name) }));
  },
};

/** `process` itself may be what is imported. */
function asked(name: string): string {
  return `globalThis.process.getBuiltinModule(${JSON.stringify(name)})`;
}

/** Not loaded by a bare Node, and used by few calls: their functions load them when they are called. */
const LATE: ReadonlySet<string> = new Set([
  ...['node:child_process', 'node:dns/promises', 'node:fs/promises', 'node:http', 'node:https', 'node:net'],
  ...['node:stream/consumers', 'node:zlib'],
]);

/** One export per name, each left out by the bundler where it is not used, because reading some of them loads more. */
function namesOf(name: string): string {
  const exported = Object.entries(process.getBuiltinModule(name) ?? {});
  const named = exported.filter(([one]) => NAME.test(one) && one !== 'default');
  const lines = named.map(([one, value]) =>
    LATE.has(name) && isPlainFunction(value)
      ? `const own_${one} = (...given) => whole().${one}(...given);`
      : `const own_${one} = /* @__PURE__ */ read(${JSON.stringify(one)});`,
  );
  return [
    `const whole = () => ${asked(name)};`,
    'const read = (one) => whole()[one];',
    'const all = /* @__PURE__ */ whole();',
    ...lines,
    `export { all as default, ${named.map(([one]) => `own_${one} as ${one}`).join(', ')} };`,
  ].join('\n');
}

const OF_EVERY_FUNCTION: ReadonlySet<string | symbol> = new Set(['length', 'name', 'prototype', 'arguments', 'caller']);

/** Neither a class nor a function with properties, such as what `promisify` makes of it: another function can stand for it. */
function isPlainFunction(value: unknown): boolean {
  if (typeof value !== 'function' || /^class\b/.test(String(value))) return false;
  const { prototype } = value as { readonly prototype?: object };
  const methods = prototype === undefined ? [] : Reflect.ownKeys(prototype).filter((one) => one !== 'constructor');
  return methods.length === 0 && Reflect.ownKeys(value).every((one) => OF_EVERY_FUNCTION.has(one));
}
