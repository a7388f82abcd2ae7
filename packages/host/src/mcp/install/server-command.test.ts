import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, test } from 'node:test';
import { serverCommand, thisProgram } from './server-command.ts';

const PROGRAM = {
  node: '/bin/node',
  script: '/opt/host/bin/tool-runtime.js',
  version: '1.2.3',
  platform: 'linux',
} as const;

describe('the command a client starts', () => {
  test('is this Node and this program, with absolute paths', () => {
    assert.deepEqual(
      serverCommand(PROGRAM, { workspace: '/w/../v', state: '/s', registry: '/r.yaml', profile: 'full' }),
      {
        command: '/bin/node',
        args: [
          PROGRAM.script,
          'mcp',
          '--workspace',
          '/v',
          '--state',
          '/s',
          '--registry',
          '/r.yaml',
          '--profile',
          'full',
        ],
      },
    );
    const { script, node } = thisProgram('1');
    assert.ok(existsSync(script) && existsSync(node));
  });

  test('is npx with the exact version when the program lives in its cache, which comes and goes', () => {
    const cached = {
      ...PROGRAM,
      script: '/srv/me/.npm/_npx/ab12/node_modules/@tool-runtime/host/bin/tool-runtime.js',
    };
    assert.deepEqual(serverCommand(cached, { workspace: '/w', tools: 'a,b' }), {
      command: 'npx',
      args: ['-y', '@tool-runtime/host@1.2.3', 'mcp', '--workspace', '/w', '--tools', 'a,b'],
    });
  });

  test("names no path of this machine in a shared file, and uses the client's variable for the folder", () => {
    const command = serverCommand(PROGRAM, { workspace: '/w', registry: 'tool-runtime.yaml' }, '.');
    assert.deepEqual(command.args.slice(2), ['mcp', '--workspace', '.', '--registry', 'tool-runtime.yaml']);
    assert.equal(serverCommand({ ...PROGRAM, platform: 'win32' }, { workspace: '/w' }, '.').command, 'cmd');
  });
});
