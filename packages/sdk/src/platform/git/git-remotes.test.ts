import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import type { GitConfig, GitRemote } from '../../contracts/git.ts';
import { loadRegistry } from '../../registry/load-registry.ts';
import { judgeRemote } from './git-remotes.ts';

const KNOWN = { rules: new Map(), tools: undefined, engines: new Set<'ast'>(), file: 'ops.yaml' };
const PUSH = 'git: { allow_push: true }\nnetwork: { allowed_domains: [host.test] }\n';
const FETCH = 'network: { allowed_domains: [host.test] }\n';

interface Asked {
  readonly name?: string;
  readonly purpose?: 'fetch' | 'push';
  readonly registry?: string;
  readonly workspace?: string;
}

function configOf(entries: Readonly<Record<string, readonly string[]>>): GitConfig {
  return {
    all: (key) => entries[key] ?? [],
    get: (key) => entries[key]?.at(-1),
    keys: () => Object.keys(entries),
  };
}

function judge(entries: Readonly<Record<string, readonly string[]>>, asked: Asked = {}): GitRemote {
  const { name = 'origin', purpose = 'push', registry = PUSH, workspace = '/nowhere' } = asked;
  const rules = { ...loadRegistry(`version: 1\n${registry}`, KNOWN), place: () => undefined };
  return judgeRemote({ name, purpose, workspace, operator: configOf({}) }, configOf(entries), rules);
}

function reasonOf(...words: Parameters<typeof judge>): unknown {
  try {
    judge(...words);
  } catch (thrown) {
    assert.ok(isToolError(thrown), String(thrown));
    return thrown.details['reason'];
  }
  return 'fine';
}

const url = (...addresses: string[]) => ({ 'remote.origin.url': addresses });

test('a remote is a configured name with one address, on a listed host, without credentials [S0-49 S0-51]', () => {
  assert.equal(reasonOf(url('https://host.test/x')), 'fine');
  assert.equal(reasonOf(url('https://host.test/x'), { name: '--upload-pack=touch x' }), 'bad_remote');
  assert.equal(reasonOf(url('https://host.test/x'), { name: 'https://host.test/x' }), 'bad_remote');
  assert.equal(reasonOf(url('https://host.test/x'), { name: 'other' }), 'unknown_remote');
  assert.equal(reasonOf(url('https://other.test/x')), 'not_listed');
  assert.equal(reasonOf(url('https://me:token@host.test/x')), 'credentials_in_url');
  assert.equal(reasonOf(url('https://host.test/x', 'https://host.test/y')), 'several_addresses');
  assert.equal(reasonOf(url('https://host.test/x', 'https://host.test/y'), { purpose: 'fetch' }), 'fine');
  const apart = { ...url('https://host.test/x'), 'remote.origin.pushurl': ['https://other.test/x'] };
  assert.equal(reasonOf(apart), 'not_listed');
  assert.equal(reasonOf(apart, { purpose: 'fetch' }), 'fine');
});

test('without allow_push nothing is pushed anywhere, and fetching goes on [S0-49]', () => {
  assert.equal(reasonOf(url('https://host.test/x'), { registry: FETCH }), 'push_forbidden');
  assert.equal(reasonOf(url('https://host.test/x'), { registry: FETCH, purpose: 'fetch' }), 'fine');
});

test('git is told to follow no redirect [S0-51]', () => {
  const { options } = judge(url('https://host.test/x'));
  assert.deepEqual(options.slice(0, 2), ['-c', 'http.followRedirects=false']);
});

function localPlaces(t: TestContext): {
  readonly workspace: string;
  readonly outside: string;
  readonly inside: string;
} {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'git-remotes-')));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const places = { workspace: join(base, 'work'), outside: join(base, 'bare'), inside: join(base, 'work/bare') };
  for (const bare of [places.outside, places.inside]) {
    for (const name of ['objects', 'refs']) mkdirSync(join(bare, name), { recursive: true });
  }
  return places;
}

test('a remote on this machine is for the operator to open, and written to for a push only [S0-51]', (t) => {
  const { workspace, outside, inside } = localPlaces(t);
  assert.equal(reasonOf(url(outside), { workspace, registry: FETCH, purpose: 'fetch' }), 'outside_workspace');
  assert.equal(reasonOf(url('../bare'), { workspace, registry: FETCH, purpose: 'fetch' }), 'outside_workspace');
  assert.equal(judge(url(inside), { workspace, registry: FETCH, purpose: 'fetch' }).folder, undefined);
  const folder = (purpose: 'fetch' | 'push') => judge(url(outside), { workspace, purpose }).folder;
  const { dev, ino } = statSync(outside);
  assert.deepEqual(folder('fetch'), { path: outside, writable: false, identity: `${dev}:${ino}` });
  assert.deepEqual(folder('push'), { path: outside, writable: true, identity: `${dev}:${ino}` });
});
