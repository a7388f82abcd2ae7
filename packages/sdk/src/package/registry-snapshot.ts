/**
 * The frozen list of callable tools of one package. Plain data when it is serialised; the index by name stays
 * inside.
 *
 * A capability without a route is not an error: it is simply not callable.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import { z } from 'zod';
import { contractViolation, failure } from '../contracts/failures.ts';
import type { PolicyRef } from '../contracts/refs.ts';
import { type ExecutableRoute, executableRoute } from './capability.ts';
import { fingerprintPackage, isFingerprint } from './fingerprint.ts';
import { parseForeign } from './problems.ts';
import type { RuntimePackage } from './runtime-package.ts';
import { frozenCopy } from './runtime-package.ts';
import { serializeRoute, type ToolRoute, toolRouteSchema, validateRoute } from './tool-router.ts';

/** Use `buildSnapshot` or `parseSnapshot`: the constructor only sorts, freezes and indexes. */
export class ToolRegistrySnapshot {
  readonly runtime_package_fingerprint: string;
  /** Sorted by canonical name, by code unit. */
  readonly routes: readonly ToolRoute[];
  readonly #byName: ReadonlyMap<string, ToolRoute>;

  constructor(fingerprint: string, routes: Iterable<ToolRoute>) {
    const byName = [...routes].map((route) => [route.canonical_tool_name, frozenCopy(route)] as const);
    byName.sort(([a], [b]) => (a < b ? -1 : 1));
    this.runtime_package_fingerprint = fingerprint;
    this.routes = Object.freeze(byName.map(([, route]) => route));
    this.#byName = new Map(byName);
    Object.freeze(this);
  }

  /** Exact name or nothing. */
  findByName(name: string): ToolRoute | undefined {
    return this.#byName.get(name);
  }

  toJSON(): JsonObject {
    return {
      runtime_package_fingerprint: this.runtime_package_fingerprint,
      routes: this.routes.map(serializeRoute),
    };
  }
}

/** Checks the package, then each route against it. Throws E_VALIDATION_FAIL naming the first tool that does not fit. */
export function buildSnapshot(pkg: RuntimePackage, routes: Iterable<ToolRoute>): ToolRegistrySnapshot {
  const fingerprint = fingerprintPackage(pkg);
  const executables = new Map<string, ExecutableRoute>();
  for (const capability of pkg.capabilities) {
    const executable = executableRoute(capability);
    if (executable !== undefined) executables.set(capability.capability_id, executable);
  }
  const accepted = uniqueByName(routes);
  for (const route of accepted.values()) checkAgainstPackage(route, executables);
  return new ToolRegistrySnapshot(fingerprint, accepted.values());
}

const snapshotSchema = z.strictObject({
  runtime_package_fingerprint: z.string().refine(isFingerprint, 'Not a package fingerprint'),
  routes: z.array(toolRouteSchema).default([]),
});

/**
 * A serialised snapshot back as one. It is evidence of what was callable then: only `buildSnapshot` ties routes to
 * a package.
 */
export function parseSnapshot(value: unknown): ToolRegistrySnapshot {
  const parsed = parseForeign(snapshotSchema, value, 'Tool registry snapshot');
  return new ToolRegistrySnapshot(parsed.runtime_package_fingerprint, uniqueByName(parsed.routes).values());
}

function uniqueByName(routes: Iterable<ToolRoute>): Map<string, ToolRoute> {
  const seen = new Map<string, ToolRoute>();
  for (const route of routes) {
    validateRoute(route);
    const name = route.canonical_tool_name;
    if (seen.has(name)) throw contractViolation(`Two routes have one tool name: ${name}`, { tool: name });
    seen.set(name, route);
  }
  return seen;
}

function checkAgainstPackage(route: ToolRoute, executables: ReadonlyMap<string, ExecutableRoute>): void {
  const tool = route.canonical_tool_name;
  const executable = executables.get(route.capability_id);
  if (executable === undefined) {
    throw failure('invalid_package', 'host_configuration_needed', `Package cannot execute this tool: ${tool}`, {
      details: { tool, field: 'tool_route.capability_id' },
    });
  }
  if (route.executor_ref !== executable.executor_ref) {
    throw contractViolation(`Route and package name different executors: ${tool}`, {
      tool,
      field: 'tool_route.executor_ref',
    });
  }
  if (!route.policy_refs.some((ref) => isSamePolicy(ref, executable.policy_ref))) {
    throw contractViolation(`Route leaves out the policy of its package: ${tool}`, {
      tool,
      field: 'tool_route.policy_refs',
    });
  }
}

function isSamePolicy(a: PolicyRef, b: PolicyRef): boolean {
  return a.kind === b.kind && a.id === b.id && a.version === b.version;
}
