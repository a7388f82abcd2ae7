/** A case tries one thing that a tool runtime must not get wrong. */
import type { Capability } from '../profile/profile.ts';
import type { Scene } from '../scene/scene.ts';

/** A tool that the profile maps, a program that its `run` may start, or a property that it claims. */
export type Need =
  | Capability
  | 'program sh'
  | 'program sleep'
  | 'commands that end with their answer'
  | 'idempotency'
  | 'durable idempotency'
  | 'journal';

export interface Case {
  /** Group and name: `edits.ambiguous`. */
  readonly id: string;
  readonly needs: readonly Need[];
  /** Cases that this one goes further than: if one of them failed, there is nothing left to find here. */
  readonly after?: readonly string[];
  readonly tries: string;
  readonly wrong: string;
  readonly why: string;
  /** The same without the hostile part. It must succeed, so that refusing everything does not pass. */
  twin(scene: Scene): Promise<void>;
  attack(scene: Scene): Promise<void>;
}

/** What a case found. */
export class Violation extends Error {}

export function expect(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Violation(otherwise);
}

/** Of a text or of bytes, short enough for a line of a table. */
export function shown(value: string | Uint8Array | undefined): string {
  if (value === undefined) return 'no file';
  const text = JSON.stringify(typeof value === 'string' ? value : Buffer.from(value).toString('utf8'));
  return text.length <= 120 ? text : `${text.slice(0, 117)}…"`;
}
