/** The host's side of tunnels: takes them for the workspaces it holds. */
import type { Subscription } from '@nats-io/transport-node';
import { inboxOf, untoken, workspaceSubject } from '../wire/names.ts';
import type { Wire } from '../wire/open-wire.ts';
import { isOpening, resetMessage, Tunnel } from './tunnel.ts';

/** A client that sends no probe for so long is gone. */
const SILENCE_MS = 10_000;
const SWEEP_MS = 2000;

export interface Caller {
  /** As the servers let it in: they let a user publish under its own name only. */
  readonly user: string;
  readonly workspace: string;
  /** The fleet file of the host names it among the approvers. */
  readonly mayApprove: boolean;
}

export interface Answering {
  readonly tunnels: number;
  stop(): void;
}

export interface AnswerOptions {
  accept(tunnel: Tunnel, caller: Caller): void;
  readonly maxTunnels: number;
  readonly approvers: readonly string[];
}

/** Takes tunnels to a workspace from now on, until it is stopped: then those that are open end. */
export function answerTunnels(
  { nc, tenant }: Wire,
  workspace: string,
  { accept, maxTunnels, approvers }: AnswerOptions,
): Answering {
  const tunnels = new Map<string, Tunnel>();
  const subject = workspaceSubject(tenant, workspace);
  const isGone = (): boolean => nc.isClosed();
  const inbox: Subscription = nc.subscribe(`${subject}.*.*`, {
    callback(error, message) {
      const { reply, data } = message;
      if (error !== null || reply === undefined || reply === '') return;
      const [user = '', id = ''] = message.subject.slice(subject.length + 1).split('.');
      const place = `${user}.${id}`;
      const known = tunnels.get(place);
      if (known !== undefined) {
        known.receive(data);
        return;
      }
      // The servers check where a client publishes, not which reply it names, and this host may publish where the client may not.
      if (!reply.startsWith(`${inboxOf(user)}.`)) return;
      if (!isOpening(data) || tunnels.size >= maxTunnels) {
        nc.publish(reply, resetMessage());
        return;
      }
      const tunnel = new Tunnel({
        send(bytes) {
          if (!isGone()) nc.publish(reply, bytes);
        },
        onEnd: () => tunnels.delete(place),
      });
      tunnels.set(place, tunnel);
      tunnel.receive(data);
      const name = untoken(user);
      accept(tunnel, { user: name, workspace, mayApprove: approvers.includes(name) });
    },
  });
  const sweep = setInterval(() => {
    const oldest = performance.now() - SILENCE_MS;
    for (const tunnel of tunnels.values()) if (tunnel.heardAt < oldest) tunnel.destroy();
  }, SWEEP_MS).unref();
  return {
    get tunnels() {
      return tunnels.size;
    },
    stop() {
      clearInterval(sweep);
      inbox.unsubscribe();
      for (const tunnel of [...tunnels.values()]) tunnel.destroy();
    },
  };
}
