import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const PEERS = new Set(['ai', '@openai/agents', 'openai', '@anthropic-ai/sdk', '@langchain/core', '@mastra/core']);

/** Frameworks that a fresh process loads for this entry because our own code imports them. */
function frameworksOf(entry: string): string[] {
  const url = pathToFileURL(`${import.meta.dirname}/${entry}.ts`).href;
  const script = `
    import { registerHooks } from 'node:module';
    const urls = [];
    registerHooks({
      resolve(specifier, context, next) {
        const isForeign = context.parentURL?.includes('/node_modules/') === true;
        const found = next(specifier, context);
        if (!isForeign) urls.push(found.url);
        return found;
      },
    });
    await import(${JSON.stringify(url)});
    console.log(JSON.stringify(urls));`;
  const options = { encoding: 'utf8' } as const;
  const output = execFileSync(
    process.execPath,
    ['-C', 'tool-runtime-source', '--input-type=module', '-e', script],
    options,
  );
  const names = (JSON.parse(output) as string[]).flatMap((found) => {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(found)?.[1];
    return name !== undefined && (PEERS.has(name) || name.startsWith('@agentclient')) ? [name] : [];
  });
  return [...new Set(names)];
}

for (const [entry, frameworks] of [
  ['generic', []],
  ['openai', []],
  ['acp', []],
  ['ai-sdk', ['ai']],
  ['openai-agents', ['@openai/agents']],
  ['anthropic', ['@anthropic-ai/sdk']],
  ['langchain', ['@langchain/core']],
  ['mastra', ['@mastra/core']],
] as const) {
  test(`${entry} loads ${frameworks.length === 0 ? 'no framework' : 'its own framework and no other'}`, () => {
    assert.deepEqual(frameworksOf(entry), frameworks);
  });
}
