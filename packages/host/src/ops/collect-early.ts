/**
 * For processes that serve calls for long.
 *
 * V8 watches where objects come from that live long, and then makes objects from there among the old ones right away. What a
 * call makes lives until its answer, so V8 is often wrong about it: such objects, and all they refer to, stay until the next
 * full collection. In a read over MCP that was an eighth of all memory that calls touch. Measured with and without: 12 %
 * less CPU per call, and a heap that stays at its size between full collections.
 */
import { setFlagsFromString } from 'node:v8';

export function collectEarly(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
