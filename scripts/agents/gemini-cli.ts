/** Gemini CLI: the address of the model comes from the environment, the way to sign in from its settings. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from './agent.ts';
import { geminiContent } from './wires.ts';

export const geminiCli: Agent = {
  client: 'gemini-cli',
  package: '@google/gemini-cli',
  program: 'gemini',
  wire: geminiContent,
  prepare({ home, url }) {
    const file = join(home, '.gemini/settings.json');
    const settings = JSON.parse(readFileSync(file, 'utf8')) as object;
    const own = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { disableAutoUpdate: true },
      privacy: { usageStatisticsEnabled: false },
    };
    writeFileSync(file, JSON.stringify({ ...settings, ...own }));
    const args = ['-m', 'gemini-2.5-flash', '--yolo', '--skip-trust', '-p', 'go on'];
    return { args, env: { GEMINI_API_KEY: 'scripted', GOOGLE_GEMINI_BASE_URL: url } };
  },
};
