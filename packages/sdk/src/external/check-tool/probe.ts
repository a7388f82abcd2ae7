/**
 * Starts the program under check, each time in a run folder of its own, and remembers every end for the checks that
 * look at all of them.
 */
import { randomBytes } from 'node:crypto';
import type { JsonObject } from '@tool-runtime/protocol';
import type { ExternalProfile } from '../../contracts/external.ts';
import { locateProgram } from '../../platform/processes/resolve-program.ts';
import { fileDigest } from '../../platform/runs/output-path.ts';
import { createRunFolder, type RunFolder } from '../../platform/runs/run-folder.ts';
import { type ProbeEnd, type ProbeStart, startToolProbe } from '../../platform/runs/tool-probe-process.ts';
import { createProbeScene, type ProbeScene } from '../../platform/runs/tool-probe-scene.ts';
import { formatTimestamp } from '../protocol/digests.ts';
import { EXTERNAL_LIMITS } from '../protocol/protocol-constants.ts';
import { createRunIds } from '../protocol/run-ids.ts';
import {
  probeEnvironment,
  type RunFacts,
  runEnvironment,
  type ToolEnvironmentSetting,
} from '../protocol/tool-environment.ts';

export interface CheckToolOptions {
  /** The program and the words it always gets. A path counts from the working directory. */
  readonly command: readonly string[];
  readonly profile: ExternalProfile;
  /** Program that runs it, with its options. */
  readonly interpreter?: readonly string[];
  /** For one run. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** For a tool that cannot run without. */
  readonly inputs?: JsonObject;
  readonly config?: JsonObject;
  /** Path of a pack; a small file stands for it otherwise. */
  readonly pack?: string;
  /** Shorter in tests. */
  readonly limits?: Partial<ProbeLimits>;
}

interface ProbeLimits {
  readonly capabilitiesMs: number;
  readonly terminateMs: number;
}

export interface RunRequest {
  /** What the probe is about, for messages that look at several. */
  readonly about: string;
  readonly extraWords?: readonly string[];
  /** Changed variables by their short names; undefined takes one away. */
  readonly change?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: ProbeStart['stdin'];
  readonly terminateAfterMs?: number;
}

export interface ProbedRun extends ProbeEnd {
  readonly about: string;
  readonly folder: RunFolder;
  readonly startedAt: string;
}

export const WRAPPER_VERSION = '0.0.0-check';
const SECRET_NAME = 'CHECK_API_TOKEN';
/** Under which a tool runs that says no usable name. */
const UNNAMED = 'unnamed';

export class Probe {
  readonly scene: ProbeScene;
  readonly profile: ExternalProfile;
  readonly limits: ProbeLimits;
  /** What is in the environment of every run and must not be shown. */
  readonly secret = `secret-${randomBytes(16).toString('hex')}`;
  readonly ends: (ProbeEnd & { readonly about: string })[] = [];
  readonly folders: RunFolder[] = [];
  readonly #options: CheckToolOptions;
  readonly #words: StartWords;
  readonly #pack: string;
  readonly #ids = createRunIds(Date.now);
  #tool = { name: UNNAMED, withPack: false };

  /** Throws E_VALIDATION_FAIL when a program or the pack is not there. */
  constructor(options: CheckToolOptions) {
    const { capabilitiesMs } = EXTERNAL_LIMITS;
    this.#options = options;
    this.#words = wordsOf(options);
    this.profile = options.profile;
    this.limits = { capabilitiesMs, terminateMs: capabilitiesMs, ...options.limits };
    const pack = options.pack === undefined ? undefined : locateProgram(options.pack, { must: 'readable' });
    this.scene = createProbeScene();
    this.#pack = pack ?? this.scene.pack;
  }

  /** Under which name it runs from now on, and whether with a pack. */
  settle(tool: { readonly name: string | undefined; readonly withPack: boolean }): void {
    this.#tool = { ...tool, name: tool.name ?? UNNAMED };
  }

