/**
 * npm run agents [-- NAME…]: installs Claude Code, Codex, Gemini CLI and opencode from npm into a scratch folder, lets each
 * work through `tool-runtime mcp install` against a model on loopback that follows a script, and prints what the model is
 * shown. `--from FOLDER` uses programs that are installed already. Ends with 1 when an agent cannot be installed, does not
 * work, or does not show what it must.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Agent } from './agents/agent.ts';
import * as catalog from './agents/catalog.ts';
import { SCENES } from './agents/scenes.ts';
import { type AgentReport, tryAgent } from './agents/try-agent.ts';

const SHOWN_CHARACTERS = 160;

function install(agents: readonly Agent[], folder: string): void {
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const packages = agents.map((agent) => agent.package);
  execFileSync('npm', ['install', '--no-fund', '--no-audit', ...packages], { cwd: folder, stdio: 'inherit' });
}

function versionOf(agent: Agent, folder: string): string {
  const manifest = join(folder, 'node_modules', agent.package, 'package.json');
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

function print(agent: Agent, version: string, { shown, problems }: AgentReport): void {
  console.log(`\n${agent.client} ${version}`);
  for (const [at, { name }] of SCENES.entries()) {
    const text = shown[at];
    const size = text === undefined ? 'nothing' : `${Buffer.byteLength(text)} bytes`;
    console.log(`  ${name.padEnd(8)} ${size.padEnd(14)} ${JSON.stringify((text ?? '').slice(0, SHOWN_CHARACTERS))}`);
  }
  for (const problem of problems) console.error(`  problem: ${problem}`);
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options: { from: { type: 'string' } }, allowPositionals: true });
  const all: readonly Agent[] = Object.values(catalog);
  const agents = positionals.length === 0 ? all : all.filter(({ client }) => positionals.includes(client));
  if (agents.length === 0) {
    console.error(`agents: not one of ${all.map(({ client }) => client).join(', ')}`);
    return 2;
  }
  const folder = values.from ?? mkdtempSync(join(tmpdir(), 'agents-'));
  try {
    if (values.from === undefined) install(agents, folder);
    let problems = 0;
    for (const agent of agents) {
      const report = await tryAgent(agent, join(folder, 'node_modules/.bin'));
      print(agent, versionOf(agent, folder), report);
      problems += report.problems.length;
    }
    console.log(`\nagents: ${agents.length} tried, ${problems} problems`);
    return problems === 0 ? 0 : 1;
  } catch (thrown) {
    console.error(`agents: cannot be tried: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    return 1;
  } finally {
    if (values.from === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main();
