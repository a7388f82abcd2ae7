/**
 * Every key the installed git documents, in the repository and in its local remote, with values that would run a program.
 *
 * A key is refused or overridden, or git itself does not take the value, or the whole script of git tools does what it does
 * without the key. TOOL_RUNTIME_CANARY=full tries every value with every key; otherwise values take turns.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fixedEnvironment, fixedOptions } from '../src/git/fixed-options.ts';
import { judgeConfig, overrideWords } from '../src/git/judge-config.ts';
import { assertScenePlayed, type CanaryScene, createCanaryScene, playScene } from './git-canary.ts';
import { openGitRuntime } from './git-repository.ts';

const REGISTRY = 'version: 1\ngit: {allow_push: true}\nvalidators: [{rule: secrets.scan}]\n';

/** As documented, with names in the place of placeholders that the script comes across. */
function documentedKeys(): readonly string[] {
  const names: Readonly<Record<string, string>> = {
    branch: 'main',
    remote: 'origin',
    alias: 'merge-evil',
    pager: 'log',
    gpg: 'openpgp',
    gc: 'refs/*',
    http: 'http://evil',
    protocol: 'file',
    notes: 'commits',
  };
  const printed = execFileSync('git', ['help', '--config'], { encoding: 'utf8' }).split('\n');
  const keys = printed.filter((line) => /^[a-zA-Z0-9]+\.\S+$/.test(line));
  return keys.flatMap((key) => {
    const [section = ''] = key.split('.');
    const name = names[section] ?? 'evil';
    const filled = key.replace(/<[^>]+>/g, name).replace('*', section === 'advice' ? 'x' : name);
    return section === 'alias' ? [filled, 'alias.status', 'alias.remote-evil'] : [filled];
  });
}

/** Undocumented ones that git reads all the same. */
const FURTHER = [
  'merge.default',
  'filter.evil.process',
  'trailer.evil.command',
  'trailer.evil.cmd',
  'tar.evil.command',
];

const VALUES: readonly ((program: string) => string)[] = [
  (program) => program,
  (program) => `!${program}`,
  (program) => `${program};`,
  (program) => `x\nexec ${program}`,
  (program) => `%s%nexec ${program}`,
  (program) => `--exec=${program} -s ours`,
  () => 'evil',
  () => 'ours',
];

interface Setting {
  readonly key: string;
  readonly value: string;
}

function isAccepted({ key, value }: Setting, overrides: 'all' | 'fixed'): boolean {
  try {
    judgeConfig([{ origin: 'file:.git/config', key: inGitsSpelling(key), value }], [], { overrides });
    return true;
  } catch {
    return false;
  }
}

/** What git is told on top, as the runtime does. */
function overridesOf(settings: readonly Setting[]): readonly string[] {
  const entries = settings.map(({ key, value }) => ({ origin: '', key: inGitsSpelling(key), value }));
  return overrideWords(judgeConfig(entries, []));
}

/** Section and name in lower case, the subsection as it is. */
function inGitsSpelling(key: string): string {
  const parts = key.split('.');
  const [section = '', name = ''] = [parts[0], parts.at(-1)];
  return [section.toLowerCase(), ...parts.slice(1, -1), name.toLowerCase()].join('.');
}

function configText(settings: readonly Setting[]): string {
  const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
  return settings
    .map(({ key, value }) => {
      const parts = key.split('.');
      const below = parts.slice(1, -1).join('.');
      return `[${parts[0]}${below === '' ? '' : ` ${quote(below)}`}]\n\t${parts.at(-1)} = ${quote(value)}\n`;
    })
    .join('');
}

/** Verbs that read most of the configuration and change nothing that matters. */
const READERS: readonly (readonly string[])[] = [
  ['config', '--list'],
  ['status', '--porcelain=v2'],
  ['log', '-p', '-1'],
  ['diff', 'HEAD'],
  ['blame', 'a.txt'],
  ['for-each-ref'],
  ['branch'],
  ['add', '--dry-run', '.'],
  ['commit', '--dry-run', '--allow-empty', '-m', 'x'],
  ['merge', 'HEAD'],
  ['log', '-1', '--format=%D', 'main'],
  ['log', '-m', '--raw', '-z', '-3', 'main'],
  ['read-tree', 'HEAD'],
  ['restore', 'b.txt'],
  ['stash', 'create'],
  ['fast-import', '--quiet', '--done'],
  ['merge', '--no-commit', '--no-ff', '--strategy=ort', 'other'],
  ['cherry-pick', '--no-commit', 'other'],
  ['commit', '--no-verify', '--allow-empty', '-m', 'x'],
  ['rebase', '--force-rebase', '--interactive', 'main~1', 'topic'],
  ['fetch', 'origin'],
  ['push', '--dry-run', 'origin', 'main:elsewhere'],
  ['fetch', 'origin', 'main:refs/heads/again'],
  ['update-ref', '-d', 'refs/heads/again'],
  ['push', '--receive-pack=git -c core.hooksPath=/dev/null receive-pack', 'origin', 'other:refs/heads/probe'],
];

const ENVIRONMENT = {
  ...fixedEnvironment('/nonexistent'),
  GIT_ALLOW_PROTOCOL: 'file',
  GIT_COMMITTER_NAME: 'x',
  GIT_COMMITTER_EMAIL: 'x@example.org',
};

