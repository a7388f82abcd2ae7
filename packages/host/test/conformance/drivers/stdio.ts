/**
 * `tool-runtime stdio` as a process of its own, from the sources. The process is the session: no other client can reach it,
 * no client can come back to it, and its questions are not answered.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startCli } from '../../run-cli.ts';
import { Inbox } from '../inbox.ts';
import { REGISTRY, Stage } from '../stage.ts';
import { createTraffic } from '../traffic.ts';
import type { Client, Traits, Transport } from '../transport.ts';

const TRAITS: Traits = {
  greeting: 'acknowledgement',
  streams: 'one',
  return: 'never',
  beats: 'none',
  sends: 'bytes',
  badBytes: 'refusal',
  farTooLarge: 'refusal',
  tokens: 'none',
  approvals: 'refused',
  many: 200,
  patienceMs: 1000,
};

export async function stdio(): Promise<Transport> {
  const root = mkdtempSync(join(tmpdir(), 'conformance-stdio-'));
  const registry = join(root, 'registry.yaml');
  writeFileSync(registry, REGISTRY);
  const traffic = createTraffic();
  const clients: Client[] = [];
  const stage = new Stage(join(root, 'workspace'));
  return {
    traits: TRAITS,
    traffic,
    stage,
    async close() {
      for (const client of clients) await client.drop();
      rmSync(root, { recursive: true, force: true });
    },
    async connect() {
      const state = join(root, `state-${stage.name()}`);
      const words = ['stdio', '--workspace', stage.folder, '--state', state, '--registry', registry];
      const client = await connectProcess(words, new Inbox(traffic), (message) => traffic.said('to host', message));
      clients.push(client);
      return client;
    },
  };
}

async function connectProcess(
  words: readonly string[],
  inbox: Inbox,
  said: (message: object) => void,
): Promise<Client> {
  const child = startCli(words);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let complaint = '';
  child.stderr.on('data', (chunk) => {
    complaint += String(chunk);
  });
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', inbox.push);
  child.once('close', (code) => inbox.close(`exit ${code} ${complaint}`));
  const ack = await inbox.until((message) => message.type === 'SessionAck');
  const sessionId = ack.type === 'SessionAck' ? ack.session_id : '';
  const write = (bytes: string | Uint8Array): void => {
    child.stdin.write(Buffer.concat([Buffer.from(bytes), Buffer.from('\n')]));
  };
  const send: Client['send'] = (message) => {
    said(message);
    write(JSON.stringify(message));
  };
  return {
    sessionId,
    inbox,
    send,
    sendRaw: write,
    async attach(attach = {}) {
      const before = inbox.acks;
      send({ type: 'SessionAttach', session_id: sessionId, ...attach });
      await inbox.acknowledged(before + 1);
    },
    async drop() {
      child.stdout.destroy();
      child.stdin.destroy();
      await closed;
    },
    async endSession(how) {
      if (how === 'wait') child.stdin.end();
      else child.kill('SIGTERM');
      await closed;
    },
    leave: () => void child.stdin.end(),
  };
}
