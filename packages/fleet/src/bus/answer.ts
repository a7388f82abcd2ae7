/** The host's side of tunnels: takes them for the workspaces it holds. */
import type { Subscription } from '@nats-io/transport-node';
import { z } from 'zod';
import { gatewaySubject, inboxOf, untoken, workspaceSubject } from '../wire/names.ts';
import type { Wire } from '../wire/open-wire.ts';
import { aboutOf, busyMessage, isOpening, resetMessage, Tunnel } from './tunnel.ts';

/** A client that sends no probe for so long is gone. */
const SILENCE_MS = 10_000;
const SWEEP_MS = 2000;

export interface Caller {
  /** As the servers let it in: they let a user publish under its own name only. */
  readonly user: string;
  readonly workspace: string;
  /** The fleet file of the host names it among the approvers. */
  readonly mayApprove: boolean;
  /** The host that let it in and vouches for its name. */
  readonly via?: string;
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
  { nc, tenant, onReconnect }: Wire,
  workspace: string,
  { accept, maxTunnels, approvers }: AnswerOptions,
): Answering {
  const tunnels = new Map<string, Tunnel>();
  const isGone = (): boolean => nc.isClosed();

  function listen(subject: string, callerOf: (user: string, about: Uint8Array) => Caller | undefined): Subscription {
    return nc.subscribe(`${subject}.*.*`, {
      callback(error, message) {
        const { reply, data, subject: place } = message;
        if (error !== null || reply === undefined || reply === '') return;
        const known = tunnels.get(place);
        if (known !== undefined) {
          known.receive(data);
          return;
        }
        const [user = ''] = place.slice(subject.length + 1).split('.');
        // The servers check where a client publishes, not which reply it names, and this host may publish where the client may not.
        if (!reply.startsWith(`${inboxOf(user)}.`)) return;
        const caller = isOpening(data) ? callerOf(untoken(user), aboutOf(data)) : undefined;
        if (caller === undefined || tunnels.size >= maxTunnels) {
          nc.publish(reply, caller === undefined ? resetMessage() : busyMessage());
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
        accept(tunnel, caller);
      },
    });
  }

  const inboxes = [
    listen(workspaceSubject(tenant, workspace), (user) => ({ user, workspace, mayApprove: approvers.includes(user) })),
    listen(gatewaySubject(tenant, workspace), (via, about) => {
      const user = nameIn(about);
      return user === undefined ? undefined : { user, workspace, mayApprove: false, via };
    }),
  ];
  const sweep = setInterval(() => {
    const oldest = performance.now() - SILENCE_MS;
    for (const tunnel of tunnels.values()) if (tunnel.heardAt < oldest) tunnel.destroy();
  }, SWEEP_MS).unref();
  // What this host sent while it was cut off is gone, and its callers need not wait for their next probe to find out.
  const stopListening = onReconnect(() => {
    for (const tunnel of tunnels.values()) tunnel.ping();
  });
  return {
    get tunnels() {
      return tunnels.size;
    },
    stop() {
      clearInterval(sweep);
      stopListening();
      for (const inbox of inboxes) inbox.unsubscribe();
      for (const tunnel of [...tunnels.values()]) tunnel.destroy();
    },
  };
}

const aboutSchema = z.object({ name: z.string().min(1).max(200) });

/** The name that a host vouches for. */
function nameIn(about: Uint8Array): string | undefined {
  try {
    return aboutSchema.parse(JSON.parse(Buffer.from(about).toString())).name;
  } catch {
    return undefined;
  }
}
