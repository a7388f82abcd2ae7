import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { loadProfile, ProfileProblem, recogniseProfile, SHIPPED } from './load-profile.ts';

test('recognises every shipped MCP server by its tools', () => {
  for (const profile of SHIPPED.filter(({ start }) => start.mcp !== undefined)) {
    const tools = Object.values(profile.tools).flatMap((mapping) => (mapping === undefined ? [] : [mapping.tool]));
    const { name } = recogniseProfile([...tools, 'another_tool']);
    assert.equal(name, profile.name);
  }
});

test('names the tools of a server that it does not know', () => {
  assert.throws(() => recogniseProfile(['one', 'two']), { message: /Its tools: one, two\n.*--profile FILE/ });
});

test('reads a profile from a file, and says what is wrong with one', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'conformance-profile-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const write = (text: string): string => {
    const file = path.join(folder, 'profile.json');
    writeFileSync(file, text);
    return file;
  };
  const mapping = { tool: 'view', args: { path: '{path}' } };
  assert.equal(loadProfile(write(JSON.stringify({ name: 'mine', tools: { read: mapping } }))).paths, 'relative');
  assert.throws(() => loadProfile(write('{"name": "mine", "tools": {"reed": {}}}')), { message: /reed[\s\S]*tools/ });
  assert.throws(() => loadProfile(write('{')), ProfileProblem);
  assert.throws(() => loadProfile(path.join(folder, 'missing.json')), { message: /server-filesystem/ });
});
