/** Finds a profile: a file, one that is shipped, or the shipped one whose tools a server has. */
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { type Profile, type ProfileSource, profileSchema } from './profile.ts';
import * as shipped from './shipped/catalog.ts';

export const SHIPPED: readonly Profile[] = Object.values(shipped).map((source: ProfileSource) =>
  profileSchema.parse(source),
);

/** A profile that cannot be used. The message says what to do. */
export class ProfileProblem extends Error {}

export function loadProfile(nameOrFile: string): Profile {
  const known = SHIPPED.find(({ name }) => name === nameOrFile);
  if (known !== undefined) return known;
  if (!existsSync(nameOrFile)) {
    throw new ProfileProblem(`No such profile: ${nameOrFile}. Give a JSON file or one of: ${shippedNames()}`);
  }
  const parsed = profileSchema.safeParse(parseJson(nameOrFile));
  if (parsed.success) return parsed.data;
  throw new ProfileProblem(`${nameOrFile} is not a valid profile:\n${z.prettifyError(parsed.error)}`);
}

/** The shipped profile that maps the most, among those whose tools are all offered. */
export function recogniseProfile(tools: readonly string[]): Profile {
  const overMcp = SHIPPED.filter(({ start }) => start.mcp !== undefined);
  const fitting = overMcp.filter((profile) => mappedTools(profile).every((tool) => tools.includes(tool)));
  const [best] = fitting.sort((left, right) => mappedTools(right).length - mappedTools(left).length);
  if (best !== undefined) return best;
  throw new ProfileProblem(
    `No shipped profile fits this server. Its tools: ${tools.join(', ')}\n` +
      'Write a profile and pass it with --profile FILE; --show-profile server-filesystem prints one to start from',
  );
}

export function shippedNames(): string {
  return SHIPPED.map(({ name }) => name).join(', ');
}

function mappedTools({ tools }: Profile): string[] {
  return Object.values(tools).flatMap((mapping) => (mapping === undefined ? [] : [mapping.tool]));
}

function parseJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new ProfileProblem(`${file} is not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}
