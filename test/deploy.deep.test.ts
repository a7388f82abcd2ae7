/**
 * The files of examples/deploy as far as a machine without their supervisors can run them: the unit is judged by
 * systemd's own checker and its command is started; the steps of the container file that need no base image run as they
 * are there, the last of them in a sandbox that puts everything where the file says.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { ensureBuilt } from '../packages/host/test/ensure-built.ts';
import { createScratch, type Scratch, startCli } from '../packages/host/test/run-cli.ts';

const root = join(import.meta.dirname, '..');
/** `scripts/setup-system` sees to them. */
const SYSTEM = { analyzer: 'systemd-analyze', wall: 'bwrap' } as const;
const unit = readFileSync(join(root, 'examples/deploy/tool-runtime.service'), 'utf8');
const containerfile = readFileSync(join(root, 'examples/deploy/Containerfile'), 'utf8');

describe('the systemd unit', () => {
  const setting = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
  const words = setting('ExecStart').split(' ');
  const drainSeconds = Number(words[words.indexOf('--drain-timeout') + 1]);

  test('passes the checker of systemd without a word, and a misspelled one does not', () => {
    using scratch = createScratch();
    const path = join(scratch.root, 'tool-runtime.service');
    const verify = (text: string) => {
      writeFileSync(path, text.replace('/usr/local/bin/tool-runtime', process.execPath));
      const { status, stdout, stderr } = spawnSync(SYSTEM.analyzer, ['verify', path], { encoding: 'utf8' });
      return { status, said: stdout + stderr };
    };
    assert.deepEqual(verify(unit), { status: 0, said: '' });
    assert.match(verify(unit.replace('KillMode=mixed', 'KillMode=mild')).said, /kill mode/);
  });

  test('leaves little exposed by the count of systemd', () => {
    using scratch = createScratch();
    const path = join(scratch.root, 'tool-runtime.service');
    const exposure = (text: string): number | null => {
      writeFileSync(path, text.replace('/usr/local/bin/tool-runtime', process.execPath));
      return spawnSync(SYSTEM.analyzer, ['security', '--offline=yes', '--threshold=30', path]).status;
    };
    assert.equal(exposure(unit), 0);
    assert.notEqual(exposure(unit.replace('ProtectSystem=strict', '').replace('CapabilityBoundingSet=', '')), 0);
  });

  test('gives running calls their time: the signal goes to the host alone, and systemd waits longer than the drain', () => {
    assert.equal(setting('KillMode'), 'mixed');
    assert.ok(drainSeconds > 0 && Number(setting('TimeoutStopSec')) > drainSeconds + 5);
  });

  test('starts a host with the options it names, which ends in order on the signal it names', async () => {
    using scratch = createScratch();
    const registry = join(scratch.root, 'registry.yaml');
    writeFileSync(registry, 'version: 1\n');
    const places: Readonly<Record<string, string>> = {
      '/srv/workspace': scratch.workspace,
      '/etc/tool-runtime/registry.yaml': registry,
      '${STATE_DIRECTORY}': scratch.state,
    };
    const options = words.slice(1).map((word) => places[word] ?? word);
    const child = startCli([...options, '--http', '127.0.0.1:0', '--json']);
    child.stderr.resume();
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const { url } = JSON.parse(line) as { url: string };
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    child.kill(setting('KillSignal') as NodeJS.Signals);
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
});

describe('the container file', () => {
  const steps = readSteps(containerfile);
  const last = steps.slice(steps.findLastIndex(({ word }) => word === 'FROM'));
  const step = (word: string): string => last.findLast((one) => one.word === word)?.rest ?? '';

  test('runs as a user other than root, keeps its state in a volume and has a health check', () => {
    assert.deepEqual(
      new Set(steps.filter(({ word }) => word === 'FROM').map(({ rest }) => rest.split(' ')[0])),
      new Set(['node:24-slim']),
    );
    assert.equal(step('USER'), 'node');
    assert.equal(step('VOLUME'), '/var/lib/tool-runtime');
    const order = last.map(({ word }) => word);
    assert.ok(order.indexOf('USER') < order.indexOf('CMD'));
    assert.match(step('HEALTHCHECK'), /CMD \["tool-runtime", "status"/);
  });

  test('copies all that its build needs', () => {
    using scratch = createScratch();
    ensureBuilt();
    const copies = steps
      .slice(
        0,
        steps.findLastIndex(({ word }) => word === 'FROM'),
      )
      .filter(({ word }) => word === 'COPY');
    for (const { rest } of copies) {
      const [target = '', ...sources] = rest.split(' ').reverse();
      for (const name of sources) {
        const place = target.endsWith('/') ? join(target, basename(name)) : target;
        cpSync(join(root, name), join(scratch.workspace, place), {
          recursive: true,
          preserveTimestamps: true, // What is built stays built: the types take minutes and are checked elsewhere.
          filter: (path) => !path.endsWith('/node_modules'),
        });
      }
    }
    symlinkSync(join(root, 'node_modules'), join(scratch.workspace, 'node_modules'));
    shell(findStep(steps, 'npm run build'), scratch.workspace);
    assert.ok(existsSync(join(scratch.workspace, 'packages/host/dist/index.js')));
  });

  test('installs what would be published, and the host then starts, is healthy, answers and stops', () => {
    using scratch = createScratch();
    const app = join(scratch.root, 'app');
    for (const folder of [join(app, 'packed'), scratch.state]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    ensureBuilt();
    shell(
      findStep(steps, 'npm pack')
        .replace(/^mkdir \/packed && /, '')
        .replace('/packed', join(app, 'packed')),
      root,
    );
    for (const name of findStep(last, 'package.json').split(' ').slice(0, -1))
      cpSync(join(root, name), join(app, name));
    shell(findStep(last, 'npm ci').replace('npm ci', 'npm ci --prefer-offline'), app);
    scratch.write('hello.txt', 'hello\n');

    const health = commandOf(step('HEALTHCHECK').replace(/^.*?CMD /, ''));
    const start = [...JSON.parse(step('ENTRYPOINT')), ...JSON.parse(step('CMD'))].map(quote).join(' ');
    const run = insideImage(scratch, app, [
      `${start} & host=$!`,
      `for _ in $(seq 100); do ${health} >/dev/null 2>&1 && break; sleep 0.1; done`,
      `${health} && echo healthy; id -u`,
      'tool-runtime call file_read path=hello.txt --workspace /workspace --state /tmp/state',
      'kill -TERM $host; wait $host; echo "exit $?"',
      `${health} 2>/dev/null || echo unhealthy`,
    ]);
    assert.match(run, /ready, version .*\nhealthy\n1000\n.*"content": "hello\\n".*exit 0\nunhealthy\n$/s);
  });
});

interface Step {
  readonly word: string;
  readonly rest: string;
}

function readSteps(text: string): readonly Step[] {
  const lines = text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((line) => ({ word: line.slice(0, line.indexOf(' ')), rest: line.slice(line.indexOf(' ') + 1) }));
}

function findStep(steps: readonly Step[], part: string): string {
  const found = steps.find(({ word, rest }) => (word === 'RUN' || word === 'COPY') && rest.includes(part));
  assert.ok(found !== undefined, `no step has ${part}`);
  return found.rest;
}

function shell(command: string, cwd: string): void {
  execFileSync('sh', ['-c', command], { cwd, stdio: 'pipe', env: { ...process.env, PATH: pathWithNode() } });
}

function pathWithNode(): string {
  return `${dirname(process.execPath)}:${process.env['PATH']}`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function commandOf(json: string): string {
  return (JSON.parse(json) as string[]).map(quote).join(' ');
}

/** User 1000, a network of its own, and the folders where the container file puts them. */
function insideImage({ workspace, state }: Scratch, app: string, lines: readonly string[]): string {
  const node = dirname(process.execPath);
  const args = [
    ...['--unshare-all', '--die-with-parent', '--uid', '1000', '--gid', '1000', '--clearenv'],
    ...[
      '--ro-bind',
      '/usr',
      '/usr',
      '--ro-bind',
      '/etc',
      '/etc',
      '--proc',
      '/proc',
      '--dev',
      '/dev',
      '--tmpfs',
      '/tmp',
    ],
    ...['/bin', '/lib', '/lib64'].flatMap((name) => ['--symlink', `usr${name}`, name]),
    ...['--ro-bind', node, '/node', '--ro-bind', app, '/opt/tool-runtime'],
    ...['--bind', workspace, '/workspace', '--bind', state, '/var/lib/tool-runtime'],
    ...['--setenv', 'PATH', '/opt/tool-runtime/node_modules/.bin:/node:/usr/bin:/bin', '--setenv', 'HOME', '/tmp'],
    ...['--chdir', '/opt/tool-runtime', 'sh', '-c', lines.join('\n')],
  ];
  return execFileSync(SYSTEM.wall, args, { encoding: 'utf8', timeout: 60_000, stdio: ['ignore', 'pipe', 'ignore'] });
}
