/** Joins a tool's static profile with what it says about one call. The static one is the worst case and holds. */
import { sideEffectRank } from '../contracts/annotations.ts';
import { contractViolation } from '../contracts/failures.ts';
import type { CallProfile } from '../contracts/tool.ts';

export function narrowProfile(worst: CallProfile, forCall: Partial<CallProfile>): CallProfile {
  const level = forCall.side_effect_level ?? worst.side_effect_level;
  if (sideEffectRank(level) > sideEffectRank(worst.side_effect_level)) {
    throw contractViolation(`Tool profile exceeds its declared side-effect level: ${level}`, {
      declared: worst.side_effect_level,
    });
  }
  return { ...worst, ...forCall };
}
