/**
 * Tries the wall on this machine before anything is run behind it: a shell inside attempts what must not succeed.
 *
 * That a socket of the host cannot be reached is told by the network namespace: it is another one, with nothing in it
 * but its own loopback.
 */
import { existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Sandbox } from '../../contracts/commands.ts';
import type { Spawner } from '../processes/spawned-process.ts';
import { HOST_ROOT } from './sandbox-mounts.ts';
import { startSandboxed } from './sandboxed-process.ts';

export interface SandboxTest {
  readonly spawner: Spawner;
  /** Private, on the host. */
  readonly folder: string;
  enter(workspace: string): Sandbox;
}

const NAMESPACES = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts'];
const CANARY = 'canary';
/** A file in the workspace that must stay as it is. */
export const PROTECTED = 'protected';
const FEW_PROCESSES = 8;

/**
 * Arguments: the host's folder, which must not be there, and the workspace, which must. A write to the first may succeed
 * inside, in memory, when the wall made the folder on the way to a mount; the host looks whether it came through. The
 * rest only looks whether it could: where the wall fails, nothing of the host may have changed.
 */
const SCRIPT = `
for name in ${NAMESPACES.join(' ')}; do echo "namespace $name $(readlink /proc/self/ns/$name)"; done
echo x 2>/dev/null > "$1/written"
if read -r line 2>/dev/null < "$1/${CANARY}"; then echo "fault can read outside the workspace"; fi
if [ -e /${HOST_ROOT} ]; then echo "fault sees the root of the host"; fi
if (exec 9>> "$2/${PROTECTED}") 2>/dev/null; then echo "fault can change a protected file"; fi
if [ -w /usr ]; then echo "fault can write to the system"; fi
if (exec 9>> /proc/sys/vm/overcommit_ratio) 2>/dev/null; then echo "fault can change settings of the kernel"; fi
while read -r name rest; do case "$name" in lo:|Inter-*|face) ;; *) echo "fault has network interface $name" ;; esac; done < /proc/net/dev
while read -r name value; do if [ "$name" = CapEff: ] && [ "$value" != 0000000000000000 ]; then echo "fault has capabilities"; fi; done < /proc/self/status
count=0; for process in /proc/[0-9]*; do count=$((count + 1)); done
if [ "$count" -gt ${FEW_PROCESSES} ]; then echo "fault sees $count processes"; fi
if echo x > "$2/written"; then echo "done"; fi
`;

/** Undefined when the wall holds; otherwise what is wrong with it. */
export async function testSandbox({ spawner, folder, enter }: SandboxTest): Promise<string | undefined> {
  const outside = mkdtempSync(join(folder, 'test-'));
  try {
    const workspace = join(outside, 'workspace');
    mkdirSync(workspace);
    writeFileSync(join(outside, CANARY), 'canary\n');
    writeFileSync(join(workspace, PROTECTED), '');
    const printed = await runInside({ spawner, folder, enter }, outside, workspace);
    return existsSync(join(outside, 'written'))
      ? 'Wall does not stand: can write outside the workspace'
      : judge(printed);
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
}

async function runInside({ spawner, enter }: SandboxTest, outside: string, workspace: string): Promise<string> {
  const wall = enter(workspace);
  const confined = wall.confine({
    program: '/bin/sh',
    args: ['-c', SCRIPT, 'sh', outside, workspace],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '.',
  });
  try {
    const ends = { stdin: 'null', stdout: 'pipe', stderr: 'pipe' } as const;
    const { process, ended } = await startSandboxed({ spawner, wall }, { name: 'sh', confined }, ends);
    const streams = [process.stdout, process.stderr];
    const printing = streams.map((stream) => (stream === undefined ? '' : text(stream)));
    const [end, printed = '', complaint = ''] = await Promise.all([ended, ...printing]);
    return end.notStarted === undefined ? printed : `fault ${complaint.trim().slice(0, 300) || end.notStarted}`;
  } finally {
    wall.leave();
  }
}

function judge(printed: string): string | undefined {
  const lines = printed.split('\n');
  const fault = lines.find((line) => line.startsWith('fault '))?.slice('fault '.length);
  if (fault !== undefined) return `Wall does not stand: ${fault}`;
  const shared = NAMESPACES.find((name) => {
    const own = lines.find((line) => line.startsWith(`namespace ${name} `))?.split(' ')[2];
    return own === undefined || own === '' || own === readlinkSync(`/proc/self/ns/${name}`);
  });
  if (shared !== undefined) return `Wall does not stand: a namespace of the host is shared: ${shared}`;
  return lines.includes('done') ? undefined : 'Wall does not stand: the workspace cannot be written inside';
}
