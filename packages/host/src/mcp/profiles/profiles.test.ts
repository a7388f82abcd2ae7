import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { ToolListing } from '@tool-runtime/sdk';
import { allListings } from '../../../test/mcp-install/listings.ts';
import { tokensOf } from '../../cli/print-cost.ts';
import { CALL_TOOL_NAME } from './call-tool-definition.ts';
import { CHILD_TOOL_NAMES } from './child-tool-names.ts';
import { isReadOnlyTool } from './mcp-definition.ts';
import { presentTools } from './present-tools.ts';
import { PROFILE_NAMES, type ProfileChoice, resolveProfile, selectTools } from './profiles.ts';
import { SEARCH_TOOL_NAME } from './search-tool.ts';

const CORE_BUDGET = 4000;

describe('tool profiles', () => {
  let listings: readonly ToolListing[];

  before(async () => {
    listings = await allListings();
  });

  test('core stays below 4,000 tokens, code intelligence included, with all its tools there', () => {
    const core = resolveProfile({});
    const { shown, rest, unmatched } = selectTools(listings, core);
    assert.deepEqual(unmatched, []);
    assert.ok(shown.some(({ name }) => name === 'ast_query'));
    assert.equal(shown.length + rest.length, listings.length);
    const tools = presentTools(listings, core);
    const tokens = tokensOf(tools);
    assert.ok(tokens < CORE_BUDGET, `${tokens} tokens`);
    assert.deepEqual(
      tools.map(({ name }) => name).filter((name) => name === SEARCH_TOOL_NAME || name === CALL_TOOL_NAME),
      ['tool_call', 'tool_search'],
    );
  });

  test('read-only shows what only reads, and brings the ceiling that makes it true', () => {
    const profile = resolveProfile({ profile: 'read-only' });
    assert.deepEqual(profile.ceiling, { side_effect_level: 'read_only' });
    const shown = presentTools(listings, profile);
    assert.ok(shown.length > 10);
    assert.ok(shown.every(({ annotations }) => annotations?.readOnlyHint === true));
    assert.ok(!shown.some(({ name }) => ['file_write', 'shell_exec', 'validate', CALL_TOOL_NAME].includes(name)));
  });

  test('structured shows everything, sorted, with output schemas, the tools for children and without a search', () => {
    const shown = presentTools(listings.toReversed(), resolveProfile({ profile: 'structured' }));
    assert.deepEqual(
      shown.map(({ name }) => name),
      [...listings.map(({ name }) => name), ...CHILD_TOOL_NAMES].sort(),
    );
    assert.ok(shown.every(({ name, outputSchema }) => outputSchema !== undefined || name === 'child_call'));
  });

  test('full shows the same, and no output schemas of tools whose answers are contents', () => {
    const shown = presentTools(listings, resolveProfile({ profile: 'full' }));
    const large = new Set(listings.filter(({ hasLargeAnswers }) => hasLargeAnswers).map(({ name }) => name));
    assert.ok(['file_read', 'grep', 'git_diff', 'shell_exec'].every((name) => large.has(name)));
    for (const { name, outputSchema } of shown) {
      assert.equal(outputSchema === undefined, large.has(name) || name === 'child_call', name);
    }
  });

  test('the tools for children are on no other list, unless it names them', () => {
    const namesOf = (choice: ProfileChoice) => presentTools(listings, resolveProfile(choice)).map(({ name }) => name);
    const isForChildren = (name: string): boolean => CHILD_TOOL_NAMES.has(name);
    for (const profile of ['core', 'read-only']) assert.deepEqual(namesOf({ profile }).filter(isForChildren), []);
    assert.deepEqual(namesOf({ profile: 'mine', lists: { mine: ['grep'] } }).filter(isForChildren), []);
    assert.deepEqual(namesOf({ profile: 'mine', lists: { mine: ['grep', 'child_*'] } }).filter(isForChildren), [
      'child_call',
      'child_close',
      'child_open',
    ]);
    assert.deepEqual(namesOf({ tools: ['grep', 'child_open'] }), ['child_open', 'grep']);
    assert.deepEqual(resolveProfile({ tools: ['grep', 'child_*', 'chi*'] }).ceiling, { tools: ['grep', 'chi*'] });
    const named = resolveProfile({ profile: 'mine', lists: { mine: ['child_open', 'nothing'] } });
    assert.deepEqual(selectTools(listings, named).unmatched, ['nothing']);
  });

  test('a list from the command line is a ceiling, one of the operator is a choice', () => {
    const listed = resolveProfile({ tools: ['git_*', 'file_read', 'nothing'] });
    assert.deepEqual(listed.ceiling, { tools: ['git_*', 'file_read', 'nothing'] });
    const { shown, unmatched } = selectTools(listings, listed);
    assert.deepEqual(unmatched, ['nothing']);
    assert.ok(shown.every(({ name }) => name === 'file_read' || name.startsWith('git_')));
    assert.ok(!presentTools(listings, listed).some(({ name }) => name === SEARCH_TOOL_NAME));
    const own = resolveProfile({ profile: 'mine', lists: { mine: ['grep'] } });
    assert.equal(own.ceiling, undefined);
    assert.deepEqual(
      presentTools(listings, own).map(({ name }) => name),
      ['grep', 'tool_call', 'tool_search'],
    );
  });

  test('an unknown profile, an empty list and both at once are refused', () => {
    assert.throws(() => resolveProfile({ profile: 'small', lists: { mine: [] } }), /No such tool profile: small/);
    assert.throws(() => resolveProfile({ profile: 'toString' }), /No such tool profile/);
    assert.throws(() => resolveProfile({ tools: [] }), /The list of tools is empty/);
    assert.throws(() => resolveProfile({ profile: 'core', tools: ['a'] }), /cannot be used together/);
    assert.throws(() => resolveProfile({ tools: ['{a,b}'] }), /Not a tool name/);
  });

  test('definitions are the same bytes every time', () => {
    for (const profile of PROFILE_NAMES) {
      const [one, two] = [listings, listings.toReversed()].map((list) =>
        JSON.stringify(presentTools(list, resolveProfile({ profile }))),
      );
      assert.equal(one, two);
    }
  });

  test('no tool that changes anything counts as read-only', () => {
    for (const listing of listings.filter(isReadOnlyTool)) {
      assert.ok(['none', 'read_only'].includes(listing.sideEffectLevel) && listing.effect === 'read', listing.name);
    }
  });
});
