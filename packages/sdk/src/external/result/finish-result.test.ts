import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FULL_RESULT, RUN_ID } from '../../../test/sample-result.ts';
import type { RunContext, RunIdentity, RunResult } from '../../contracts/external.ts';
import { enrichResult, type RunEnvironment } from './finish-result.ts';
import { newResult } from './new-result.ts';

const fresh: RunResult = newResult({
  wrapper: { name: 'tool-runtime', version: '1' },
  tool: { name: 'ask', version: '1', protocol_version: 1 },
  runId: RUN_ID,
  startedAtMs: 0,
});
const here = { platform: 'linux', arch: 'x64', profile: 'neutral' } as const;
const there = { runner_os: 'linux', runner_arch: 'amd64' };

const identityFrom = (text: string, known?: RunIdentity) =>
  enrichResult({ ...fresh, ...(known && { identity: known }) }, { TOOL_IDENTITY: text }, here).result.identity;
const contextFrom = (env: RunEnvironment, known?: RunContext) =>
  enrichResult({ ...fresh, ...(known && { run_context: known }) }, env, here).result.run_context;

test('a result with nothing blank stays the same [S4-28]', () => {
  const env = { TOOL_IDENTITY: '{"actor":"eve","workspace":"evil"}', GITLAB_CI: 'true', CI_COMMIT_SHA: 'bad' };
  const { result, changed } = enrichResult(FULL_RESULT, env, { ...here, platform: 'darwin', arch: 'arm64' });
  assert.deepEqual(result, FULL_RESULT);
  assert.equal(changed, false);
});

test('only blanks are filled and the change is told [S4-28]', () => {
  const partly = { ...fresh, identity: { actor: 'ada' }, run_context: { commit: 'mine', ...there } };
  const env = { TOOL_IDENTITY: '{"actor":"eve","workspace":"acme"}', GITHUB_ACTIONS: 'true', GITHUB_SHA: 'theirs' };
  const { result, changed } = enrichResult(partly, env, here);
  assert.deepEqual(result.identity, { actor: 'ada', workspace: 'acme' });
  assert.deepEqual(result.run_context, { ci: true, ci_provider: 'github_actions', commit: 'mine', ...there });
  assert.equal(changed, true);
  assert.equal(enrichResult(result, env, here).changed, false);
});

test('unknown fields survive in what is filled [S4-28]', () => {
  const odd = { ...fresh, identity: { badge: 7 } as RunIdentity };
  const { result } = enrichResult(odd, { TOOL_IDENTITY: 'ada' }, here);
  assert.deepEqual(result.identity, { badge: 7, actor: 'ada', actor_type: 'unknown' });
});

test('identity is a JSON object or the name of the actor [S4-29 S4-24]', () => {
  assert.deepEqual(
    identityFrom('{"workspace":"acme","actor":"bot","actor_type":"service","auth_mode":"api_key","more":1}'),
    { workspace: 'acme', actor: 'bot', actor_type: 'service', auth_mode: 'api_key' },
  );
  for (const text of ['ada@example.org', '{"actor":5}', '["ada"]', '"ada"', '5', '{broken']) {
    assert.deepEqual(identityFrom(text), { actor: text, actor_type: 'unknown' });
  }
});

test('an empty variable, an empty object and no variable change nothing [S4-29]', () => {
  for (const env of [{}, { TOOL_IDENTITY: '' }, { TOOL_IDENTITY: '{}' }]) {
    const { result, changed } = enrichResult({ ...fresh, run_context: there }, env, here);
    assert.equal(Object.hasOwn(result, 'identity'), false);
    assert.equal(changed, false);
  }
});

test('a plain name does not touch an actor that is there [S4-29]', () => {
  assert.deepEqual(identityFrom('eve', { actor: 'ada' }), { actor: 'ada' });
  assert.deepEqual(identityFrom('eve', { actor_type: 'ci' }), { actor: 'eve', actor_type: 'ci' });
});

test('words the protocol does not have are not taken over [S4-24]', () => {
  assert.deepEqual(identityFrom('{"actor":"x","actor_type":"robot","auth_mode":"magic"}'), {
    actor: 'x',
    actor_type: 'unknown',
  });
  for (const type of ['user', 'service', 'ci', 'unknown']) {
    assert.equal(identityFrom(`{"actor_type":"${type}"}`)?.actor_type, type);
  }
  for (const mode of ['interactive', 'api_key', 'ci_token']) {
    assert.equal(identityFrom(`{"auth_mode":"${mode}"}`)?.auth_mode, mode);
  }
});