  /** With one option and no run. */
  ask(option: '--capabilities' | '--version'): Promise<ProbeEnd> {
    return this.#start(option, {
      words: [...this.#words.start, option],
      folder: this.scene.temporary,
      variables: probeEnvironment(this.#setting(), this.scene),
      stdin: 'empty',
      timeoutMs: this.limits.capabilitiesMs,
    });
  }

  async run({
    about,
    extraWords = [],
    change = {},
    stdin = 'empty',
    terminateAfterMs,
  }: RunRequest): Promise<ProbedRun> {
    const { name, withPack } = this.#tool;
    const folder = createRunFolder({ base: this.scene.runs, tool: name, withPack, ids: this.#ids });
    this.folders.push(folder);
    const startedAt = formatTimestamp(Date.now());
    const facts = await this.#facts(folder, startedAt);
    const variables: Record<string, string | undefined> = runEnvironment(this.#setting(), facts, this.scene);
    for (const [short, value] of Object.entries(change)) variables[variableName(this.profile, short)] = value;
    const pack = facts.packPath === undefined ? [] : [facts.packPath];
    const end = await this.#start(about, {
      words: [...this.#words.start, ...this.#words.args, ...pack, ...extraWords],
      folder: folder.path,
      variables: definedOnly(variables),
      stdin,
      timeoutMs: this.#options.timeoutMs,
      ...(terminateAfterMs === undefined
        ? {}
        : { terminate: { afterMs: terminateAfterMs, graceMs: this.limits.terminateMs } }),
    });
    return { ...end, about, folder, startedAt };
  }

  close(): void {
    for (const folder of this.folders) folder.close();
    this.scene.remove();
  }

  async #start(about: string, wanted: Omit<ProbeStart, 'mark' | 'signal'>): Promise<ProbeEnd> {
    const end = await startToolProbe({ ...wanted, mark: this.scene.root, signal: this.#options.signal });
    this.ends.push({ about, ...end });
    return end;
  }

  #setting(): ToolEnvironmentSetting {
    return {
      settings: { name: this.#tool.name, profile: this.profile, secrets: [SECRET_NAME], network: false },
      host: { ...process.env, [SECRET_NAME]: this.secret },
      wrapperVersion: WRAPPER_VERSION,
    };
  }

  async #facts({ runId, path }: RunFolder, startedAt: string): Promise<RunFacts> {
    const { inputs = {}, config } = this.#options;
    const packPath = this.#pack;
    return {
      ...{ runId, runFolder: path, startedAt, projectRoot: this.scene.project },
      ...(this.#tool.withPack ? { packPath, packDigest: await fileDigest(packPath) } : {}),
      ...(config === undefined ? {} : { configPath: this.scene.write('config.json', JSON.stringify(config)) }),
      // The epack profile has no such variable.
      ...(this.profile === 'neutral' ? { inputs: JSON.stringify(inputs) } : {}),
    };
  }
}

interface StartWords {
  readonly start: readonly [string, ...string[]];
  readonly args: readonly string[];
}

function wordsOf({
  command: [program, ...args],
  interpreter: [runner, ...options] = [],
}: CheckToolOptions): StartWords {
  if (program === undefined) throw new TypeError('No command to check');
  if (runner === undefined) return { start: [locateProgram(program, { must: 'run' })], args };
  const script = locateProgram(program, { must: 'readable' });
  return { start: [locateProgram(runner, { must: 'run' }), ...options, script], args };
}

function definedOnly(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const set = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(set);
}

const PREFIXES: Readonly<Record<ExternalProfile, string>> = { neutral: 'TOOL_', epack: 'EPACK_' };

/** Full name of a variable of the protocol, such as `RUN_DIR`, in a profile. */
export function variableName(profile: ExternalProfile, name: string): string {
  // The tool's own name and configuration stand under TOOL_ in both profiles, in one of them after the prefix.
  const isTools = profile === 'epack' && (name === 'NAME' || name === 'CONFIG');
  return `${PREFIXES[profile]}${isTools ? 'TOOL_' : ''}${name}`;
}
