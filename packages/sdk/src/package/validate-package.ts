/**
 * Whether a package holds together. Pure: no I/O, no clock.
 *
 * The first problem is thrown as it is; `details.problems` lists all, so one look is enough to fix a package.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { contractViolation, missingField } from '../contracts/failures.ts';
import { canonicalSidecar, canonicalText } from './canonical-package.ts';
import { capabilityProblems } from './capability.ts';
import { hookProblems, hookSidecar } from './hook-spec.ts';
import { ISOLATION_CLASSES, isRefTo, type PackageSidecarRef } from './package-parts.ts';
import { explicitPolicyProblems, idProblems, policyRefProblems, throwProblems, unknownValue } from './problems.ts';
import { PACKAGE_SCHEMA_VERSION, type RuntimePackage } from './runtime-package.ts';

export function validatePackage(pkg: RuntimePackage): void {
  throwProblems([
    ...headProblems(pkg),
    ...pkg.capabilities.flatMap((capability, at) => capabilityProblems(capability, `capabilities[${at}]`)),
    ...sidecarProblems(pkg),
    ...outputProblems(pkg),
    ...hookListProblems(pkg),
    ...isolationProblems(pkg),
    ...catalogProblems(pkg),
    ...policyProblems(pkg),
    ...duplicateProblems(pkg),
  ]);
}

function headProblems(pkg: RuntimePackage): ToolError[] {
  const problems: ToolError[] = [];
  if (pkg.schema_version !== PACKAGE_SCHEMA_VERSION) {
    problems.push(
      contractViolation('Package schema version is not supported: schema_version', { field: 'schema_version' }),
    );
  }
  const { route_id, model_id } = pkg.provider_route;
  const { agent_id } = pkg.agent;
  return [
    ...problems,
    ...idProblems({ package_id: pkg.package_id }, 'runtime_package'),
    ...idProblems({ agent_id }, 'agent'),
    ...idProblems({ route_id, model_id }, 'provider_route'),
  ];
}

function sidecarProblems(pkg: RuntimePackage): ToolError[] {
  const dangling = (refs: readonly PackageSidecarRef[], at: string): ToolError[] =>
    refs.flatMap((ref, index) => {
      const field = `${at}[${index}]`;
      return pkg.sidecars.some((sidecar) => isRefTo(ref, sidecar))
        ? []
        : [contractViolation(`Sidecar ref leads nowhere: ${field}`, { field })];
    });
  return [
    ...pkg.capabilities.flatMap(({ sidecar_refs }, at) => dangling(sidecar_refs, `capabilities[${at}].sidecar_refs`)),
    ...pkg.sidecars.flatMap(({ sidecar_id, kind, version, content_hash, refs, policy_refs }, at) => [
      ...idProblems({ sidecar_id, kind, version, content_hash }, `sidecars[${at}]`),
      ...dangling(refs, `sidecars[${at}].refs`),
      ...policy_refs.flatMap((ref, index) => policyRefProblems(ref, `sidecars[${at}].policy_refs[${index}]`)),
    ]),
  ];
}

function outputProblems(pkg: RuntimePackage): ToolError[] {
  return [
    ...pkg.output_contracts.flatMap(({ schema_id, schema_fingerprint }, at) => {
      const field = `output_contracts[${at}].schema_fingerprint`;
      return [
        ...idProblems({ schema_id }, `output_contracts[${at}]`),
        ...(schema_fingerprint.startsWith('sha256:')
          ? []
          : [contractViolation(`Output contract fingerprint has no sha256 prefix: ${field}`, { field })]),
      ];
    }),
    ...pkg.output_sinks.flatMap(({ sink_id, delivery_policy_ref }, at) => [
      ...idProblems({ sink_id }, `output_sinks[${at}]`),
      ...policyRefProblems(delivery_policy_ref, `output_sinks[${at}].delivery_policy_ref`),
    ]),
  ];
}

function hookListProblems(pkg: RuntimePackage): ToolError[] {
  return pkg.hooks.flatMap((hook, at) => {
    const field = `hooks[${at}]`;
    const problems = hookProblems(hook, field);
    if (problems.length > 0) return problems;
    const wanted = hookSidecar(hook);
    const found = pkg.sidecars.find((sidecar) => sidecar.sidecar_id === wanted.sidecar_id);
    if (found === undefined) return [missingField(`${field}.sidecar`)];
    return canonicalText(canonicalSidecar(found)) === canonicalText(canonicalSidecar(wanted))
      ? []
      : [contractViolation(`Sidecar of the hook says something else: ${field}`, { field })];
  });
}

function isolationProblems(pkg: RuntimePackage): ToolError[] {
  const refs = new Set(pkg.isolation_requirements.map((requirement) => requirement.isolation_ref));
  return [
    ...pkg.isolation_requirements.flatMap(({ isolation_ref, minimum_class, policy_ref }, at) => [
      ...idProblems({ isolation_ref }, `isolation_requirements[${at}]`),
      ...explicitPolicyProblems(policy_ref, `isolation_requirements[${at}].policy_ref`),
      ...(ISOLATION_CLASSES.includes(minimum_class)
        ? []
        : [unknownValue(`isolation_requirements[${at}].minimum_class`)]),
    ]),
    ...pkg.capabilities.flatMap(({ isolation_ref }, at) => {
      const field = `capabilities[${at}].isolation_ref`;
      return isolation_ref === undefined || refs.has(isolation_ref)
        ? []
        : [contractViolation(`Isolation ref leads nowhere: ${field}`, { field })];
    }),
  ];
}

function catalogProblems(pkg: RuntimePackage): ToolError[] {
  return pkg.catalogs.flatMap(({ catalog_id, activation_policy_ref }, at) => [
    ...idProblems({ catalog_id }, `catalogs[${at}]`),
    ...policyRefProblems(activation_policy_ref, `catalogs[${at}].activation_policy_ref`),
  ]);
}

function policyProblems(pkg: RuntimePackage): ToolError[] {
  const { policy_ref, detach_policy_ref, cleanup_timeout_ms } = pkg.child_lifecycle;
  const field = 'child_lifecycle.cleanup_timeout_ms';
  return [
    ...policyRefProblems(policy_ref, 'child_lifecycle.policy_ref'),
    ...policyRefProblems(detach_policy_ref, 'child_lifecycle.detach_policy_ref'),
    ...(Number.isSafeInteger(cleanup_timeout_ms) && cleanup_timeout_ms >= 0
      ? []
      : [contractViolation(`Duration is not a whole number of milliseconds: ${field}`, { field })]),
    ...pkg.policies.policy_refs.flatMap((ref, at) => policyRefProblems(ref, `policies.policy_refs[${at}]`)),
    ...pkg.agent.default_behavior_refs.flatMap((ref, at) =>
      policyRefProblems(ref, `agent.default_behavior_refs[${at}]`),
    ),
  ];
}

function duplicateProblems(pkg: RuntimePackage): ToolError[] {
  return [
    ...duplicates(
      pkg.capabilities.map((item) => item.capability_id),
      'capabilities',
      'capability_id',
    ),
    ...duplicates(
      pkg.sidecars.map((item) => item.sidecar_id),
      'sidecars',
      'sidecar_id',
    ),
    ...duplicates(
      pkg.hooks.map((item) => item.hook_id),
      'hooks',
      'hook_id',
    ),
    ...duplicates(
      pkg.output_sinks.map((item) => item.sink_id),
      'output_sinks',
      'sink_id',
    ),
    ...duplicates(
      pkg.isolation_requirements.map((item) => item.isolation_ref),
      'isolation_requirements',
      'isolation_ref',
    ),
    ...duplicates(
      pkg.catalogs.map((item) => item.catalog_id),
      'catalogs',
      'catalog_id',
    ),
  ];
}

function duplicates(ids: readonly string[], list: string, key: string): ToolError[] {
  const seen = new Set<string>();
  return ids.flatMap((id, at) => {
    const field = `${list}[${at}].${key}`;
    if (seen.has(id)) return [contractViolation(`Id is used more than once: ${field}`, { field, id })];
    seen.add(id);
    return [];
  });
}
