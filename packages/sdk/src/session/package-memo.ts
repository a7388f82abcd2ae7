/**
 * Packages and snapshots by what they are made of. Sessions that may do the same share one, frozen all through: writing
 * it costs more than the rest of opening a session.
 */
import { type CompiledPackage, type CompiledToolFacts, compilePackage } from '../package/compile-package.ts';
import { buildSnapshot, type ToolRegistrySnapshot } from '../package/registry-snapshot.ts';

export interface PackageOrder {
  readonly agentId: string;
  readonly registryFingerprint: string;
  /** The same object for the same tool: a tool that was replaced has other ones. */
  readonly tools: readonly CompiledToolFacts[];
}

export interface SessionPackage {
  readonly package: CompiledPackage['package'];
  readonly snapshot: ToolRegistrySnapshot;
}

/** More kinds of sessions than most hosts have. */
const KEPT = 16;

export function createPackageMemo(): (order: PackageOrder) => SessionPackage {
  let kept: readonly (readonly [PackageOrder, SessionPackage])[] = [];
  return (order) => {
    const known = kept.find(([one]) => isSame(one, order)) ?? [order, build(order)];
    kept = [known, ...kept.filter((one) => one !== known)].slice(0, KEPT);
    return known[1];
  };
}

function build(order: PackageOrder): SessionPackage {
  const { package: made, routes } = compilePackage({ packageId: 'package.session', ...order });
  return { package: made, snapshot: buildSnapshot(made, routes) };
}

function isSame(one: PackageOrder, other: PackageOrder): boolean {
  return (
    one.agentId === other.agentId &&
    one.registryFingerprint === other.registryFingerprint &&
    one.tools.length === other.tools.length &&
    one.tools.every((facts, at) => facts === other.tools[at])
  );
}
