/** The configuration of a server as a fleet needs it. `fleet dev` writes it, and docs/fleet.md shows it. */
import { BUCKETS, STREAMS, token } from '../wire/names.ts';

export interface FleetUser {
  readonly user: string;
  readonly password: string;
  readonly kind: 'host' | 'client' | 'operator' | 'system';
  /** Workspaces a client may reach; all of its tenant by default. */
  readonly workspaces?: readonly string[];
  /** A client that may ask hosts for approval questions and answer them; each host decides by its own list. */
  readonly mayApprove?: boolean;
}

export interface ServerPlan {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  readonly clusterPort: number;
  readonly routes: readonly number[];
  readonly tenant: string;
  readonly users: readonly FleetUser[];
  readonly sync?: string;
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca: string };
}

export function serverConfig(plan: ServerPlan): string {
  const { name, folder, port, clusterPort, routes, tenant, users, sync = 'always', tls } = plan;
  const own = users.filter(({ kind }) => kind !== 'system');
  const system = users.filter(({ kind }) => kind === 'system');
  return [
    `server_name: ${name}`,
    `listen: "127.0.0.1:${port}"`,
    `pid_file: ${JSON.stringify(`${folder}/${name}.pid`)}`,
    'max_payload: 1MB',
    'lame_duck_duration: 30s',
    ...(tls === undefined ? [] : [tlsBlock(tls)]),
    'jetstream {',
    `  store_dir: ${JSON.stringify(`${folder}/${name}`)}`,
    '  # Every acknowledged record is on the disk. Without this line a power cut loses records.',
    `  sync_interval: ${sync}`,
    '}',
    ...(routes.length <= 1 ? [] : [clusterBlock(clusterPort, routes)]),
    'system_account: SYS',
    'accounts {',
    `  SYS: { users: [${system.map((user) => userBlock(user, tenant)).join(', ')}] }`,
    `  ${token(tenant)}: {`,
    '    jetstream: enabled',
    `    users: [\n${own.map((user) => `      ${userBlock(user, tenant)}`).join('\n')}\n    ]`,
    '  }',
    '}',
    '',
  ].join('\n');
}

function clusterBlock(port: number, routes: readonly number[]): string {
  const urls = routes.map((route) => `"nats://127.0.0.1:${route}"`).join(', ');
  return `cluster { name: tool-runtime, listen: "127.0.0.1:${port}", routes: [${urls}] }`;
}

function tlsBlock({ cert, key, ca }: NonNullable<ServerPlan['tls']>): string {
  return `tls { cert_file: ${JSON.stringify(cert)}, key_file: ${JSON.stringify(key)}, ca_file: ${JSON.stringify(ca)} }`;
}

function userBlock(user: FleetUser, tenant: string): string {
  const { publish, subscribe } = allowLists(user, tenant);
  const list = (subjects: readonly string[]): string => `[${subjects.map((one) => JSON.stringify(one)).join(', ')}]`;
  const permissions = `permissions: { publish: { allow: ${list(publish)} }, subscribe: { allow: ${list(subscribe)} } }`;
  return `{ user: ${JSON.stringify(user.user)}, password: ${JSON.stringify(user.password)}, ${permissions} }`;
}

const OBJECTS = `OBJ_${BUCKETS.artifacts}`;

/**
 * What a host asks the streams: it makes those of the fleet when they are missing, and reads last messages and artifacts. It
 * cannot change, empty or delete one, nor make one of its own, which could collect what others say; the object store clears up
 * after an upload that failed.
 */
const HOST_API = [
  ...['INFO', 'STREAM.INFO.*', 'STREAM.MSG.GET.*'],
  ...[...Object.values(STREAMS), OBJECTS].map((stream) => `STREAM.CREATE.${stream}`),
  ...[`STREAM.PURGE.${OBJECTS}`, `CONSUMER.CREATE.${OBJECTS}.>`, `CONSUMER.DELETE.${OBJECTS}.>`],
].map((verb) => `$JS.API.${verb}`);

/** What each kind may say and hear. A client may only speak under its own name, and only hears what is meant for it. */
export function allowLists({ user, kind, workspaces, mayApprove }: Omit<FleetUser, 'password'>, tenant: string) {
  const own = token(user);
  const inbox = `_INBOX.${own}.>`;
  const t = token(tenant);
  switch (kind) {
    case 'client':
      return {
        publish: [
          ...(workspaces ?? ['*']).map((name) => `trt.${t}.ws.${name === '*' ? name : token(name)}.${own}.>`),
          ...(mayApprove === true ? [`apr.${t}.user.${own}`] : []),
        ],
        subscribe: [inbox],
      };
    case 'host':
      return {
        publish: [
          ...[`j.${t}.>`, `r.${t}.${own}.>`, '$KV.LEASES.>', `$KV.HOSTS.${own}`, `free.${t}.*`],
          ...[`trt.${t}.gw.*.${own}.>`, `apr.${t}.gw.${own}`],
          ...[`$KV.BUDGETS.${t}.>`, `$KV.HANDLES.${t}.>`],
          ...[...HOST_API, `$O.${BUCKETS.artifacts}.>`, '_INBOX.>'],
        ],
        subscribe: [inbox, `trt.${t}.ws.>`, `ctl.${t}.${own}.>`, `free.${t}.*`, `trt.${t}.gw.>`, `apr.${t}.>`],
      };
    case 'operator':
      return { publish: ['$JS.API.>', '$JS.ACK.>', `ctl.${t}.>`, `trt.${t}.ws.*.${own}.>`], subscribe: [inbox] };
    case 'system':
      return { publish: ['$SYS.REQ.SERVER.PING.VARZ'], subscribe: [inbox] };
  }
}
