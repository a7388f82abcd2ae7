import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { ToolListing } from '@tool-runtime/sdk';
import { allListings } from '../../../test/mcp-install/listings.ts';
import { readNamedCall } from './call-tool-definition.ts';
import { resolveProfile } from './profiles.ts';
import { runToolSearch, searchTools } from './search-tool.ts';

describe('tool_search', () => {
  let listings: readonly ToolListing[];

  before(async () => {
    listings = await allListings();
  });

  const found = (query: string, limit = 5): unknown[] =>
    searchTools(listings, query, { limit }).tools.map((tool) => tool['name']);

  test('finds by name, by words of the task and by other forms of a word', () => {
    assert.equal(found('git_stash')[0], 'git_stash');
    assert.ok(found('delete files').includes('fs_delete'));
    assert.ok(found('renaming a symbol').includes('ast_edit'));
    assert.ok(found('who wrote a line: blame').includes('git_blame'));
    assert.equal(found('HTTP request')[0], 'curl');
    assert.equal(found('git history')[0], 'git_log');
    assert.equal(found('rename a function')[0], 'ast_edit');
    assert.ok(found('the').length > 0, 'small words count where there are no others');
  });

  test('gives the best with their schemas, and answers in about a page', () => {
    const { tools, matches, how_to_call } = searchTools(listings, 'git', { limit: 5 });
    assert.equal(tools.length, 5);
    assert.ok('input_schema' in (tools[0] ?? {}));
    assert.ok(matches > 10);
    assert.match(how_to_call, /tool_call/);
    for (const query of ['git', 'git history', 'rename symbol', 'delete files', 'search code', 'run commands']) {
      const { length } = JSON.stringify(searchTools(listings, query, { limit: 5 }));
      assert.ok(length < 6000, `${query}: ${length} characters`);
    }
  });

  test('gives places to tools that are not listed, and only names those that are', () => {
    const profile = resolveProfile({ profile: 'core' });
    const isListed = (listing: ToolListing): boolean => profile.shows(listing);
    const { tools } = searchTools(listings, 'git history', { limit: 5, isListed });
    assert.equal(tools[0]?.['name'], 'git_log');
    assert.ok(tools.filter((tool) => tool['in_your_list'] === undefined).length === 5);
    assert.deepEqual(
      tools.find(({ name }) => name === 'git_diff'),
      { name: 'git_diff', in_your_list: true },
    );
  });

  test('names everything when nothing fits, and finds the same every time', () => {
    const { tools, names } = searchTools(listings, 'zzzz', { limit: 5 });
    assert.deepEqual([tools, names?.length], [[], listings.length]);
    const limit = { limit: 20 };
    assert.deepEqual(
      searchTools(listings.toReversed(), 'git commit', limit),
      searchTools(listings, 'git commit', limit),
    );
  });

  test('checks its arguments', () => {
    assert.equal(runToolSearch(listings, { query: 'git' }).tools.length, 5);
    for (const args of [{}, { query: '' }, { query: 'a', limit: 0 }, { query: 'a', more: 1 }, null, 'git']) {
      assert.throws(() => runToolSearch(listings, args), /Arguments do not fit tool_search/);
    }
  });
});

describe('tool_call', () => {
  test('reads the name and arguments of the call it stands for', () => {
    assert.deepEqual(readNamedCall({ tool: 'git_log', args: { limit: 1 } }), { tool: 'git_log', args: { limit: 1 } });
    assert.deepEqual(readNamedCall({ tool: 'git_log' }), { tool: 'git_log', args: {} });
  });

  test('refuses anything else, and itself', () => {
    for (const given of [
      {},
      { tool: '' },
      { tool: 'a', args: [] },
      { tool: 'a', path: 'b' },
      { tool: 'tool_call', args: {} },
      null,
    ]) {
      assert.throws(() => readNamedCall(given), /Arguments do not fit tool_call/);
    }
  });
});
