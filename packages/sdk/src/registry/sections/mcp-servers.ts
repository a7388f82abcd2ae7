/** `mcp_servers`: foreign MCP servers whose tools are offered. */
import { z } from 'zod';
import { SIDE_EFFECT_LEVELS } from '../../contracts/annotations.ts';
import type { McpServerSettings } from '../../contracts/mcp-servers.ts';
import { intersectGlobs } from '../../glob/match-glob.ts';
import { shownNames } from '../../text/names.ts';
import { freezeMap } from '../freeze.ts';
import { type Narrowing, sameJson } from '../narrowing.ts';
import { defineSection, highestLevel } from '../section.ts';
import { absolutePath, globText, plainWord, shapedText, variableName } from '../texts.ts';

const PREFIX = /^[a-z0-9_-]{1,12}$/;
const MAX_TIMEOUT_MS = 3_600_000;

/** Also the default prefix, so what is longer needs one of its own. */
const serverName = shapedText(
  /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/,
  'Not a server name: up to 32 letters, digits, _ and -',
);

const headerName = shapedText(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/, 'Not the name of a header');
const argumentNames = z.record(globText, z.array(z.string().min(1)));

function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'Not a URL';
  const { protocol, username, password } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return 'Not an http or https URL';
  return username === '' && password === '' ? undefined : 'URL holds credentials: name a variable in headers_env';
}

const serverUrl = z
  .string()
  .max(2048)
  .superRefine((text, context) => {
    const message = urlProblem(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

const level = z.enum(SIDE_EFFECT_LEVELS);

const clientCredentials = z
  .strictObject({
    issuer: serverUrl.describe('The one authorization server that is sent the credential; its host must be allowed'),
    client_id: z.string().min(1).max(256).describe('As registered at the issuer'),
    secret_env: variableName.exactOptional().describe('Name of the variable that holds the secret'),
    private_key_env: variableName
      .exactOptional()
      .describe('Name of the variable that holds a private key (PEM, PKCS #8), in place of a secret'),
    alg: z.enum(['ES256', 'RS256', 'PS256', 'EdDSA']).default('ES256').describe('Algorithm of the private key'),
    scope: z.string().min(1).max(1024).exactOptional().describe('Scopes to ask for, separated by spaces'),
    dpop: z.boolean().default(false).describe('Bind tokens to a key of the host process (RFC 9449)'),
  })
  .superRefine(({ secret_env, private_key_env }, context) => {
    if ((secret_env === undefined) !== (private_key_env === undefined)) return;
    context.addIssue({ code: 'custom', message: 'Name one credential: secret_env or private_key_env' });
  });

const server = z
  .strictObject({
    command: z
      .array(plainWord)
      .min(1)
      .max(256)
      .exactOptional()
      .describe('Program and arguments; the program is a bare name or an absolute path'),
    url: serverUrl.exactOptional().describe('Address of a server on streamable HTTP'),
    prefix: shapedText(PREFIX, 'Not a prefix: up to 12 of a-z, 0-9, _ and -')
      .exactOptional()
      .describe('First part of the names its tools get; the name of the server when left out'),
    tools: z
      .array(globText)
      .describe("Its tools that may be used, by the server's own names or globs; '*' for all, []: none"),
    env: z.array(variableName).default([]).describe('Variables of the host that are handed on, by name'),
    headers_env: z
      .record(headerName, variableName)
      .default({})
      .describe('HTTP header → name of the variable that holds its value'),
    client_credentials: clientCredentials
      .exactOptional()
      .describe('How the host signs in by itself to a server that asks for OAuth'),
    timeout_ms: z.int().min(1).max(MAX_TIMEOUT_MS).default(60_000).describe('Time limit of a call'),
    max_output_bytes: z
      .int()
      .min(1024)
      .max(16_777_216)
      .default(262_144)
      .describe('Bytes of an answer that travel inline; the rest is kept as an artifact'),
    side_effect_level: level.default('network').describe('What its tools count as; the server cannot lower it'),
    levels: z
      .record(globText, level)
      .default({})
      .describe('Tool or glob → level, where it differs; an exact name wins, of several globs the most invasive'),
    path_args: argumentNames.default({}).describe('Tool or glob → arguments that hold workspace paths'),
    url_args: argumentNames.default({}).describe('Tool or glob → arguments that hold URLs'),
    cwd: plainWord.default('.').describe('Folder of the workspace to start in'),
    isolation: z
      .enum(['bubblewrap', 'none'])
      .exactOptional()
      .describe('Sandbox around this server; as for commands when left out'),
    read_paths: z
      .array(absolutePath)
      .default([])
      .describe('Absolute paths it may read in addition to the system folders and the workspace'),
  })
  .superRefine(({ command, url, client_credentials }, context) => {
    if (client_credentials !== undefined && url === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['client_credentials'],
        message: 'Only a server with a url is signed in to',
      });
    }
    if (command === undefined || url === undefined) return;
    context.addIssue({ code: 'custom', path: ['url'], message: 'Server has both a command and a url' });
  });

/** A missing prefix is checked here, where the names are known. */
const servers = z.record(serverName, server).superRefine((written, context) => {
  for (const [name, { prefix }] of Object.entries(written)) {
    if (prefix !== undefined || PREFIX.test(name)) continue;
    context.addIssue({
      code: 'custom',
      path: [name],
      message: `Server name cannot be used as a prefix: ${name} (write prefix)`,
    });
  }
});

export const mcpServers = defineSection({
  keys: {
    mcp_servers: servers
      .default({})
      .describe('Foreign MCP servers whose tools are offered: name → how to reach it and what of it may be used'),
  },
  build: ({ mcp_servers: written }) => ({
    mcpServers: freezeMap(
      new Map<string, McpServerSettings>(
        Object.entries(written).map(([name, entry]) => [name, { ...entry, prefix: entry.prefix ?? name }]),
      ),
    ),
  }),
  narrow: (narrowing) => ({ mcpServers: narrowMcpServers(narrowing) }),
  needs: ({ mcp_servers: written }) =>
    highestLevel(
      Object.values(written).flatMap(({ side_effect_level, levels }) => [side_effect_level, ...Object.values(levels)]),
    ),
});

/**
 * A session can leave servers out and offer fewer of their tools, nothing else. It names a server alone, with the tools it
 * keeps, or repeats the host's entry word for word.
 */
function narrowMcpServers(narrowing: Narrowing): ReadonlyMap<string, McpServerSettings> {
  const { host, session, overreach } = narrowing;
  const kept = new Map<string, McpServerSettings>();
  for (const [name, own] of session.mcpServers) {
    const given = host.mcpServers.get(name);
    const path = `mcp_servers.${name}`;
    if (given === undefined || !(isReference(own) || isSame(own, given))) {
      overreach.push({ path, message: `MCP server is not one of the host's: ${name}` });
      continue;
    }
    const tools = given.tools.includes('*') ? own.tools : intersectGlobs(given.tools, own.tools);
    const added = own.tools.filter((glob) => !tools.includes(glob));
    if (added.length > 0) {
      overreach.push({ path: `${path}.tools`, message: `Tools are not offered by the host: ${shownNames(added)}` });
    }
    kept.set(name, { ...given, tools });
  }
  return freezeMap(kept);
}

function isReference({ command, url }: McpServerSettings): boolean {
  return command === undefined && url === undefined;
}

/** Apart from the tools, which are compared separately. */
function isSame({ tools: _, ...own }: McpServerSettings, { tools: __, ...given }: McpServerSettings): boolean {
  return sameJson(own, given);
}
