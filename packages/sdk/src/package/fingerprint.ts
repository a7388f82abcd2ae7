/** The name of a package's content: equal for equal packages however they are written, different for any other. */
import { sha256Hex } from '../platform/digest.ts';
import {
  CANONICAL_SCHEMA_VERSION,
  canonicalPackage,
  canonicalText,
  FINGERPRINT_ALGORITHM,
} from './canonical-package.ts';
import type { RuntimePackage } from './runtime-package.ts';
import { validatePackage } from './validate-package.ts';

const FINGERPRINT = new RegExp(`^${FINGERPRINT_ALGORITHM}:[0-9a-f]{64}$`);

/** Validates first: an invalid package has no fingerprint. Throws as `validatePackage`. */
export function fingerprintPackage(pkg: RuntimePackage): string {
  validatePackage(pkg);
  const text = canonicalText({
    algorithm: FINGERPRINT_ALGORITHM,
    canonical_schema_version: CANONICAL_SCHEMA_VERSION,
    snapshot: canonicalPackage(pkg),
  });
  return `${FINGERPRINT_ALGORITHM}:${sha256Hex(text)}`;
}

export function isFingerprint(value: string): boolean {
  return FINGERPRINT.test(value);
}
