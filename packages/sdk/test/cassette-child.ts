/**
 * Makes calls with a cassette: files, a command, git and the network. Started by cassette.deep.test.ts, under strace or
 * to be killed.
 */
import { createRuntime } from '../src/index.ts';

const [workspace = '', state = '', file = '', mode = 'record', rounds = '1', url = ''] = process.argv.slice(2);
const domain = new URL(url === '' ? 'http://localhost' : url).host;
const runtime = await createRuntime({
  workspace,
  state,
  cassette: { mode: mode as 'record' | 'replay', file },
  registry: {
    file: 'r.yaml',
    text: `version: 1\nshell: { mode: sandboxed }\nnetwork: { allowed_domains: ['${domain}'] }\n`,
  },
});
const session = await runtime.openSession();
console.log('READY');
for (let round = 0; round < Number(rounds); round++) {
  await session.call('file_write', { path: `file-${round}.txt`, content: `${round}\n`.repeat(50) });
  await session.call('file_read', { path: `file-${round}.txt` });
}
if (url !== '') {
  await session.call('shell_exec', { cmd: 'echo hello > shell.txt' });
  await session.call('git_status', {});
  await session.call('curl', { url, method: 'GET' });
}
console.log(`DONE ${JSON.stringify(runtime.cassette())}`);
await runtime.close();
