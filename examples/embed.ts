/** A runtime inside a program, in ten lines. It writes `hello.txt` to the current folder, its workspace. */
import assert from 'node:assert/strict';
import { createRuntime } from '@tool-runtime/sdk';

const runtime = await createRuntime({ workspace: '.' });
const session = await runtime.openSession({ actor: 'you', client: 'embed 1.0' });
const written = await session.call('file_write', { path: 'hello.txt', content: 'Hello\n' });
const escaped = await session.call('file_read', { path: '../secret.txt' });
console.log(written.ok, escaped.ok, escaped.errors[0]?.message);
assert.deepEqual([written.ok, escaped.ok, runtime.verify().ok], [true, false, true]);
await runtime.close();
