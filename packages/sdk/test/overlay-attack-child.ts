/** Commands on an overlay that try to get more applied than files, links and folders; as the user that started it. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRuntime } from '../src/runtime.ts';

const [base = '', only] = process.argv.slice(2);
const OUTSIDE = join(base, 'outside');
const PYTHON = (text: string) => `python3 - <<'END'\n${text}\nEND`;

/** By name: what the command runs. */
const ATTACKS: Readonly<Record<string, string>> = {
  'folders replaced by links': `rm -rf sub; ln -s ${OUTSIDE} sub; echo evil > sub/file; ln -s ../outside up; echo evil > up/file; ln -s / root; echo evil > root${OUTSIDE}/file`,
  'writes through what is a link now': 'echo evil > sub/file; echo evil > up/file; echo fine > beside',
  'writes through /proc': `for at in /proc/self/root /proc/self/cwd /proc/1/root /proc/1/cwd /proc/[0-9]*/fd/*; do echo evil > $at/../outside/file; echo evil > $at${OUTSIDE}/file; done`,
  'devices, pipes and sockets': `mknod zero c 1 5; mknod hole c 0 0; mknod disk b 8 0; mkfifo pipe; ${PYTHON('import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind("socket")')}`,
  'set-user-id bits': 'cp /bin/true elevated; chmod 6755 elevated; mkdir shared; chmod 3777 shared; chmod u+s own',
  'attributes of overlays': PYTHON(
    [
      'import os',
      'os.makedirs("sub2", exist_ok=True); open("sub2/empty", "w").close()',
      'for path in ["sub2", "sub2/empty", "own"]:',
      '  for name in ["opaque", "whiteout", "redirect", "origin", "metacopy", "impure"]:',
      '    for prefix in ["user.overlay.", "trusted.overlay.", "user.overlay.overlay."]:',
      '      try: os.setxattr(path, prefix + name, b"y" if name != "redirect" else b"/../../outside")',
      '      except OSError: pass',
    ].join('\n'),
  ),
  'protected names': `mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; echo 'version: 1' > tool-runtime.yaml; echo {} > tool-runtime.lock; echo fine > other`,
  'other mounts': `umount "$PWD"; mount -t tmpfs none "$PWD"; mount --bind / sub; unshare -r true; nsenter -t 1 -m true; ls ${join(base, 'state')} && echo evil > ${join(base, 'state')}/x`,
  'names that are no UTF-8': PYTHON('open(b"bad\\xff\\xfename", "w").write("bytes\\n")'),
  'a deep tree': PYTHON('import os\nfor i in range(300):\n  os.mkdir("d"); os.chdir("d")'),
  'a hundred thousand files': PYTHON(
    'import os\nos.mkdir("many")\nfor i in range(100000): open(f"many/{i}", "w").close()',
  ),
  'more bytes than may be recorded': 'truncate -s 3G large',
};
/** On a small file system: what is written is more than fits beside the state. */
const FULL: typeof ATTACKS = {
  'fills the upper layer': 'echo fine > small; head -c 200M /dev/zero > large; echo more > small2',
  'the command after it': 'echo fine > small',
};

function walk(folder: Buffer): readonly Buffer[] {
  return readdirSync(folder, { encoding: 'buffer' })
    .sort(Buffer.compare)
    .flatMap((name) => {
      const path = Buffer.concat([folder, Buffer.from('/'), name]);
      return [path, ...(lstatSync(path).isDirectory() ? walk(path) : [])];
    });
}

function digestOf(folder: string): string {
  const hash = createHash('sha256');
  for (const path of walk(Buffer.from(folder))) {
    const stat = lstatSync(path);
    hash.update(path).update(`\0${stat.mode}\0`);
    if (stat.isFile()) hash.update(readFileSync(path));
    if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
  }
  return hash.digest('hex');
}

/** What may never be in a workspace because of a command: kinds, bits, attributes. */
function intruders(folder: string): readonly string[] {
  return walk(Buffer.from(folder)).flatMap((path) => {
    const stat = lstatSync(path);
    const isPlain = stat.isFile() || stat.isDirectory() || stat.isSymbolicLink();
    return isPlain && (stat.mode & 0o6000) === 0 ? [] : [path.toString('latin1')];
  });
}

const ATTRIBUTES = `
import os, sys
for at, folders, files in os.walk(sys.argv[1]):
  for name in folders + files:
    for attribute in os.listxattr(os.path.join(at, name), follow_symlinks=False):
      if "overlay" in attribute: print(name, attribute)
`;

const [workspace, state] = [join(base, 'workspace'), join(base, 'state')];
for (const folder of [workspace, OUTSIDE]) mkdirSync(folder);
writeFileSync(join(OUTSIDE, 'file'), 'precious\n');
const registry = { file: 'ops.yaml', text: 'version: 1\nshell:\n  mode: sandboxed\neffects: recorded\n' };
const runtime = await createRuntime({ workspace, state, registry });
const session = await runtime.openSession();
const report: Record<string, unknown> = {};
const outside = digestOf(OUTSIDE);
for (const [name, cmd] of Object.entries(only === 'full' ? FULL : ATTACKS)) {
  if (name !== 'writes through what is a link now') {
    for (const entry of readdirSync(workspace, { encoding: 'buffer' }))
      rmSync(Buffer.concat([Buffer.from(`${workspace}/`), entry]), { recursive: true, force: true });
    mkdirSync(join(workspace, 'sub'));
    writeFileSync(join(workspace, 'sub/file'), 'old\n');
    writeFileSync(join(workspace, 'own'), 'own\n');
  }
  const before = digestOf(workspace);
  const { data, errors, warnings } = await session.call('shell_exec', { cmd, timeout_ms: 300_000 });
  report[name] = {
    isOutsideSame: digestOf(OUTSIDE) === outside,
    isWorkspaceSame: digestOf(workspace) === before,
    intruders: intruders(workspace),
    attributes: execFileSync('/usr/bin/python3', ['-c', ATTRIBUTES, workspace], { encoding: 'utf8' }),
    reason: errors[0]?.details?.['reason'] ?? errors[0]?.message,
    warnings: warnings.map(({ message }) => message),
    effects: (data as { effects?: unknown } | null)?.effects,
    stderr: (data as { stderr?: string } | null)?.stderr?.slice(0, 300),
  };
}
await runtime.close();
process.stdout.write(JSON.stringify({ uid: process.getuid?.(), report, left: readdirSync(join(state, 'overlays')) }));