test('each profile has its own variable [S4-29]', () => {
  const env = { TOOL_IDENTITY: 'ours', EPACK_IDENTITY: 'theirs' };
  assert.equal(enrichResult(fresh, env, here).result.identity?.actor, 'ours');
  assert.equal(enrichResult(fresh, env, { ...here, profile: 'epack' }).result.identity?.actor, 'theirs');
});

const PROVIDERS: readonly (readonly [RunEnvironment, RunContext])[] = [
  [
    { GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'a/b', GITHUB_SHA: 'c1', GITHUB_REF: 'refs/heads/feature/x' },
    { ci: true, ci_provider: 'github_actions', repo: 'a/b', commit: 'c1', branch: 'feature/x' },
  ],
  [
    { GITLAB_CI: 'true', CI_PROJECT_URL: 'https://g/a', CI_COMMIT_SHA: 'c2', CI_COMMIT_REF_NAME: 'refs/heads/odd' },
    { ci: true, ci_provider: 'gitlab_ci', repo: 'https://g/a', commit: 'c2', branch: 'refs/heads/odd' },
  ],
  [
    { CIRCLECI: 'true', CIRCLE_REPOSITORY_URL: 'git@h:a/b', CIRCLE_SHA1: 'c3', CIRCLE_BRANCH: 'main' },
    { ci: true, ci_provider: 'circleci', repo: 'git@h:a/b', commit: 'c3', branch: 'main' },
  ],
  [
    { BUILDKITE: 'true', BUILDKITE_REPO: 'r', BUILDKITE_COMMIT: 'c4', BUILDKITE_BRANCH: 'main' },
    { ci: true, ci_provider: 'buildkite', repo: 'r', commit: 'c4', branch: 'main' },
  ],
  [
    { JENKINS_URL: 'https://j', GIT_URL: 'u', GIT_COMMIT: 'c5', GIT_BRANCH: 'origin/main' },
    { ci: true, ci_provider: 'jenkins', repo: 'u', commit: 'c5', branch: 'origin/main' },
  ],
  [{ CI: 'true' }, { ci: true, ci_provider: 'generic' }],
];

test('each CI system is known by its variables [S4-30 S4-25]', () => {
  for (const [env, context] of PROVIDERS) assert.deepEqual(contextFrom(env), { ...context, ...there });
});

test('the first system in the order wins [S4-30]', () => {
  for (const [at, [, context]] of PROVIDERS.entries()) {
    const together = Object.assign({}, ...PROVIDERS.slice(at).map(([env]) => env));
    assert.equal(contextFrom(together)?.ci_provider, context.ci_provider);
  }
});

test('a variable with another word is no CI [S4-30]', () => {
  for (const name of ['GITHUB_ACTIONS', 'GITLAB_CI', 'CIRCLECI', 'BUILDKITE', 'CI']) {
    assert.deepEqual(contextFrom({ [name]: '1' }), there, name);
  }
  assert.deepEqual(contextFrom({ JENKINS_URL: '' }), there);
});

test('CircleCI without an address is owner and project [S4-30]', () => {
  const env = { CIRCLECI: 'true', CIRCLE_REPOSITORY_URL: '', CIRCLE_PROJECT_USERNAME: 'a' };
  assert.equal(contextFrom({ ...env, CIRCLE_PROJECT_REPONAME: 'b' })?.repo, 'a/b');
  assert.equal(contextFrom(env)?.repo, undefined);
});

test('only the GitHub ref loses its prefix [S4-30]', () => {
  const branchOf = (ref: string) => contextFrom({ GITHUB_ACTIONS: 'true', GITHUB_REF: ref })?.branch;
  assert.deepEqual(['refs/heads/main', 'refs/tags/v1', 'refs/pull/7/merge', 'main'].map(branchOf), [
    'main',
    'v1',
    'refs/pull/7/merge',
    'main',
  ]);
});

test('credentials in an address do not get into the result [S4-30]', () => {
  const env = { GITLAB_CI: 'true', CI_PROJECT_URL: 'https://user:s3cret@host.example/a@b' };
  assert.equal(contextFrom(env)?.repo, 'https://host.example/a@b');
});

test('system and processor are always filled, by the names of the protocol [S4-31]', () => {
  const cases = [
    ['linux', 'x64', 'linux', 'amd64'],
    ['darwin', 'arm64', 'darwin', 'arm64'],
    ['win32', 'ia32', 'windows', '386'],
    ['freebsd', 'riscv64', 'freebsd', 'riscv64'],
  ] as const;
  for (const [platform, arch, runner_os, runner_arch] of cases) {
    const { result, changed } = enrichResult(fresh, {}, { ...here, platform, arch });
    assert.deepEqual(result.run_context, { runner_os, runner_arch });
    assert.equal(changed, true);
  }
});
