/** An official client on the stdio of the real `tool-runtime mcp`, as the configuration of an agent starts it. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { FROM_SOURCE } from '../run-cli.ts';

export interface McpAnswer {
  /** What a model reads. */
  readonly text: string;
  readonly isError: boolean;
}

export interface StartedClient {
  readonly listed: ReadonlySet<string>;
  call(tool: string, args: Readonly<Record<string, unknown>>): Promise<McpAnswer>;
  close(): Promise<void>;
}

const LONG_MS = 300_000;

export async function startClient(
  options: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<StartedClient> {
  const client = new Client({ name: 'daily', version: '1.0.0' });
  const { PATH = '/usr/bin:/bin', TMPDIR } = process.env;
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [...FROM_SOURCE, 'mcp', ...options],
      env: { ...env, PATH, ...(TMPDIR !== undefined && { TMPDIR }) },
      stderr: 'inherit',
    }),
  );
  return {
    listed: new Set((await client.listTools()).tools.map(({ name }) => name)),
    async call(tool, args) {
      const answer = await client.callTool({ name: tool, arguments: { ...args } }, { timeout: LONG_MS });
      const text = answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
      return { text, isError: answer.isError === true };
    },
    close: () => client.close(),
  };
}
