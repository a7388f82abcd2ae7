/** The same command lines run directly and on an overlay, as the user that started it; prints both trees of each. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createRuntime } from '../src/runtime.ts';

const [base = ''] = process.argv.slice(2);

const LINES: readonly string[] = [
  'true',
  'echo x >> a.txt && cat a.txt > copy.txt',
  'sed -i s/alpha/beta/ a.txt src/*.ts',
  'rm -rf src && mkdir src && echo new > src/new.ts',
  'mv src lib',
  'mv a.txt renamed.txt && mv src/one.ts src/deep/',
  'mv src/deep deep && rmdir src/empty',
  'mv a.txt b.txt && mv b.txt a.txt',
  'cp -a src src2 && rm src2/one.ts',
  'tar cf all.tar src && rm -r src && tar xf all.tar && rm all.tar',
  'find . -name "*.ts" -delete',
  'chmod 600 a.txt && chmod 755 src/one.ts && chmod 700 src',
  'ln -s a.txt soft && ln -sf other link && rm dangling',
  'ln a.txt hard && echo y >> b.txt',
  'rm a.txt && mkdir a.txt && echo in > a.txt/file',
  'rm -r src && echo file > src',
  'rm link && mkdir link && touch link/x',
  'mkdir -p x/y/z && touch x/y/z/.hidden "x/with blank" && printf "\\r\\n" > x/crlf',
  'truncate -s 1M sparse && printf end >> sparse',
  'for i in 1 2 3 4 5 6 7 8 9; do echo $i > n$i; done; rm n[1-5]',
  'false',
  'echo partial > partial; exit 3',
  'mkdir closed && echo x > closed/x && chmod 500 closed && echo y > none && chmod 200 none',
  'umask 077; echo x > private; mkdir privatefolder',
  'touch a.txt',
];

function fill(workspace: string): void {
  rmSync(workspace, { recursive: true, force: true });
  mkdirSync(join(workspace, 'src/deep/er'), { recursive: true });
  mkdirSync(join(workspace, 'src/empty'));
  writeFileSync(join(workspace, 'a.txt'), 'alpha\n');
  for (const name of ['one.ts', 'deep/two.ts', 'deep/er/three.ts'])
    writeFileSync(join(workspace, 'src', name), 'alpha;\n');
  symlinkSync('a.txt', join(workspace, 'link'));
  symlinkSync('nowhere', join(workspace, 'dangling'));
}

function treeOf(folder: string, name = ''): readonly string[] {
  return readdirSync(join(folder, name))
    .sort()
    .flatMap((entry) => {
      const inner = join(name, entry);
      const path = join(folder, inner);
      const stat = lstatSync(path);
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isSymbolicLink()) return [`${inner} -> ${readlinkSync(path)}`];
      // So that it can be read, and removed afterwards.
      const wanted = stat.isDirectory() ? 0o700 : 0o400;
      if ((stat.mode & wanted) !== wanted) chmodSync(path, 0o700);
      if (stat.isDirectory()) return [`${inner}/ ${mode}`, ...treeOf(folder, inner)];
      return [`${inner} ${mode} ${stat.size} ${readFileSync(path, 'base64').slice(0, 80)}`];
    });
}

const trees: Record<string, readonly (readonly string[])[]> = Object.fromEntries(LINES.map((line) => [line, []]));
for (const effects of ['direct', 'recorded']) {
  const [workspace, state] = [join(base, effects, 'workspace'), join(base, effects, 'state')];
  mkdirSync(workspace, { recursive: true });
  const registry = { file: 'ops.yaml', text: `version: 1\nshell:\n  mode: sandboxed\neffects: ${effects}\n` };
  for (const line of LINES) {
    fill(workspace);
    const runtime = await createRuntime({ workspace, state, registry });
    const session = await runtime.openSession();
    const { data, errors } = await session.call('shell_exec', { cmd: line });
    const said = [errors[0]?.message ?? `exit ${(data as { code?: number } | null)?.code}`];
    trees[line] = [...(trees[line] ?? []), [...said, ...treeOf(workspace)]];
    await runtime.close();
  }
}
process.stdout.write(JSON.stringify({ uid: process.getuid?.(), trees }));
