import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { runCli } from '../../../test/run-cli.ts';

/** What bash offers at the end of the line. */
function complete(script: string, line: string): readonly string[] {
  const words = line.split(' ');
  const set = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`;
  const program = `${script}\n${set}\n_tool_runtime\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', program], { encoding: 'utf8' }).trim().split('\n');
}

describe('tool-runtime completion', () => {
  test('completes commands, options, tools and their arguments in bash', async () => {
    const { code, stdout } = await runCli(['completion', 'bash']);
    assert.equal(code, 0);
    assert.deepEqual(complete(stdout, 'tool-runtime exp'), ['explain']);
    assert.deepEqual(complete(stdout, 'tool-runtime audit ver'), ['verify']);
    assert.ok(complete(stdout, 'tool-runtime audit list --').includes('--records'));
    assert.deepEqual(complete(stdout, 'tool-runtime call file_re'), ['file_read']);
    assert.deepEqual(complete(stdout, 'tool-runtime call file_read --max'), ['--max-bytes']);
    assert.deepEqual(complete(stdout, 'tool-runtime external che'), ['check']);
    assert.ok(complete(stdout, 'tool-runtime call ast_').includes('ast_query'));
  });

  test('prints a script for zsh and fish, and refuses other shells', async () => {
    assert.match((await runCli(['completion', 'zsh'])).stdout, /bashcompinit\n_tool_runtime\(\) \{/);
    assert.match(
      (await runCli(['completion', 'fish'])).stdout,
      /^complete -c tool-runtime -n '__fish_seen_subcommand_from audit; and __fish_seen_subcommand_from list' -l records$/m,
    );
    const { code, stderr } = await runCli(['completion', 'tcsh']);
    assert.equal(code, 2);
    assert.match(stderr, /Allowed choices are bash, zsh, fish/);
  });
});
