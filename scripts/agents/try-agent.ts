/** One agent, started from what `mcp install` wrote, in a home folder of its own, through all scenes. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Agent } from './agent.ts';
import { prepareWorkspace, SCENES, writeRegistry } from './scenes.ts';
import { startScriptedModel } from './scripted-model.ts';

export interface AgentReport {
  /** What the model was shown, in the order of the scenes; undefined: nothing. */
  readonly shown: readonly (string | undefined)[];
  readonly problems: readonly string[];
}

const LIMIT_MS = 300_000;
const COMMAND = join(import.meta.dirname, '../../packages/host/bin/tool-runtime.js');

export async function tryAgent(agent: Agent, programs: string): Promise<AgentReport> {
  const root = mkdtempSync(join(tmpdir(), `agent-${agent.client}-`));
  const [home, workspace, registry] = ['home', 'workspace', 'registry.yaml'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  try {
    for (const folder of [home, workspace]) mkdirSync(folder);
    prepareWorkspace(workspace);
    writeRegistry(registry);
    await using model = await startScriptedModel(agent.wire, SCENES);
    const env = cleanEnvironment(home);
    const install = [COMMAND, 'mcp', 'install', agent.client, '--yes', '--registry', registry];
    const installed = await run(process.execPath, install, workspace, env);
    if (installed.code !== 0) return { shown: [], problems: [`mcp install: ${installed.output}`] };
    const { args, env: own } = agent.prepare({ home, workspace, url: model.url });
    const { code, output } = await run(join(programs, agent.program), args, workspace, { ...env, ...own });
    const shown = SCENES.map((_scene, at) => (at in model.shown ? asText(model.shown[at]) : undefined));
    return { shown, problems: [...model.missing.map((what) => `no tool ${what}`), ...judge(shown, code, output)] };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function judge(shown: readonly (string | undefined)[], code: number | null, output: string): readonly string[] {
  const problems = SCENES.flatMap(({ name, shows }, at) =>
    shows
      .filter((wanted) => !wanted.test(shown[at] ?? ''))
      .map((wanted) => `${name}: the model is not shown ${wanted}`),
  );
  return code === 0 ? problems : [...problems, `the agent ended with ${code}: ${output.slice(-2000)}`];
}

/** Lines as lines: what is shown is text or JSON around text. */
function asText(shown: unknown): string {
  return typeof shown === 'string' ? shown : JSON.stringify(shown).replaceAll('\\n', '\n').replaceAll('\\"', '"');
}

/** Nothing of the person who runs this: no settings, no keys. */
function cleanEnvironment(home: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TERM: 'dumb',
    ...Object.fromEntries(['CONFIG', 'DATA', 'STATE', 'CACHE'].map((name) => [`XDG_${name}_HOME`, join(home, name)])),
  };
}

async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, output: `${out}${err}` };
}
