/** Every question a server can be asked, answered with the same words. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { readDiagnostics } from '../../../packages/ast/src/lsp/diagnostic-store.ts';
import { ServerQueries } from '../../../packages/ast/src/lsp/server-queries.ts';
import { ROOT } from './odd-output.ts';
import { end, newDeadline, reasonOf, type Scene } from './scene.ts';

/** Inside a longer relative path the same letters are a file of the workspace. */
const ABSOLUTE = new RegExp(`(?:["\\s(]|file://)${fileURLToPath(ROOT)}`, 'i');
const AT = { path: 'a.txt', line: 0, character: 0 };
const LINE = { startLine: 0, startCharacter: 0, endLine: 0, endCharacter: 1 };

/** In a few words what came of them. */
export async function askQuestions(answer: string, scene: Scene): Promise<string> {
  const result = readAnswer(answer);
  if (result === undefined) return 'no answer';
  const { session } = await scene.open(({ id, method }, server) => {
    if (id !== undefined && method !== undefined) server.answer({ jsonrpc: '2.0', id, result });
  });
  const questions = questionsTo(new ServerQueries(session, newDeadline(), scene.uris), scene);
  const outcomes = new Set<string>();
  for (const [name, question] of Object.entries(questions)) {
    try {
      checkHidden(await question(), name);
      outcomes.add(name);
    } catch (thrown) {
      if (thrown instanceof assert.AssertionError) throw thrown;
      outcomes.add(reasonOf(thrown));
    }
  }
  assert.ok(!session.process.isEnding, 'an answer ended the server');
  await end(session);
  return [...outcomes].join(' ');
}

function questionsTo(queries: ServerQueries, { uris }: Scene): Readonly<Record<string, () => Promise<unknown>>> {
  return {
    hover: () => queries.hover(AT),
    definition: () => queries.definition(AT),
    documentSymbol: () => queries.documentSymbol(AT.path),
    workspaceSymbol: () => queries.workspaceSymbol('x'),
    prepareRename: () => queries.prepareRename(AT),
    rename: () => queries.rename(AT, 'y', { allowFileOperations: true }),
    codeActions: () => queries.codeActions(AT.path, LINE),
    diagnostics: async () => readDiagnostics(await queries.pulledDiagnostics(AT.path), uris),
    raw: () => queries.raw('textDocument/documentSymbol', { textDocument: { uri: AT.path } }),
  };
}

/** Nothing names a place of the host, but for the text of an edit, which must stay as it is. */
function checkHidden(found: unknown, name: string): void {
  const shown = JSON.stringify(found ?? null, (key, value: unknown) => (key === 'newText' ? '' : value));
  assert.ok(!ABSOLUTE.test(shown), `${name} lets the place of the workspace out: ${shown.slice(0, 300)}`);
}

function readAnswer(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
