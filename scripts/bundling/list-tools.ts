/**
 * Replaces the catalogs of tools in a bundle: what is known when it is built is written then. Opening a session converts
 * and hashes no schema, and a call loads the one tool it calls.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'esbuild';
import type { AnyTool } from '../../packages/sdk/src/contracts/tool.ts';
import { argsSchema, dataSchema, schemaDigest } from '../../packages/sdk/src/session/compile-tools.ts';

/** Functions that only a call of the tool needs. A tool with any other is loaded when a session opens. */
const NEEDED_BY_CALLS: ReadonlySet<string> = new Set([
  ...['run', 'rehearse', 'profile', 'operations', 'innerPaths', 'isIdempotent', 'measure', 'git'],
  ...['recordDetails', 'present', 'pathsInText'],
]);
const LINE = /^export \{ (\w+) \} from '(\.\/[^']+)';$/gm;

export const listTools: Plugin = {
  name: 'list-tools',
  setup({ onLoad }) {
    onLoad({ filter: /packages\/(?:sdk|ast)\/src\/tools\/catalog\.ts$/ }, async ({ path: file }) => ({
      contents: await listedCatalog(file),
      loader: 'js',
      resolveDir: path.dirname(file),
    }));
  },
};

export async function listedCatalog(file: string): Promise<string> {
  const lines = [...readFileSync(file, 'utf8').matchAll(LINE)];
  const catalog = (await import(file)) as Readonly<Record<string, AnyTool | ((use: object) => AnyTool)>>;
  if (lines.length !== Object.keys(catalog).length) throw new Error(`Not one line per tool: ${file}`);
  return [HELPER, ...lines.map(([line, name = '', source = '']) => listed(line, name, source))].join('\n');

  function listed(line: string, name: string, source: string): string {
    const entry = catalog[name];
    if (entry === undefined) throw new Error(`No such tool: ${name}`);
    const isMade = typeof entry === 'function';
    const tool = isMade ? entry({}) : entry;
    if (Object.entries(tool).some(([key, value]) => typeof value === 'function' && !NEEDED_BY_CALLS.has(key)))
      return line;
    const facts = JSON.stringify(factsOf(tool));
    const schemas = [argsSchema(tool), dataSchema(tool)].map((schema) => JSON.stringify(JSON.stringify(schema)));
    const load = `async () => (await import('${source}')).${name}${isMade ? '(use)' : ''}`;
    const made = `list(${facts}, ${schemas.join(', ')}, '${schemaDigest(tool)}', ${load})`;
    return `export const ${name} = ${isMade ? `(use) => ${made}` : `/* @__PURE__ */ ${made}`};`;
  }
}

/** Everything but code and schemas. */
function factsOf(tool: AnyTool): object {
  const { args: _args, data: _data, ...rest } = tool;
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => typeof value !== 'function'));
}

/** The facts alone cannot run: whatever reaches for the code of a tool before it is loaded fails. */
const HELPER = `
const missing = () => { throw new TypeError('A tool must be loaded before it is used'); };
const schema = Object.freeze({ safeParse: missing, parse: missing });
function list(facts, argsText, dataText, schemaDigest, load) {
  let args, data, loading;
  const known = {
    argsJsonSchema: { get: () => (args ??= JSON.parse(argsText)) },
    dataJsonSchema: { get: () => (data ??= JSON.parse(dataText)) },
  };
  return Object.freeze(Object.defineProperties({ ...facts, schemaDigest, args: schema, data: schema, run: missing,
    async load() {
      loading ??= load().then((tool) => Object.freeze(Object.defineProperties({ ...tool }, known)));
      try { return await loading; } catch (thrown) { loading = undefined; throw thrown; }
    },
  }, known));
}`;
