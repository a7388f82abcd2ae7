/** Everything the run happens on: two workspaces, their state, the operator's files, canaries and servers. */
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createRuntime, lockExternalTools } from '@tool-runtime/sdk';
import { WAY_OUT } from '../calls/attack-calls.ts';
import type { HostPlaces } from '../host/host-process.ts';
import { treeFiles } from '../oracle/file-model.ts';
import { type Disk, openDisk } from './disks.ts';
import { type LoopbackServers, openLoopbackServers } from './loopback-servers.ts';
import { writeOperatorFiles } from './operator-files.ts';
import { plantRepository } from './plant-repository.ts';
import { BASE_TREE, COUNTER, openSite, type Site } from './site.ts';

export interface ChaosStage {
  readonly root: string;
  readonly places: HostPlaces;
  readonly sites: readonly [main: Site, other: Site];
  readonly servers: LoopbackServers;
  readonly workspaceDisk: Disk;
  readonly stateDisk: Disk;
  /** What must not be touched. */
  readonly outside: string;
  close(): void;
}

const WORKSPACE_MB = 160;
const STATE_MB = 800;

export async function openStage(onCanary: (words: string) => void): Promise<ChaosStage> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'tool-runtime-chaos-')));
  const folder = (name: string) => join(root, name);
  for (const name of ['control', 'tmp', 'outside', 'other']) mkdirSync(folder(name));
  const servers = await openLoopbackServers(onCanary);
  const workspaceDisk = openDisk(root, 'workspace-disk', WORKSPACE_MB);
  const stateDisk = openDisk(root, 'state-disk', STATE_MB);
  const registry = writeOperatorFiles(folder('operator'), servers.allowedPort);
  const main = join(workspaceDisk.folder, 'main');
  mkdirSync(main);
  const state = join(stateDisk.folder, 'state');
  const sites = [main, folder('other')].map((path) => plantSite(path, { root, state, servers })) as [Site, Site];
  plantCanaries(folder('outside'));
  writeFileSync(folder('control/control.json'), '{}');
  for (const site of sites) await lockTools(site, registry);
  return {
    root,
    places: {
      workspaces: sites.map((site) => site.folder),
      state,
      registry,
      control: folder('control'),
      temporary: folder('tmp'),
    },
    sites,
    servers,
    workspaceDisk,
    stateDisk,
    outside: folder('outside'),
    close() {
      servers.close();
      for (const disk of [workspaceDisk, stateDisk]) disk.remove();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function plantSite(
  path: string,
  { root, state, servers }: { readonly root: string; readonly state: string; readonly servers: LoopbackServers },
): Site {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const remote = join(root, `${name}-remote.git`);
  plantRepository(path, remote);
  for (const [file, text] of Object.entries(treeFiles())) {
    mkdirSync(dirname(join(path, BASE_TREE, file)), { recursive: true });
    writeFileSync(join(path, BASE_TREE, file), text);
  }
  writeFileSync(join(path, COUNTER), '0\n');
  symlinkSync(join(root, 'outside'), join(path, WAY_OUT));
  return openSite({ name, folder: path, state: join(state, name), remote, servers });
}

/** The files that must not change; a copy of the folder shows what it must still be. */
function plantCanaries(folder: string): void {
  for (const name of ['canary.txt', 'second.txt']) writeFileSync(join(folder, name), `nobody touches ${name}\n`);
  mkdirSync(join(folder, 'inner'));
  writeFileSync(join(folder, 'inner/third.txt'), 'nobody touches this either\n');
  cpSync(folder, `${folder}-as-it-was`, { recursive: true, preserveTimestamps: true });
}

async function lockTools({ folder, state }: Site, registryFile: string): Promise<void> {
  const runtime = await createRuntime({ workspace: folder, state, registry: registryFile });
  try {
    await lockExternalTools({ workspace: folder, state, registry: runtime.registry, registryFile });
  } finally {
    await runtime.close();
  }
}
