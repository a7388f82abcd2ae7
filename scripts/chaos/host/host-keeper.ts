/** Keeps one host running: starts it, kills it on request, and notes every unrequested death. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  checkChain,
  checkOrphans,
  checkReported,
  checkRepository,
  findOrphans,
  shownProcesses,
} from '../oracle/check-after-death.ts';
import type { ChaosStage } from '../stage/open-stage.ts';
import type { TimeLine } from '../time-line.ts';
import type { Violations } from '../violations.ts';
import { type FailedStart, type HostProcess, startHost } from './host-process.ts';
import { descendantsOf, type ProcessFacts } from './process-tree.ts';

export interface HostKeeperOptions {
  readonly stage: ChaosStage;
  readonly timeLine: TimeLine;
  readonly violations: Violations;
  readonly onStarted: (host: HostProcess) => void;
  readonly onGone: () => void;
}

export interface HostControl {
  readonly clockOffsetMs: number;
  readonly diskDelayMs: number;
}

/** Lines of the log that report an unexpected error. */
const UNEXPECTED = /unexpected/;

/** What was thrown and the first place of ours it came by: enough to tell one from another. */
function withoutDetails(line: string): string {
  const messages = [...line.matchAll(/"message":"([^"]{0,120})/g)].map(([, text]) => text);
  const place = /\/packages\/([^)\\]+:\d+):\d+/.exec(line)?.[1] ?? '';
  return `${messages.join(' < ')} (${place})`;
}

export class HostKeeper {
  readonly #options: HostKeeperOptions;
  readonly logs: string[] = [];
  readonly killMillis: number[] = [];
  #host: HostProcess | undefined;
  #isDeathWanted = false;
  #orphans: readonly ProcessFacts[] = [];
  deaths = 0;
  /** Processes that were still there when a host was gone, until the next one started. */
  outlived = 0;

  constructor(options: HostKeeperOptions) {
    this.#options = options;
  }

  /** Undefined while no host runs. */
  get host(): HostProcess | undefined {
    return this.#host;
  }

  async start(): Promise<void> {
    const { stage, violations, timeLine, onStarted } = this.#options;
    const started = await startHost(stage.places);
    if ('said' in started) {
      violations.add(`host does not start: ${started.end.code} ${started.said.slice(0, 600)}`);
      return;
    }
    this.#host = started;
    timeLine.note(`host ${started.pid} is ready`);
    for (const site of stage.sites) await checkReported(site, violations);
    await checkOrphans(this.#orphans, violations);
    this.#orphans = [];
    void started.ended.then(({ code, signal }) => this.#onEnded(started, `${code ?? signal}`));
    onStarted(started);
  }

  /** A start that is meant to fail. Undefined when it did not. */
  async tryStart(): Promise<FailedStart | undefined> {
    const started = await startHost(this.#options.stage.places);
    if ('said' in started) return started;
    started.signal('SIGKILL');
    await started.ended;
    return undefined;
  }

  /** SIGKILL, in the middle of everything; then all that must hold of what it leaves. */
  async kill(): Promise<void> {
    const host = this.#host;
    if (host === undefined) return;
    const { stage, violations, timeLine, onGone } = this.#options;
    const running = descendantsOf(host.pid);
    this.#isDeathWanted = true;
    timeLine.note(`SIGKILL to host ${host.pid} with ${running.length} processes`);
    host.signal('SIGKILL');
    await host.ended;
    this.#host = undefined;
    this.#isDeathWanted = false;
    this.logs.push(host.log());
    this.deaths += 1;
    onGone();
    this.#orphans = await findOrphans(running, stage.root);
    this.outlived += this.#orphans.length;
    if (this.#orphans.length > 0) timeLine.note(`outlive their host: ${shownProcesses(this.#orphans)}`);
    for (const site of stage.sites) await checkChain(site, violations);
    for (const site of stage.sites) checkRepository(site, violations);
  }

  /** SIGTERM; answers the exit code. */
  async stop(): Promise<number | null> {
    const host = this.#host;
    if (host === undefined) return null;
    this.#isDeathWanted = true;
    host.signal('SIGTERM');
    const { code } = await host.ended;
    this.#host = undefined;
    this.logs.push(host.log());
    return code;
  }

  set(control: Partial<HostControl>): void {
    writeFileSync(join(this.#options.stage.places.control, 'control.json'), JSON.stringify(control));
  }

  /** Lines of its logs that tell of faults in the code. */
  unexpected(): ReadonlyMap<string, number> {
    const lines = [...this.logs, this.#host?.log() ?? ''].join('\n').split('\n');
    const counts = new Map<string, number>();
    for (const line of lines.filter((text) => UNEXPECTED.test(text)).map(withoutDetails)) {
      counts.set(line, (counts.get(line) ?? 0) + 1);
    }
    return counts;
  }

  #onEnded(host: HostProcess, how: string): void {
    if (this.#isDeathWanted || this.#host !== host) return;
    const { violations, onGone, timeLine } = this.#options;
    violations.add(`host ended by itself (${how}): ${host.log().slice(-1500)}`);
    this.#host = undefined;
    this.logs.push(host.log());
    onGone();
    timeLine.note('host is started again');
    void this.start();
  }
}
