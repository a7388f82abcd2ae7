/**
 * The gateway's upstream half as a client for the official suite: `conformance client --command "… gateway-client.ts"`.
 *
 * Mounts the suite's server through a registry, looks at its tools, approves them and calls each one through a session,
 * so that policy, journal and translation are on the path. The address comes as the last argument.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import { type AskClient, createRuntime, type ToolListing } from '@tool-runtime/sdk';
import { createGateway, type GatewayOptions } from '../../src/mcp/gateway/create-gateway.ts';
import { createAuthorization, type SignIn } from '../../src/mcp/gateway/oauth-provider.ts';

const url = process.argv.at(-1) ?? '';
interface Given {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: JsonObject }[];
}

const given = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Given;
const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-conformance-'));

/** Goes where a person's browser would, which the suite's authorization server answers with a redirect at once. */
async function authorize(address: URL): Promise<URL> {
  const answer = await fetch(address, { redirect: 'manual' });
  return new URL(answer.headers.get('location') ?? '', address);
}

const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';

const common = {
  ...(scenario.startsWith('auth/dpop') ? { dpop: true } : {}),
  allows: ({ hostname }: URL) => hostname === 'localhost' || hostname === '127.0.0.1',
};

/** What an operator writes down: the suite's server says which authorization server it has. */
async function issuerOf(server: string): Promise<string> {
  const { origin, pathname } = new URL(server);
  const answer = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  return ((await answer.json()) as { authorization_servers: [string] }).authorization_servers[0];
}

const program = async (): Promise<SignIn> => ({
  ...common,
  issuer: await issuerOf(url),
  clientId: given.client_id ?? '',
  credential:
    given.private_key_pem === undefined
      ? { secret: given.client_secret ?? '' }
      : { privateKey: given.private_key_pem, alg: given.signing_algorithm ?? 'ES256' },
});

const person: SignIn = {
  ...common,
  redirectUrl: 'http://localhost:3000/callback',
  clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
  ...(given.client_id === undefined
    ? {}
    : { client: { client_id: given.client_id, client_secret: given.client_secret } }),
  authorize,
} as SignIn;

const authorization = createAuthorization(scenario.startsWith('auth/client-credentials') ? await program() : person);
const options: GatewayOptions = { approveNew: true, signIn: () => authorization };
const accept: AskClient = async (questions) =>
  Object.fromEntries(Object.keys(questions).map((name) => [name, { action: 'accept', content: {} }]));

async function withRuntime(use: (parts: Awaited<ReturnType<typeof open>>) => Promise<void>): Promise<void> {
  const parts = await open();
  try {
    await use(parts);
  } finally {
    await parts.runtime.close();
  }
}

async function open() {
  const gateway = createGateway(options);
  const text = JSON.stringify({
    version: 1,
    approvals: { auto_approve: ['*'] },
    mcp_servers: { up: { url, tools: ['*'] } },
  });
  const [workspace, state] = [join(scratch, 'workspace'), join(scratch, 'state')];
  const runtime = await createRuntime({ workspace, state, registry: { text, file: 'registry' }, sources: [gateway] });
  return { gateway, runtime };
}

/** Something of the right shape for every argument. */
function sample(schema: JsonValue | undefined, position: number): JsonValue {
  const { type, enum: choices, properties, default: usual } = isJsonObject(schema) ? schema : {};
  if (usual !== undefined) return usual;
  if (Array.isArray(choices)) return choices[0] as JsonValue;
  if (type === 'number' || type === 'integer') return position === 0 ? 5 : 3;
  if (type === 'boolean') return true;
  if (type === 'array') return [];
  if (type === 'object') return samples(properties);
  return 'test';
}

function samples(properties: JsonValue | undefined): JsonObject {
  const entries = isJsonObject(properties) ? Object.entries(properties) : [];
  return Object.fromEntries(entries.map(([name, schema], position) => [name, sample(schema, position)]));
}

/** What is null was not given. */
function withoutNulls(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

/** A tool that wants to see a schema is shown the one another tool has, as it arrived. */
function callOf({ name, argsSchema }: ToolListing, all: readonly ToolListing[]): readonly [string, JsonObject] {
  const args = samples((argsSchema as JsonObject)['properties']);
  const other = all.find((tool) => tool.name !== name);
  return [name, isJsonObject(args['schema']) ? { ...args, schema: (other?.argsSchema ?? {}) as JsonObject } : args];
}

mkdirSync(join(scratch, 'workspace'));
try {
  await withRuntime(async ({ gateway }) => {
    console.log(JSON.stringify(await gateway.refresh('up')));
  });
  await withRuntime(async ({ runtime }) => {
    const session = await runtime.openSession();
    const tools = session.tools().filter((tool) => tool.category === 'mcp.up');
    const calls = given.toolCalls?.map((call) => [`up_${call.name}`, withoutNulls(call.arguments)] as const);
    for (const [name, args] of calls ?? tools.map((tool) => callOf(tool, tools))) {
      const answer = await session.call(name, args, { askClient: accept });
      console.log(JSON.stringify(answer));
      if (!answer.ok) process.exitCode = 1;
    }
  });
} catch (thrown) {
  console.error(thrown);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
