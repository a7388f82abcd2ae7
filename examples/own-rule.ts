/**
 * A rule defined by the embedding program: changed JSON files must parse. It checks changes after they were made. If the
 * registry sets `blocking`, the old content is restored; with `warning`, the change is kept and the answer has a warning.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, defineRule, type Workspace } from '@tool-runtime/sdk';

const jsonParses = defineRule({
  id: 'acme.json.parses',
  category: 'Config',
  description: 'Changed JSON files can be read as JSON',
  phase: 'after',
  trigger: 'after a JSON file is written or patched',
  defaultEnforcement: 'blocking',
  // Runs on every call: use only the data in the subject, read no files.
  appliesTo: ({ changes }) => changes.some(({ path, after }) => path.endsWith('.json') && after !== null),
  async check({ changes }, { workspace }) {
    const paths = changes.filter(({ path, after }) => path.endsWith('.json') && after !== null).map(({ path }) => path);
    const findings = await Promise.all(
      paths.map(async (path) => ({ path, problem: await problemOf(path, workspace) })),
    );
    return findings
      .filter(({ problem }) => problem !== undefined)
      .map(({ path, problem }) => ({
        message: `File is not JSON: ${path}`,
        path,
        next: 'send the whole document, quoted and without trailing commas',
        details: { problem: problem ?? '' },
      }));
  },
});

async function problemOf(path: string, workspace: Workspace): Promise<string | undefined> {
  try {
    const { bytes } = await workspace.readFile(path);
    JSON.parse(new TextDecoder().decode(bytes));
    return undefined;
  } catch (thrown) {
    return thrown instanceof SyntaxError ? thrown.message : 'it could not be read';
  }
}

const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-own-rule-'));
const workspace = join(scratch, 'workspace');
mkdirSync(workspace);
const settings = join(workspace, 'settings.json');

async function writeUnder(registry: string, content: string) {
  writeFileSync(settings, '{"debug": false}\n');
  const runtime = await createRuntime({
    workspace,
    state: join(scratch, 'state'),
    rules: [jsonParses],
    registry: { file: 'acme.yaml', text: registry },
  });
  const session = await runtime.openSession();
  const { ok, errors, warnings } = await session.call('file_write', { path: 'settings.json', content });
  await runtime.close();
  const after = readFileSync(settings, 'utf8');
  console.log(JSON.stringify({ ok, errors, warnings, after }));
  return { ok, code: errors[0]?.code, warned: warnings[0]?.details?.['rule'], after };
}

try {
  const blocking = 'version: 1\nvalidators:\n  - rule: acme.json.parses\n';
  const warning = `${blocking}    enforcement: warning\n`;
  const [good, bad] = ['{"debug": true}\n', '{debug: true}\n'];

  // Listed without a level: blocking, the default of the rule. The file is unchanged.
  const refused = await writeUnder(blocking, bad);
  assert.deepEqual(refused, {
    ok: false,
    code: 'E_VALIDATION_FAIL',
    warned: undefined,
    after: '{"debug": false}\n',
  });
  // Listed as a warning: the file is changed, and the answer has a warning.
  const warned = await writeUnder(warning, bad);
  assert.deepEqual(warned, { ok: true, code: undefined, warned: 'acme.json.parses', after: bad });
  // Valid JSON passes without a warning. If the registry does not list the rule, it is not checked.
  assert.deepEqual(await writeUnder(blocking, good), { ok: true, code: undefined, warned: undefined, after: good });
  assert.deepEqual(await writeUnder('version: 1\n', bad), { ok: true, code: undefined, warned: undefined, after: bad });
} finally {
  rmSync(scratch, { recursive: true });
}
