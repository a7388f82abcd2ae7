/** The written form of a mounted MCP server. */
import { z } from 'zod';
import { SIDE_EFFECT_LEVELS } from '../contracts/annotations.ts';
import { globText } from './texts.ts';

const PREFIX = /^[a-z0-9_-]{1,12}$/;
const MAX_TIMEOUT_MS = 3_600_000;

function shaped(pattern: RegExp, message: string): z.ZodString {
  return z.string().superRefine((text, context) => {
    if (!pattern.test(text)) context.addIssue({ code: 'custom', message });
  });
}

/** Also the default prefix, so what is longer needs one of its own. */
export const mcpServerName = shaped(
  /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/,
  'Not a server name: up to 32 letters, digits, _ and -',
);

const variableName = shaped(/^[A-Za-z_][A-Za-z0-9_]*$/, 'Not the name of a variable');
const headerName = shaped(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/, 'Not the name of a header');
const plainWord = shaped(/^[^\u0000-\u001f\u007f]{1,4096}$/, 'Not a plain word: up to 4096 characters on one line');
const absolutePath = shaped(/^\/[^/\u0000-\u001f\u007f][^\u0000-\u001f\u007f]{0,4094}$/, 'Not an absolute path');
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

export const mcpServerSection = z
  .strictObject({
    command: z
      .array(plainWord)
      .min(1)
      .max(256)
      .exactOptional()
      .describe('Program and arguments; the program is a bare name or an absolute path'),
    url: serverUrl.exactOptional().describe('Address of a server on streamable HTTP'),
    prefix: shaped(PREFIX, 'Not a prefix: up to 12 of a-z, 0-9, _ and -')
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
      .describe('Wall around this server; as for commands when left out'),
    read_paths: z
      .array(absolutePath)
      .default([])
      .describe('Absolute paths it may read besides the system folders and the workspace'),
  })
  .superRefine(({ command, url }, context) => {
    if (command === undefined || url === undefined) return;
    context.addIssue({ code: 'custom', path: ['url'], message: 'Server has both a command and a url' });
  });

/** The section as a whole: here, where names are known, a missing prefix is judged. */
export const mcpServers = z.record(mcpServerName, mcpServerSection).superRefine((servers, context) => {
  for (const [name, { prefix }] of Object.entries(servers)) {
    if (prefix !== undefined || PREFIX.test(name)) continue;
    context.addIssue({
      code: 'custom',
      path: [name],
      message: `Name of the server is no prefix, so give one: ${name}`,
    });
  }
});
