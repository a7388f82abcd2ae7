/** The ports as a fleet has them, for the suites: each on a workspace of its own, with two hosts. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { type ArtifactPair, type BudgetPair, createArtifactFiles, type LedgerPair } from '@tool-runtime/sdk/testing';
import { answerTunnels } from '../../src/bus/answer.ts';
import { createDialer } from '../../src/bus/dial.ts';
import { shareArtifacts } from '../../src/ledger/fleet-artifacts.ts';
import { FleetBudget } from '../../src/ledger/fleet-budget.ts';
import { createFleetLedger } from '../../src/ledger/fleet-ledger.ts';
import { HostLease } from '../../src/ledger/host-lease.ts';
import { createPayloads } from '../../src/ledger/payloads.ts';
import { WorkspaceLease } from '../../src/ledger/workspace-lease.ts';
import { openWire, type Wire } from '../../src/wire/open-wire.ts';
import type { TestFleet } from '../fixtures.ts';
import type { CallBus } from './call-bus-suite.ts';
import type { Contender } from './lease-suite.ts';

type Scope = Pick<TestContext, 'after'>;

async function openHost(t: Scope, fleet: TestFleet, name: string): Promise<Wire> {
  const wire = await openWire(fleet.file(name), name);
  t.after(() => wire.close());
  return wire;
}

async function openLease(wire: Wire, workspace: string, leaseMs: number) {
  const waiting = new Set<() => void>();
  const hostLease = new HostLease({ wire, host: wire.user, leaseMs });
  const lease = new WorkspaceLease({
    wire,
    workspace,
    host: wire.user,
    zone: 'z',
    lease: hostLease,
    onHeld() {
      for (const wake of waiting) wake();
      waiting.clear();
    },
    onLost() {},
  });
  await hostLease.start();
  await lease.start();
  const held = (): Promise<void> =>
    new Promise((resolve) => {
      if (lease.token === undefined) waiting.add(resolve);
      else resolve();
    });
  const close = async (): Promise<void> => {
    await hostLease.close();
    await lease.ended();
    await wire.close();
  };
  return { lease, held, close };
}

export async function openLeases(t: Scope, fleet: TestFleet) {
  const workspace = `w-${randomUUID()}`;
  return {
    async join(): Promise<Contender> {
      const wire = await openHost({ after() {} }, fleet, 'a');
      const { lease, held, close } = await openLease(wire, workspace, fleet.file('a').lease_ms);
      t.after(close);
      return {
        get token() {
          return lease.token;
        },
        want: (isWanted) => lease.want(isWanted),
        held,
      };
    },
  };
}

export async function openLedgers(t: Scope, fleet: TestFleet): Promise<LedgerPair> {
  const workspace = `w-${randomUUID()}`;
  const member = async (name: 'a' | 'b') => {
    const wire = await openHost({ after() {} }, fleet, name);
    const boot = `boot-${name}`;
    const { lease, held, close } = await openLease(wire, workspace, fleet.file(name).lease_ms);
    const payloads = createPayloads(wire);
    const ledger = createFleetLedger({ wire, workspace, host: name, boot, lease, payloads, now: Date.now });
    t.after(close);
    return { lease, ledger, held };
  };
  const a = await member('a');
  await a.held();
  const b = await member('b');
  return {
    first: a.ledger,
    second: b.ledger,
    async move() {
      await a.lease.want(false);
      await b.held();
    },
  };
}

export async function openBudgets(t: Scope, fleet: TestFleet, calls: number): Promise<BudgetPair> {
  const name = randomUUID();
  const [first, second] = await Promise.all(
    (['a', 'b'] as const).map(
      async (host) => new FleetBudget({ wire: await openHost(t, fleet, host), nameNow: () => name, calls, share: 4 }),
    ),
  );
  if (first === undefined || second === undefined) throw new TypeError('Two hosts take');
  return { first, second, leave: () => first.close() };
}

export async function openArtifacts(t: Scope, fleet: TestFleet): Promise<ArtifactPair> {
  const workspace = `w-${randomUUID()}`;
  const open = async (host: 'a' | 'b') => {
    const wire = await openHost(t, fleet, host);
    const state = mkdtempSync(path.join(tmpdir(), 'fleet-artifacts-'));
    t.after(() => rmSync(state, { recursive: true }));
    return shareArtifacts(createArtifactFiles(state), { wire, workspace, payloads: createPayloads(wire), log() {} });
  };
  const [first, second] = [await open('a'), await open('b')];
  return { first, second, settled: () => first.settled() };
}

export async function openBus(t: Scope, fleet: TestFleet): Promise<CallBus> {
  const workspace = `w-${randomUUID()}`;
  const host = await openHost(t, fleet, 'a');
  const client = await openWire(fleet.file('agent'), 'client');
  t.after(() => client.close());
  const dialer = createDialer(client);
  return {
    async serve(accept) {
      const answering = answerTunnels(host, workspace, { accept, maxTunnels: 100, approvers: [] });
      await host.nc.flush();
      return {
        async stop() {
          answering.stop();
          await host.nc.flush();
        },
      };
    },
    open: () => dialer.open(workspace),
  };
}
