import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { openStage, type Stage } from './stage.ts';
import { type Answer, type OpenedClient, WAYS } from './ways.ts';

const ALLOW: Answer = { action: 'accept', content: { decision: 'allow' } };

/** Everything that is not a clear yes. */
const REFUSALS: Readonly<Record<string, Answer>> = {
  declined: { action: 'decline' },
  cancelled: { action: 'cancel' },
  denied: { action: 'accept', content: { decision: 'deny', reason: 'not today' } },
};

describe('Approvals over MCP', { concurrency: 2 }, () => {
  for (const { name, kind, open } of WAYS) {
    test(`${name}: one question decides, and only a yes lets it run (deep)`, async () => {
      await using stage = await openStage(kind);
      const asked: string[] = [];
      let answer = ALLOW;
      await using client = await open(stage, {
        onQuestion(message) {
          asked.push(message);
          return answer;
        },
      });
      const allowed = await write(client, 'allowed.txt');
      assert.equal(allowed.isError, undefined, JSON.stringify(allowed.content));
      assert.ok(isWritten(stage, 'allowed.txt'));
      assert.equal(asked.length, 1);
      assert.match(asked[0]!, /file_write.*allowed\.txt/s);

      for (const [word, refusal] of Object.entries(REFUSALS)) {
        asked.length = 0;
        answer = refusal;
        const refused = await write(client, `${word}.txt`);
        assert.equal(refused.isError, true);
        assert.match(textOf(refused), /^E_POLICY: Approval was not given/);
        assert.equal(asked.length, 1, `${word}: a no is final`);
        assert.ok(!isWritten(stage, `${word}.txt`));
      }
      assert.match(textOf(await write(client, 'denied.txt')), /not today/);

      const journal = await stage.journal();
      const answers = journal.flatMap((record) =>
        record.kind === 'approval' && record.phase === 'answered' ? [record.answer] : [],
      );
      assert.deepEqual(answers, ['approved', 'denied', 'denied', 'denied', 'denied']);
      assert.equal(denials(journal), 4);
      assert.equal(journal.filter(({ kind: one }) => one === 'intent').length, 1, 'nothing else began');
    });

    test(`${name}: a client that cannot ask is a denial that says how to approve`, async () => {
      await using stage = await openStage(kind);
      await using client = await open(stage);
      const refused = await write(client, 'never.txt');
      assert.equal(refused.isError, true);
      assert.match(textOf(refused), /cannot ask its user.*tool-runtime approvals.*auto_approve/s);
      assert.ok(!isWritten(stage, 'never.txt'));
      assert.equal(denials(await stage.journal()), 1);
    });
  }

  for (const { name, kind, open } of WAYS.filter(({ family }) => family === '2025')) {
    test(`${name}: a client that breaks over the question has not said yes`, async () => {
      await using stage = await openStage(kind);
      let asked = 0;
      await using client = await open(stage, {
        onQuestion() {
          asked += 1;
          throw new TypeError('no window to show it in');
        },
      });
      const refused = await write(client, 'never.txt');
      assert.match(textOf(refused), /^E_POLICY: Approval was not given/);
      assert.equal(asked, 1);
      assert.ok(!isWritten(stage, 'never.txt'));
      assert.equal(denials(await stage.journal()), 1);
    });
  }
});

function write(client: OpenedClient, path: string): Promise<CallToolResult> {
  return client.call('file_write', { path, content: 'x' });
}

function isWritten({ workspace }: Stage, name: string): boolean {
  return existsSync(join(workspace, name));
}

function denials(journal: Awaited<ReturnType<Stage['journal']>>): number {
  return journal.filter(
    (record) => record.kind === 'decision' && record.outcome === 'deny' && record.gate === 'approval',
  ).length;
}

function textOf({ content: [first] }: CallToolResult): string {
  return first?.type === 'text' ? first.text : '';
}
