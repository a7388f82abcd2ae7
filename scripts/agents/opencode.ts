/** opencode: the model is a provider in `opencode.json`, beside the entry of the server. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from './agent.ts';
import { openaiChat } from './wires.ts';

export const opencode: Agent = {
  client: 'opencode',
  package: 'opencode-ai',
  program: 'opencode',
  wire: openaiChat,
  prepare({ workspace, url }) {
    const file = join(workspace, 'opencode.json');
    const settings = JSON.parse(readFileSync(file, 'utf8')) as object;
    const scripted = {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: `${url}/v1`, apiKey: 'scripted' },
      models: { scripted: { attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } } },
    };
    const own = { provider: { scripted }, model: 'scripted/scripted', autoupdate: false, share: 'disabled' };
    writeFileSync(file, JSON.stringify({ ...settings, ...own }));
    return { args: ['run', 'go on'], env: {} };
  },
};
