/**
 * Writes the pages that follow from the code, so that they cannot disagree with it.
 *
 * `npm run docs` writes; `--check` compares, names every stale file and fails.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createAst } from '../packages/ast/src/create-ast.ts';
import { asyncApiDocument } from '../packages/host/src/describe/asyncapi.ts';
import { openApiDocument } from '../packages/host/src/describe/openapi.ts';
import * as routeCatalog from '../packages/host/src/http/routes/catalog.ts';
import { hostVersion } from '../packages/host/src/ops/host-version.ts';
import * as rules from '../packages/sdk/src/rules/catalog.ts';
import * as tools from '../packages/sdk/src/tools/catalog.ts';
import { API_FOLDER, apiPages } from './docs/api-pages.ts';
import { cliPage } from './docs/cli-page.ts';
import { conformancePage, readStoredResults } from './docs/conformance-page.ts';
import { errorsPage } from './docs/errors-page.ts';
import { httpPage } from './docs/http-page.ts';
import { registryPage, undocumentedKeys } from './docs/registry-page.ts';
import { findNamedIds, type NamedIds, requirementsPage, unexplainedIds } from './docs/requirements-page.ts';
import { rulesPage } from './docs/rules-page.ts';
import { SCHEMA_FOLDER, schemaFiles } from './docs/schema-files.ts';
import { toolsPage } from './docs/tools-page.ts';

const ROOT = path.join(import.meta.dirname, '..');

/** Path from the root → text. */
export async function generateDocs(named: NamedIds = findNamedIds(ROOT)): Promise<Map<string, string>> {
  const ast = createAst();
  const toolList = [...Object.values(tools), ...ast.tools];
  const ruleList = [...Object.values(rules), ...ast.rules];
  const routes = Object.values(routeCatalog);
  const version = hostVersion();
  return new Map([
    ['docs/tools.md', toolsPage(toolList)],
    ['docs/rules.md', rulesPage(ruleList)],
    ['docs/errors.md', errorsPage()],
    ['docs/http.md', httpPage(routes)],
    ['docs/requirements.md', requirementsPage(named)],
    ['docs/openapi.json', jsonText(openApiDocument({ version, routes }))],
    ['docs/asyncapi.json', jsonText(asyncApiDocument({ version }))],
    ...apiPages(ROOT),
    ...schemaFiles({ tools: toolList.map(({ name }) => name), rules: ruleList.map(({ id }) => id) }),
    ['docs/registry.md', registryPage()],
    ['docs/cli.md', await cliPage()],
    ['docs/conformance.md', conformancePage(readStoredResults(ROOT))],
  ]);
}

function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Files that differ from the code, are missing, or belong to nothing any more. */
export function staleDocs(root: string, docs: ReadonlyMap<string, string>): string[] {
  const wrong = [...docs].filter(([file, text]) => readText(path.join(root, file)) !== text).map(([file]) => file);
  return [...wrong, ...leftovers(root, docs)].sort();
}

export function writeDocs(root: string, docs: ReadonlyMap<string, string>): void {
  for (const file of leftovers(root, docs)) rmSync(path.join(root, file));
  for (const [file, text] of docs) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
}

function leftovers(root: string, docs: ReadonlyMap<string, string>): string[] {
  return [SCHEMA_FOLDER, API_FOLDER]
    .filter((folder) => existsSync(path.join(root, folder)))
    .flatMap((folder) => readdirSync(path.join(root, folder)).map((name) => `${folder}/${name}`))
    .filter((file) => !docs.has(file));
}

function readText(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

if (import.meta.main) {
  const named = findNamedIds(ROOT);
  const unexplained = unexplainedIds(named);
  for (const id of unexplained)
    console.error(`unexplained: ${id}\n     → add a sentence to scripts/docs/requirements.json`);
  if (unexplained.length > 0) process.exitCode = 1;
  const undocumented = undocumentedKeys();
  for (const key of undocumented) console.error(`${key}\n     → see examples/registry.yaml`);
  if (undocumented.length > 0) process.exitCode = 1;
  const docs = await generateDocs(named);
  const stale = staleDocs(ROOT, docs);
  if (process.argv.includes('--check')) {
    for (const file of stale) console.error(`stale: ${file}\n     → npm run docs, then commit the file`);
    if (stale.length > 0) process.exitCode = 1;
  } else {
    writeDocs(ROOT, docs);
  }
  console.log(`docs: ${docs.size} generated files, ${stale.length} stale`);
}
