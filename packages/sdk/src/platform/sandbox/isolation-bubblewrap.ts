/**
 * The sandbox made by bubblewrap: programs see the system read-only, the workspace at its own path, and nothing else of the
 * host: not its files, processes, sockets or network.
 *
 * The environment is given to bubblewrap itself and passed on, not written on its command line, where others could read
 * it. What came out of the program is read from bubblewrap's report: its exit code alone cannot tell a program that
 * failed from one that was never started.
 */
import { existsSync, realpathSync } from 'node:fs';
import { homedir, totalmem } from 'node:os';
import { isAbsolute, normalize } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import type { Isolation, Sandbox, SandboxedProgram, SandboxRequest, WallProblem } from '../../contracts/commands.ts';
import { failure } from '../../contracts/failures.ts';
import { holdPath } from '../descriptors/held-path.ts';
import { markWords } from '../processes/process-keeper.ts';
import type { Spawner } from '../processes/spawned-process.ts';
import { ADMISSION_WORDS, settleReport } from './admit-process.ts';
import {
  type BubblewrapProgram,
  defaultLimits,
  emptyFolder,
  findBubblewrapProgram,
  limitWords,
  type ResourceLimits,
  readOnly,
  sandboxFlags,
  systemFolders,
  type Words,
} from './bubblewrap-args.ts';
import { holdMounts, type Source } from './hold-mounts.ts';
import { type ProxyRelay, relaySources, relayWords, withProxy } from './proxy-relay-words.ts';
import { prepareEtc } from './sandbox-etc.ts';
import { isBelow, mountWords, startingFolder } from './sandbox-mounts.ts';
import { PROTECTED, testSandbox } from './sandbox-self-test.ts';
import { KEEP_NETWORK, openSharedNetwork, verifyNetwork } from './session-network.ts';
import { SETTLED, verifyEarlyMounts, verifyMounts } from './verify-mounts.ts';

export interface BubblewrapOptions {
  readonly spawner: Spawner;
  /** A private folder of the runtime's own, outside every workspace. */
  readonly folder: string;
  /** What the operator shows in addition to the system folders: tool chains, for example. Absolute paths. */
  readonly readPaths?: readonly string[];
  /** A folder of the runtime's own that programs may change, and where they see it: caches. Absolute paths, no links. */
  readonly kept?: KeptFolder;
  /** What must not be seen even where something shown contains it. Absolute paths. */
  readonly hiddenPaths?: readonly string[];
  readonly limits?: Partial<ResourceLimits>;
  /** Where to look for bubblewrap instead of its usual places. */
  readonly programPlaces?: readonly string[];
}

export interface KeptFolder {
  readonly from: string;
  readonly at: string;
}

/** What is the same for every command. */
interface Standing {
  readonly bubblewrap: BubblewrapProgram;
  /** Up to where the workspace is mounted. */
  readonly profile: Words;
  readonly limits: Words;
  readonly home: string;
  readonly sources: readonly Source[];
  readonly hidden: readonly string[];
  readonly scratchBytes: number;
}

const TEMPORARY = '/tmp';
const SHOWN = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc/alternatives'];

export function createBubblewrap(options: BubblewrapOptions): Isolation {
  let standing: Promise<Standing | WallProblem> | undefined;
  let stood: Standing | undefined;
  return {
    name: 'bubblewrap',
    enforcesNetwork: true,
    async check() {
      standing ??= prepareSandbox(options);
      const raised = await standing;
      if (!('problem' in raised)) {
        stood = raised;
        return undefined;
      }
      // Asked again next time: the operator may have fixed it by then.
      standing = undefined;
      return raised;
    },
    enter(request) {
      if (stood === undefined)
        throw failure('isolation_failure', 'host_configuration_needed', 'Sandbox was not tested');
      return enterSandbox(stood, request);
    },
    async openNetwork() {
      return stood === undefined ? undefined : openSharedNetwork(options.spawner, stood.bubblewrap.path);
    },
  };
}

async function prepareSandbox(options: BubblewrapOptions): Promise<Standing | WallProblem> {
  try {
    const bubblewrap = await findBubblewrapProgram(options.spawner, options.programPlaces);
    if (bubblewrap === undefined) return NOT_INSTALLED;
    const standing = await standingSandbox(options, bubblewrap);
    const problem = await testSandbox({
      spawner: options.spawner,
      folder: options.folder,
      enter: (path) =>
        enterSandbox(standing, {
          workspace: { path, open: () => holdPath(path).fd },
          ...{
            writable: true,
            proxySocket: null,
            protectedPaths: [{ path: `${path}/${PROTECTED}`, access: 'read_only' }],
          },
        }),
    });
    return problem === undefined ? standing : { problem, next: ALLOW_OR_GO_WITHOUT };
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : 'unknown';
    return { problem: `Sandbox cannot be set up: ${reason}`, next: ALLOW_OR_GO_WITHOUT };
  }
}

const NOT_INSTALLED: WallProblem = {
  problem: 'bubblewrap is not installed',
  next: 'install bubblewrap (apt-get install bubblewrap), or set isolation: none in the registry',
};
const ALLOW_OR_GO_WITHOUT =
  'allow bubblewrap to make user namespaces on this machine, or set isolation: none in the registry';

