/** The examples of external tools in the real sandbox: what passes the checker also runs. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openExternalScene, type Scene } from './external-scene.ts';

const EXAMPLES = join(import.meta.dirname, '../../../examples/external-tools');
const SOURCE = join(import.meta.dirname, '../src');

function kitFiles(): Record<string, string> {
  const names = readdirSync(join(SOURCE, 'tool-kit')).filter((name) => !name.endsWith('.test.ts'));
  const paths = ['tool-kit.ts', ...names.map((name) => `tool-kit/${name}`)];
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(SOURCE, path), 'utf8')]));
}

describe('the examples of external tools', () => {
  let scene: Scene;
  before(async () => {
    const report = readFileSync(join(EXAMPLES, 'word-report.ts'), 'utf8');
    const node = `interpreter: [${process.execPath}], read_paths: [${dirname(process.execPath)}]`;
    const schema = 'args_schema: {type: object, properties: {top: {type: integer}}}';
    scene = await openExternalScene({
      tools: [
        'name: line-count, command: line-count.sh',
        `name: word-report, command: word-report.ts, files: [tool-kit.ts, tool-kit], ${node}, ${schema}`,
      ],
      files: {
        ...kitFiles(),
        'line-count.sh': readFileSync(join(EXAMPLES, 'line-count.sh'), 'utf8'),
        'word-report.ts': report.replace('@tool-runtime/sdk/tool-kit', './tool-kit.ts'),
      },
    });
    writeFileSync(join(scene.workspace, 'poem.txt'), 'one two\ntwo three\n');
  });
  after(() => scene.dispose());

  test('line-count counts what it is asked to, or everything [S4-50]', async () => {
    for (const args of [['poem.txt'], []]) {
      const { ok, data, errors } = await scene.session.call('line-count', { args });
      assert.ok(ok, JSON.stringify(errors));
      const { status, outputs, warnings } = data as { status: string; outputs: { artifact: string }[]; warnings: [] };
      assert.deepEqual([status, outputs.length, warnings], ['success', 1, []]);
      const read = await scene.session.call('artifact_read', { artifact: outputs[0]?.artifact ?? '' });
      assert.match(JSON.stringify(read.data), /"2 poem\.txt\\n"/);
    }
  });

  test('word-report, with the kit beside it, takes inputs and reports progress [S4-50]', async () => {
    const { ok, data, errors } = await scene.session.call('word-report', { inputs: { top: 1 } });
    assert.ok(ok, JSON.stringify(errors));
    const { outputs, warnings, stdout } = data as { outputs: { artifact: string }[]; warnings: []; stdout: string };
    assert.deepEqual([warnings, stdout], [[], '']);
    const read = await scene.session.call('artifact_read', { artifact: outputs[0]?.artifact ?? '' });
    assert.match(JSON.stringify(read.data), /"two 2\\n"/);
  });

  test('the page shows the code of word-report.ts as it is', () => {
    const source = readFileSync(join(EXAMPLES, 'word-report.ts'), 'utf8');
    const page = readFileSync(join(EXAMPLES, '../../docs/external-tools.md'), 'utf8');
    const shown = source.slice(source.indexOf('import '), source.indexOf('/** Links')).trim();
    assert.ok(page.includes(shown), 'copy the code into docs/external-tools.md');
  });

  test('a refusal of the kit keeps its code and its entry in the answer [S4-22]', async () => {
    const { ok, errors } = await scene.session.call('word-report', { inputs: { top: 0 } });
    assert.equal(ok, false);
    const details = errors[0]?.details as { exit_code: number; errors: { code: string }[] };
    assert.deepEqual([details.exit_code, details.errors.map(({ code }) => code)], [2, ['INVALID_INPUT']]);
  });
});
