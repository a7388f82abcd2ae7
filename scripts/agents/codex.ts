/** Codex: the model is a provider in its `config.toml`, after the entry of the server. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from './agent.ts';
import { openaiResponses } from './wires.ts';

export const codex: Agent = {
  client: 'codex',
  package: '@openai/codex',
  program: 'codex',
  wire: openaiResponses,
  prepare({ home, url }) {
    const file = join(home, '.codex/config.toml');
    const head = 'model = "scripted"\nmodel_provider = "scripted"\n';
    // Without `required` Codex does not wait for the server on a busy machine.
    const entry = `${readFileSync(file, 'utf8').trimEnd()}\nrequired = true\nstartup_timeout_sec = 120\n`;
    const provider = `name = "scripted"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "SCRIPTED_KEY"\n`;
    writeFileSync(file, `${head}${entry}[model_providers.scripted]\n${provider}`);
    // Its own sandbox is off: the calls under test are those of the server.
    const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', 'go on'];
    return { args, env: { SCRIPTED_KEY: 'scripted' } };
  },
};