async function standingSandbox(options: BubblewrapOptions, bubblewrap: BubblewrapProgram): Promise<Standing> {
  const home = homeInside();
  const inhabitant = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, home };
  const scratchBytes = Math.floor(totalmem() / 8);
  const hidden = existing(options.hiddenPaths).map((path) => realpathSync.native(path));
  return {
    bubblewrap,
    profile: [
      ...sandboxFlags(bubblewrap),
      ...systemFolders(),
      ...readOnly(await prepareEtc(options.folder, inhabitant), '/etc'),
      // The kernel's settings there belong to the host: its root may change them even without capabilities.
      ...['--proc', '/proc', '--remount-ro', '/proc', '--dev', '/dev'],
      ...[...emptyFolder('/dev/shm', bubblewrap, scratchBytes), '--remount-ro', '/dev'],
      ...['--dir', `/${SETTLED}`],
      ...emptyFolder(TEMPORARY, bubblewrap, scratchBytes),
      ...emptyFolder('/var/tmp', bubblewrap, scratchBytes),
      ...emptyFolder(home, bubblewrap, scratchBytes),
      ...hidden.filter((path) => isAmong(path, SHOWN)).flatMap((path) => emptyFolder(path, bubblewrap, scratchBytes)),
    ],
    limits: limitWords({ ...defaultLimits(), ...options.limits }),
    home,
    sources: [...readSources(options.readPaths), ...(options.kept ? [{ ...options.kept, writable: true }] : [])],
    hidden,
    scratchBytes,
  };
}

/** At its usual path, so that tool chains shown below it are found; but empty. */
function homeInside(): string {
  const home = homedir();
  return isAbsolute(home) && home !== '/' ? home : '/run/home';
}

/** Links are resolved here, once: later a program could have changed them. System folders are shown anyway. */
function readSources(paths: readonly string[] = []): readonly Source[] {
  const others = existing(paths).filter((path) => !isAmong(path, SHOWN));
  return others.map((path) => ({ at: normalize(path), from: realpathSync.native(path), writable: false }));
}

function existing(paths: readonly string[] = []): readonly string[] {
  for (const path of paths) {
    if (!isAbsolute(path) || path === '/')
      throw new TypeError(`Path for the sandbox is not absolute, or is /: ${path}`);
  }
  return paths.filter((path) => existsSync(path));
}

function readable(source: Source): Source {
  return { ...source, writable: false };
}

function enterSandbox(standing: Standing, request: SandboxRequest): Sandbox {
  const { path } = request.workspace;
  if (!isAbsolute(path) || path === '/') throw new TypeError(`Workspace cannot be sandboxed: ${path}`);
  const relay: ProxyRelay | undefined = request.proxySocket === null ? undefined : { socket: request.proxySocket };
  const outside = request.readsOutside ? standing.sources.map(readable) : standing.sources;
  const sources = [...outside, ...relaySources(relay)];
  const { mounts, leave } = holdMounts(request, { sources, hidden: standing.hidden });
  // A program with network access shares nothing, so that others cannot use it as a way out.
  const network = relay === undefined ? request.network : undefined;
  const around = [...(network?.words ?? []), ...(request.overlay?.words ?? [])];
  const [program = standing.bubblewrap.path, ...before] = [...around, standing.bubblewrap.path];
  const words: Words = [
    ...before,
    ...standing.profile,
    ...(request.overlay === undefined ? [] : ownIds()),
    ...(network === undefined ? [] : KEEP_NETWORK),
    ...mountWords(mounts, standing.bubblewrap, standing.scratchBytes),
    ...['--remount-ro', '/', ...ADMISSION_WORDS],
  ];
  const visible = [...SHOWN, ...standing.sources.map(({ at }) => at), path, ...lentPaths(request)];
  return {
    places: { home: standing.home, temporary: TEMPORARY },
    confine(wanted) {
      checkVisible(wanted, visible);
      const { loader, others } = splitEnvironment(wanted.env);
      const pauses = mounts.some(({ late }) => late);
      const inner = [...standing.limits, ...relayWords(relay), wanted.program, ...wanted.args];
      return {
        program,
        args: [
          ...words,
          ...markWords(pauses ? 3 : 2),
          ...loader,
          '--chdir',
          startingFolder(wanted, request),
          '--',
          ...inner,
        ],
        env: withProxy(relay, others),
        cwd: '/',
        reports: true,
        pauses,
      };
    },
    verify: (init) => verifyMounts(init, mounts) && verifyNetwork(init, network),
    verifyEarly: (init) => verifyEarlyMounts(init, mounts),
    settle: settleReport,
    leave,
  };
}

/** In the namespace of an overlay we are root; programs find the user they always are. */
function ownIds(): Words {
  return ['--uid', String(process.getuid?.() ?? 0), '--gid', String(process.getgid?.() ?? 0)];
}

function lentPaths({ folders = [] }: SandboxRequest): readonly string[] {
  return folders.map(({ path }) => path);
}

/** What makes the C library load something would make bubblewrap load it, outside: such variables are set inside only. */
const LOADER_VARIABLE = /^(?:LD_|GLIBC_|MALLOC_|GCONV_PATH$|LOCPATH$|NLSPATH$)/;

function splitEnvironment(env: Readonly<Record<string, string>>): { loader: Words; others: Record<string, string> } {
  const entries = Object.entries(env);
  const isLoader = ([name]: [string, string]) => LOADER_VARIABLE.test(name);
  return {
    loader: entries.filter(isLoader).flatMap(([name, value]) => ['--setenv', name, value]),
    others: Object.fromEntries(entries.filter((entry) => !isLoader(entry))),
  };
}

/** Reported here: inside the sandbox it would only look as if the program did not exist. */
function checkVisible({ program }: SandboxedProgram, shown: readonly string[]): void {
  if (isAmong(program, shown) && isAmong(realpathSync.native(program), shown)) return;
  throw new ToolError('E_SHELL', `Program is not visible in the sandbox: ${program}`, {
    details: { reason: 'not_visible', next: 'ask the operator to show its folder to commands' },
  });
}

function isAmong(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || isBelow(path, folder));
}
