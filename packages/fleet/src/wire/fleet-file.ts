/** The file that says how to reach a fleet (`serve --fleet FILE`), and the same as options of programs. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import { parse } from 'yaml';
import { z } from 'zod';

const credentialsSchema = z.union([
  z.strictObject({ user: z.string().min(1), password: z.string() }),
  z.strictObject({ user: z.string().min(1), creds_file: z.string().min(1) }),
]);

export type FleetCredentials = z.infer<typeof credentialsSchema>;

const tlsSchema = z.strictObject({
  ca_file: z.string().optional(),
  cert_file: z.string().optional(),
  key_file: z.string().optional(),
});

const ID = z.string().regex(/^[A-Za-z0-9][\w.-]{0,62}$/, 'letters, digits, dots, dashes and underscores, at most 63');

const fleetFileSchema = z.strictObject({
  servers: z.array(z.string().min(1)).min(1).describe('Addresses of the servers, such as nats://10.0.0.1:4222'),
  credentials: credentialsSchema.describe('The user of this host or client, with a password or a file of credentials'),
  system: credentialsSchema.optional().describe('A user of the system account, to read how the servers are set up'),
  tls: tlsSchema.optional(),
  tenant: ID.default('main'),
  host: ID.optional().describe('Name of this host, unique in the fleet; needed by hosts only'),
  zone: ID.default('default'),
  workspaces: z
    .array(ID)
    .optional()
    .describe('Names of the workspaces in the order of the folders; the names of the folders by default'),
  approvers: z
    .array(z.string().min(1))
    .default([])
    .describe('Users of the fleet that may answer approval questions of this host'),
  replicas: z.union([z.literal(1), z.literal(3), z.literal(5)]).default(3),
  lease_ms: z.int().min(2000).max(120_000).default(15_000).describe('How long a workspace stays with a silent host'),
  limits: z
    .strictObject({
      calls: z.int().min(1).max(100_000).default(1000).describe('Calls of one workspace that run or wait at once'),
      connections: z.int().min(1).max(100_000).default(2000).describe('Open connections to one workspace'),
    })
    .prefault({})
    .describe('Beyond these a host answers busy, with a time after which to try again'),
  budget: z
    .strictObject({ calls_per_day: z.int().min(1).max(1_000_000_000) })
    .optional()
    .describe(
      'Calls of each workspace per day (UTC), counted over all hosts; every host of a fleet must state the same',
    ),
  keep_hours: z.int().min(1).max(720).default(24).describe('How long calls can be recognized by their key'),
});

export type FleetFile = z.infer<typeof fleetFileSchema>;
export type FleetOptions = z.input<typeof fleetFileSchema>;

/** Throws E_VALIDATION_FAIL with the place in the file. Paths in it are relative to the file. */
export function readFleetFile(file: string): FleetFile {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw invalid(`Fleet file cannot be read: ${file}`, 'check the path; tool-runtime fleet dev prints one', cause);
  }
  let value: unknown;
  try {
    value = parse(text);
  } catch (cause) {
    throw invalid(`Fleet file is not YAML: ${file}`, 'correct the syntax', cause);
  }
  return beside(path.dirname(path.resolve(file)), checkFleet(value, file));
}

export function checkFleet(value: unknown, source = 'options'): FleetFile {
  const parsed = fleetFileSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = issue?.path.join('.') ?? '';
  throw invalid(`Fleet ${source}: ${at === '' ? '' : `${at}: `}${issue?.message ?? 'invalid'}`, 'see docs/fleet.md');
}

function beside(folder: string, file: FleetFile): FleetFile {
  const at = (name: string): string => path.resolve(folder, name);
  const given = <T extends FleetCredentials>(credentials: T): T =>
    'creds_file' in credentials ? { ...credentials, creds_file: at(credentials.creds_file) } : credentials;
  const { tls, system } = file;
  return {
    ...file,
    credentials: given(file.credentials),
    ...(system === undefined ? {} : { system: given(system) }),
    ...(tls === undefined
      ? {}
      : { tls: Object.fromEntries(Object.entries(tls).map(([name, value]) => [name, value && at(value)])) }),
  };
}

function invalid(message: string, next: string, cause?: unknown): ToolError {
  return new ToolError('E_VALIDATION_FAIL', message, { details: { reason: 'invalid_fleet_file', next }, cause });
}
