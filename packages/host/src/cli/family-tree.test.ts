import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { nothing, openScratchRuntime } from '@tool-runtime/sdk/testing';
import { findMembers, readFamilies, withDescendants } from '../records/families.ts';
import { familyLines } from './family-tree.ts';

const registry = { text: 'version: 1\nbudgets: { max_calls: 50 }\n', file: 'host.yaml' };

/** A parent with two children, one of which has a child of its own. */
async function openFamily() {
  const scratch = await openScratchRuntime({ tools: [nothing], registry });
  const { session, runtime } = scratch;
  const reviewer = await session.openChild({ agentId: 'reviewer', budget: { max_calls: 5 } });
  const leaf = await reviewer.openChild({ agentId: 'leaf', tools: ['probe_nothing'] });
  const other = await session.openChild({ agentId: 'other', tools: { type: 'no_tools' } });
  await leaf.call('probe_nothing', {});
  await leaf.call('file_read', { path: 'x' });
  await leaf.complete();
  await other.cancel('not needed');
  return { ...scratch, runtime, session, reviewer, leaf, other };
}

describe('the family in the journal [S3-49]', () => {
  test('stands as it was opened, with calls, refusals and ends of its own for each', async () => {
    const { runtime, session, reviewer, leaf, other, dispose } = await openFamily();
    const families = readFamilies(runtime, { archived: false });
    assert.equal(families.length, 1);
    const [root] = families;
    assert.deepEqual(
      families.flatMap(withDescendants).map(({ session_id, parent_session_id, state, calls, refusals }) => ({
        session_id,
        parent_session_id,
        state,
        calls,
        refusals,
      })),
      [
        { session_id: session.id, parent_session_id: undefined, state: 'open', calls: 0, refusals: 0 },
        { session_id: reviewer.id, parent_session_id: session.id, state: 'open', calls: 0, refusals: 0 },
        { session_id: leaf.id, parent_session_id: reviewer.id, state: 'completed', calls: 2, refusals: 1 },
        { session_id: other.id, parent_session_id: session.id, state: 'cancelled', calls: 0, refusals: 0 },
      ],
    );
    const started = root?.children[0]?.events[0];
    assert.deepEqual(started?.details['manifest'], JSON.parse(JSON.stringify(reviewer.manifest)));
    await dispose();
  });

  test('calls those lost whose process is gone, and no others', async () => {
    const { runtime, dispose } = await openFamily();
    const statesWith = (instances: readonly string[]) =>
      readFamilies({ records: (filter) => runtime.records(filter), instances: () => instances }, { archived: false })
        .flatMap(withDescendants)
        .map(({ state }) => state);
    assert.deepEqual(statesWith(runtime.instances()), ['open', 'open', 'completed', 'cancelled']);
    assert.deepEqual(statesWith(['another', 'reader']), ['lost', 'lost', 'completed', 'cancelled']);
    await dispose();
  });

  test('is found by the beginning of an id', async () => {
    const { runtime, session, leaf, dispose } = await openFamily();
    const families = readFamilies(runtime, { archived: false });
    const found = (id: string) => findMembers(families, id).map(({ session_id }) => session_id);
    assert.deepEqual(found(leaf.id), [leaf.id]);
    assert.deepEqual(found(leaf.id.slice(0, 20)), [leaf.id]);
    assert.deepEqual(found('nobody'), []);
    assert.equal(found('sess-').length, 4);
    assert.deepEqual(found(session.id), [session.id]);
    await dispose();
  });

  test('reads as an indented list that hides no narrowing and obeys no control character', async () => {
    const { runtime, session, dispose } = await openFamily();
    const [root] = readFamilies(runtime, { archived: false });
    assert.ok(root !== undefined);
    const lines = familyLines(root).map(stripVTControlCharacters);
    assert.equal(lines.length, 4);
    const kept = session.tools().length;
    assert.match(lines[0] ?? '', /^\S+ sess-\w{8} {2}started [\d -]+:\d\d:\d\d, open {2}0 calls, 0 refused$/);
    assert.match(
      lines[1] ?? '',
      /^ {2}reviewer sess-\w{8} .*read_only \(\d+ kept, \d+ stripped\) {2}depth 1 of 8 {2}budget max_calls 5 {2}handoff none {2}0 calls/,
    );
    assert.match(
      lines[2] ?? '',
      /^ {4}leaf .*completed .*custom_allowlist \(1 kept, \d+ stripped\).*2 calls, 1 refused$/,
    );
    assert.match(lines[3] ?? '', new RegExp(`^  other .*cancelled .*no_tools \\(0 kept, ${kept} stripped\\)`));
    const odd = { ...root, actor: 'a\u001b[2Jb' };
    assert.equal(familyLines(odd)[0]?.includes('\u001b[2J'), false);
    await dispose();
  });
});
