/** The client's side of tunnels: opens them to the holder of a workspace, and notices when that holder is gone. */
import { randomBytes } from 'node:crypto';
import { gatewaySubject, inboxPrefix, token, tunnelSubject } from '../wire/names.ts';
import type { Wire } from '../wire/open-wire.ts';
import { lost, noHost, Tunnel } from './tunnel.ts';

const PROBE_MS = 150;
/** A holder that leaves so many probes unanswered is taken for frozen; its lease runs out meanwhile. */
const MAX_UNANSWERED = 33;
const NO_RESPONDERS = 503;

export interface Dialer {
  open(workspace: string): Tunnel;
  /** For hosts: in the name of someone this host has let in. */
  openFor(workspace: string, name: string): Tunnel;
  close(): void;
}

export function createDialer(wire: Wire): Dialer {
  const { nc, tenant, user } = wire;
  const prefix = `${inboxPrefix(user)}.tunnel.${randomBytes(9).toString('base64url')}`;
  const tunnels = new Map<string, { readonly tunnel: Tunnel; readonly workspace: string; isHeard: boolean }>();
  const inbox = nc.subscribe(`${prefix}.*`, {
    callback(error, message) {
      if (error !== null) return;
      const open = tunnels.get(message.subject.slice(prefix.length + 1));
      if (open === undefined) return;
      if (message.data.length === 0 && message.headers?.code === NO_RESPONDERS) {
        open.tunnel.destroy(open.isHeard ? lost('no_responders') : noHost(open.workspace));
        return;
      }
      open.isHeard = true;
      open.tunnel.receive(message.data);
    },
  });
  const probeAll = (): void => {
    for (const { tunnel } of tunnels.values()) {
      if (tunnel.unanswered > MAX_UNANSWERED) tunnel.destroy(lost('silence'));
      else tunnel.ping();
    }
  };
  const probe = setInterval(probeAll, PROBE_MS).unref();
  const stopListening = wire.onReconnect(probeAll);
  function openOn(workspace: string, subjectOf: (id: string) => string, about?: Uint8Array): Tunnel {
    const id = randomBytes(12).toString('base64url');
    const subject = subjectOf(id);
    const reply = `${prefix}.${id}`;
    const tunnel = new Tunnel({
      send(bytes) {
        if (!nc.isClosed()) nc.publish(subject, bytes, { reply });
      },
      onEnd: () => tunnels.delete(id),
    });
    tunnels.set(id, { tunnel, workspace, isHeard: false });
    tunnel.open(about);
    return tunnel;
  }

  return {
    open: (workspace) => openOn(workspace, (id) => tunnelSubject(tenant, workspace, user, id)),
    openFor: (workspace, name) =>
      openOn(
        workspace,
        (id) => `${gatewaySubject(tenant, workspace)}.${token(user)}.${id}`,
        Buffer.from(JSON.stringify({ name })),
      ),
    close() {
      clearInterval(probe);
      stopListening();
      for (const { tunnel } of [...tunnels.values()]) tunnel.destroy();
      inbox.unsubscribe();
    },
  };
}
