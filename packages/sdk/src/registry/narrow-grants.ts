/** The narrowing of what lets calls reach outside: hosts, command lines, programs. Absent in the session means none. */

import type { JsonValue } from '@tool-runtime/protocol';
import type { ExternalToolSettings } from '../contracts/external.ts';
import type { CompiledPattern } from '../contracts/registry.ts';
import { domainCovers } from '../egress/domain-entry.ts';
import { excerpt } from '../pattern/excerpt.ts';
import { canonicalJson } from '../platform/digest.ts';
import { isReference } from './external-tool-settings.ts';
import { bareTable } from './freeze.ts';
import { type Narrowing, placeEntry } from './narrowing.ts';

/** An entry wider than the host's is cut down to the host's entries inside it. */
export function narrowDomains(narrowing: Narrowing): readonly string[] {
  const { host, session } = narrowing;
  const list = 'network.allowed_domains';
  const kept = new Set<string>();
  const keep = (name: string, spot: ReturnType<typeof host.spot>): void => {
    if (kept.has(name)) return;
    placeEntry(narrowing, list, { index: kept.size, name, spot });
    kept.add(name);
  };
  for (const [index, entry] of session.allowedDomains.entries()) {
    const path = `${list}.${index}`;
    if (host.allowedDomains.some((outer) => domainCovers(outer, entry))) {
      keep(entry, session.spot(path));
      continue;
    }
    narrowing.overreach.push({ path, message: `Domain is not allowed by the host: ${entry}` });
    for (const [at, inner] of host.allowedDomains.entries()) {
      if (domainCovers(entry, inner)) keep(inner, host.spot(`${list}.${at}`));
    }
  }
  return [...kept];
}

/** What may be read on the way is the host's to say: a session can only take entries away. */
export function narrowInsecureCredentials({ host, session, overreach }: Narrowing): readonly string[] {
  const isGiven = (entry: string): boolean => host.insecureCredentials.some((outer) => domainCovers(outer, entry));
  for (const [index, entry] of session.insecureCredentials.entries()) {
    if (isGiven(entry)) continue;
    const path = `network.insecure_credentials.${index}`;
    overreach.push({ path, message: `Credentials over plain http are not allowed by the host: ${entry}` });
  }
  return session.insecureCredentials.filter(isGiven);
}

/** A line must match a pattern of each side. Which of two patterns is wider cannot be told, so only "none" overreaches. */
export function narrowShell(narrowing: Narrowing): readonly CompiledPattern[] {
  const { host, session } = narrowing;
  const kept: CompiledPattern[] = [];
  for (const [index, { source, test }] of session.shellAllow.entries()) {
    const path = `shell_allow.${index}`;
    if (host.shellAllow.length === 0) {
      narrowing.overreach.push({ path, message: `Shell is not allowed by the host: ${excerpt(source)}` });
      continue;
    }
    placeEntry(narrowing, 'shell_allow', { index: kept.length, name: source, spot: session.spot(path) });
    kept.push(bothMatch({ source, test }, host.shellAllow));
  }
  return kept;
}

function bothMatch(pattern: CompiledPattern, others: readonly CompiledPattern[]): CompiledPattern {
  return Object.freeze({
    source: pattern.source,
    test: (text: string) => pattern.test(text) && others.some((other) => other.test(text)),
  });
}

export function narrowBranchPattern({ host, session }: Narrowing): CompiledPattern | undefined {
  if (session.branchPattern === undefined) return host.branchPattern;
  return host.branchPattern === undefined
    ? session.branchPattern
    : bothMatch(session.branchPattern, [host.branchPattern]);
}

function sameJson(left: JsonValue, right: JsonValue | undefined): boolean {
  return right !== undefined && canonicalJson(left) === canonicalJson(right);
}

/** A session repeats the host's entry word for word, or names the tool alone; either keeps the host's. */
export function narrowExternalTools(narrowing: Narrowing): readonly ExternalToolSettings[] {
  const { host, session } = narrowing;
  const known = new Map(host.externalTools.map((tool) => [tool.name, tool]));
  const kept: ExternalToolSettings[] = [];
  for (const [index, tool] of session.externalTools.entries()) {
    const path = `external_tools.${index}`;
    const { name } = tool;
    const given = known.get(name);
    if (given === undefined || !(isReference(tool) || sameSettings(tool, given))) {
      narrowing.overreach.push({ path, message: `External tool is not one of the host's: ${name}` });
      continue;
    }
    placeEntry(narrowing, 'external_tools', { index: kept.length, name, spot: session.spot(path) });
    kept.push(given);
  }
  return kept;
}

function sameSettings(left: ExternalToolSettings, right: ExternalToolSettings): boolean {
  return sameJson(left as unknown as JsonValue, right as unknown as JsonValue);
}

export function narrowProviders(narrowing: Narrowing): Readonly<Record<string, JsonValue>> {
  const { host, session } = narrowing;
  const kept = Object.entries(session.providers).filter(([name, provider]) => {
    if (sameJson(provider, host.providers[name])) return true;
    narrowing.overreach.push({ path: `providers.${name}`, message: `Provider is not one of the host's: ${name}` });
    return false;
  });
  return bareTable(kept);
}
