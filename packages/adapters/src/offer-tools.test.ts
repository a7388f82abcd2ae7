import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openGovernedSession } from '../test/governed-session.ts';
import { listTools } from './list-tools.ts';
import { offerTools, omitProperties } from './offer-tools.ts';

const openai = { provider: 'openai', dialect: 'openai' } as const;

test('a tool that cannot be strict keeps its full schema and the reasons are reported', async () => {
  const { session, dispose } = await openGovernedSession();
  const options = { names: ['file_read', 'git_blame'] };
  const { tools, refused } = offerTools(session, options, { ...openai, strict: true });
  assert.deepEqual(
    tools.map((tool) => [tool.name, tool.isStrict]),
    [
      ['file_read', true],
      ['git_blame', false],
    ],
  );
  assert.deepEqual(refused, [
    {
      name: 'git_blame',
      reasons: [{ path: '/properties/ref', reason: 'null has a meaning of its own and cannot mean "left out"' }],
    },
  ]);
  assert.throws(
    () => offerTools(session, options, { ...openai, strict: 'required' }),
    /git_blame \(\/properties\/ref: null/,
  );
  assert.ok(tools.every((tool) => !('$schema' in tool.parameters)));
  await dispose();
});

test('leaving arguments out makes a tool fit; only optional ones that exist can be left out', async () => {
  const { session, dispose } = await openGovernedSession();
  const names = ['file_write'];
  const offer = (omitted: readonly string[]) =>
    offerTools(session, { names, omit: { file_write: omitted } }, { ...openai, strict: 'required' }).tools[0];
  const tool = offer(['attribution', 'expected_sha256']);
  assert.equal(tool?.isStrict, true);
  const nulls = { create_dirs: null, mode_octal: null, encoding: null, create_only: null, append: null };
  const answer = await tool?.run({ path: 'src/new.txt', content: 'n', ...nulls });
  assert.equal(answer?.ok, true);
  assert.throws(() => offer(['path']), /Required argument cannot be omitted: file_write\.path/);
  assert.throws(() => offer(['colour']), /No such argument to omit: file_write\.colour/);
  await dispose();
});

test('takes optional arguments out of a copy', async () => {
  const { session, dispose } = await openGovernedSession();
  const [tool] = listTools(session, { names: ['git_blame'] });
  assert.ok(tool);
  const trimmed = omitProperties(tool, ['ref', 'end_line']);
  assert.deepEqual(Object.keys(trimmed.inputSchema['properties'] as object), ['path', 'start_line']);
  assert.ok('ref' in (tool.inputSchema['properties'] as object));
  assert.equal(omitProperties(tool, []), tool);
  await dispose();
});
