/** Every registry of docs/policies.md, loaded as it is there, and every call below it with the answer the page gives. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { createRuntime, type Runtime, type Session } from '@tool-runtime/sdk';
import { lockExternalTools } from '../packages/sdk/src/lock-external-tools.ts';
import { type Block, ROOT, readBlocks, readPage } from './pages/read-page.ts';

const blocks = readBlocks(readPage('docs/policies.md'));
const policies = blocks.flatMap((block, index) =>
  block.language === 'yaml' ? [{ registry: block, calls: blocks[index + 1] }] : [],
);

interface Stage {
  readonly root: string;
  readonly workspace: string;
  /** Where the service listens that the page calls localhost:8080. */
  readonly port: number;
}

describe('docs/policies.md', () => {
  test('has a policy with calls under each heading but the first', () => {
    assert.ok(policies.length >= 8);
    assert.equal(new Set(policies.map(({ registry }) => registry.heading)).size, policies.length);
  });

  for (const { registry, calls } of policies) {
    test(`${registry.heading}: loads, and its calls are answered as the page says`, async () => {
      assert.ok(
        calls?.isNext === true && calls.language === '',
        `no calls below the registry at line ${registry.line}`,
      );
      const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      const root = mkdtempSync(join(tmpdir(), 'tool-runtime-policy-'));
      try {
        const stage = { root, workspace: createProject(root), port: (server.address() as AddressInfo).port };
        const answers = await answer(registry, calls, stage);
        assert.equal(answers.join('\n'), calls.text.trimEnd());
        const [allowed, refused] = [/→ ok$/m, /→ E_[A-Z_]+ /m];
        assert.match(calls.text, allowed, 'a call that passes is missing');
        assert.match(calls.text, refused, 'a call that does not is missing');
      } finally {
        server.closeAllConnections();
        server.close();
        rmSync(root, { recursive: true });
      }
    });
  }
});

function createProject(root: string): string {
  const workspace = join(root, 'project');
  mkdirSync(join(workspace, 'src'), { recursive: true });
  writeFileSync(join(workspace, 'README.md'), '# Project\n');
  writeFileSync(join(workspace, 'src/app.js'), 'run();\n');
  cpSync(join(ROOT, 'examples/external-tools/line-count.sh'), join(workspace, 'tools/line-count.sh'));
  const git = (...words: string[]) => execFileSync('git', words, { cwd: workspace });
  git('init', '--quiet', '--initial-branch', 'main');
  git('config', 'user.name', 'Dev');
  git('config', 'user.email', 'dev@example.org');
  git('add', '--all');
  git('-c', 'commit.gpgsign=false', 'commit', '--quiet', '--message', 'feat: project');
  return workspace;
}

/** The lines of the page with the answers that were really given. */
async function answer(registry: Block, calls: Block, stage: Stage): Promise<readonly string[]> {
  const there = (text: string): string => text.replaceAll('localhost:8080', `localhost:${stage.port}`);
  const open = (): Promise<Runtime> =>
    createRuntime({
      workspace: stage.workspace,
      state: join(stage.root, 'state'),
      registry: { file: 'registry.yaml', text: there(registry.text) },
    });
  let runtime = await open();
  let sessions = new Map([['', await runtime.openSession()]]);
  const lines: string[] = [];
  for (const line of calls.text.trimEnd().split('\n')) {
    if (line === '$ tool-runtime external lock') {
      const { workspace } = stage;
      await lockExternalTools({ workspace, state: join(stage.root, 'state'), registry: runtime.registry });
      await runtime.close();
      runtime = await open();
      sessions = new Map([['', await runtime.openSession()]]);
      lines.push(line);
      continue;
    }
    const [, who = '', tool = '', args = ''] = /^(?:(\w+)> )?(\S+) (\{.*\}) → /.exec(line) ?? [];
    assert.notEqual(tool, '', `not a call: ${line}`);
    const said = await outcome(sessions, { who, tool, args: JSON.parse(there(args)) as Record<string, unknown> });
    lines.push(`${line.slice(0, line.indexOf(' → '))} → ${said.replaceAll(String(stage.port), '8080')}`);
  }
  await runtime.close();
  return lines;
}

interface Asked {
  readonly who: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

async function outcome(sessions: Map<string, Session>, { who, tool, args }: Asked): Promise<string> {
  const session = sessions.get(who);
  assert.ok(session, `no session of this name: ${who}`);
  try {
    if (tool === 'openChild') {
      const child = await session.openChild(args as { agentId: string });
      sessions.set(child.agentId, child);
      return 'ok';
    }
    const { ok, errors } = await session.call(tool, args);
    return ok ? 'ok' : `${errors[0]?.code} ${errors[0]?.message}`;
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return `${thrown.code} ${thrown.message}`;
  }
}