/** Leaves those with which git works at all; of the others git names the key it does not understand. */
function withoutUnreadable(scene: CanaryScene, settings: readonly Setting[], plain: readonly string[]): Setting[] {
  const left = [...settings];
  const env = ENVIRONMENT;
  for (const words of READERS) {
    for (;;) {
      prepare(scene, left, plain);
      const options = [...fixedOptions(() => false), ...overridesOf(left)];
      const { status, stderr } = spawnSync('git', [...options, ...words], {
        cwd: scene.folder,
        env,
        input: 'done\n',
        encoding: 'utf8',
      });
      if (status === 0 || (words[1] === '--dry-run' && status === 1)) break;
      const said = stderr.toLowerCase();
      const named = left.findIndex(({ key }) => said.includes(inGitsSpelling(key)));
      const short = left.findIndex(({ key }) => said.includes(`'${key.split('.').at(-1)?.toLowerCase()}'`));
      const at = named >= 0 ? named : short >= 0 ? short : bisect(scene, left, plain, words);
      left.splice(at, 1);
    }
  }
  prepare(scene, [], plain);
  scene.git('-c', 'core.hooksPath=/dev/null', 'checkout', '--quiet', '--force', 'main');
  writeConfigs(scene, left, plain);
  return left;
}

/** Nothing is unfinished and no branch will move, whatever the last attempt left behind. */
function prepare(scene: CanaryScene, settings: readonly Setting[], plain: readonly string[]): void {
  writeConfigs(scene, [], plain);
  for (const name of ['rebase-merge', 'rebase-apply', 'sequencer', 'MERGE_HEAD', 'CHERRY_PICK_HEAD', 'index.lock'])
    rmSync(scene.path(`.git/${name}`), { recursive: true, force: true });
  scene.git('-c', 'core.hooksPath=/dev/null', 'checkout', '--quiet', '--force', '--detach', 'main');
  writeConfigs(scene, settings, plain);
}

/** The shortest beginning of the list with which git fails ends in the one to blame. */
function bisect(
  scene: CanaryScene,
  settings: readonly Setting[],
  plain: readonly string[],
  words: readonly string[],
): number {
  const env = ENVIRONMENT;
  let [low, high] = [0, settings.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    prepare(scene, settings.slice(0, middle), plain);
    const options = [...fixedOptions(() => false), ...overridesOf(settings)];
    const { status } = spawnSync('git', [...options, ...words], {
      cwd: scene.folder,
      env,
      input: 'done\n',
    });
    if (status === 0) low = middle;
    else high = middle;
  }
  assert.ok(settings.length > 0, `git ${words.join(' ')} fails without any setting`);
  return high - 1;
}

function writeConfigs({ folder, remote }: CanaryScene, settings: readonly Setting[], plain: readonly string[]): void {
  for (const [at, file] of [join(folder, '.git/config'), join(remote, 'config')].entries()) {
    writeFileSync(file, plain[at] ?? '');
    // The other side gets the fixed options only.
    appendFileSync(file, configText(at === 0 ? settings : settings.filter((one) => isAccepted(one, 'fixed'))));
  }
}

interface Round {
  readonly accepted: number;
  readonly played: number;
  /** A key that git complained about only now; the round is to be repeated without it. */
  readonly refused: string | undefined;
}

async function tryRound(round: number, left: ReadonlySet<string>): Promise<Round> {
  const scene = createCanaryScene();
  try {
    const plain = [scene.path('.git/config'), join(scene.remote, 'config')].map((file) => readFileSync(file, 'utf8'));
    const settings = [...documentedKeys(), ...FURTHER].map((key, at) => ({
      key,
      value: VALUES[(at + round) % VALUES.length]?.(scene.program) ?? '',
    }));
    const accepted = settings.filter((one) => isAccepted(one, 'all') && !left.has(one.key));
    scene.write({ '.git/info/attributes': '* filter=evil diff=evil merge=evil\n' });
    const usable = withoutUnreadable(scene, accepted, plain);
    scene.seen();
    const runtime = await openGitRuntime(scene, { registry: REGISTRY });
    try {
      const played = await playScene(scene, runtime);
      assert.equal(scene.seen(), '', 'the program did not run');
      const said = JSON.stringify(played.filter(({ response }) => !response.ok)).toLowerCase();
      const refused = usable.find(({ key }) => said.includes(`'${inGitsSpelling(key)}'`))?.key;
      writeConfigs(scene, [], plain);
      if (refused === undefined) assertScenePlayed(scene, played);
      return { accepted: accepted.length, played: usable.length, refused };
    } finally {
      await runtime.dispose();
    }
  } finally {
    scene.dispose();
  }
}

/** Some values git reads late in a verb: then it says which, and nothing has run. */
const MAX_LATE = 8;

async function playRound(round: number): Promise<Round> {
  const left = new Set<string>();
  for (;;) {
    const outcome = await tryRound(round, left);
    if (outcome.refused === undefined) return outcome;
    left.add(outcome.refused);
    assert.ok(left.size <= MAX_LATE, `git takes none of these values: ${[...left].join(' ')}`);
  }
}

describe('no configuration key of a repository or its local remote starts a program', () => {
  const rounds = process.env['TOOL_RUNTIME_CANARY'] === 'full' ? VALUES.length : 1;
  for (let round = 0; round < rounds; round++) {
    test(`every documented key, values by turns, round ${round}`, { timeout: 900_000 }, async (t) => {
      const { accepted, played } = await playRound(round);
      t.diagnostic(`${documentedKeys().length} keys, ${accepted} accepted, ${played} read by git`);
      assert.ok(played > 100, 'enough keys are left to prove something');
    });
  }
});
