/** A test must not fail because the machine is busy: it waits for a thing, and its limits are only there to end a hang. */
import type { Finding } from './finding.ts';
import type { Tree } from './read-tree.ts';

/** `timeout` of a test, a suite or a program that a test starts. */
const LIMIT = /\btimeout:\s*([\d_]+)\b/g;
/** Smaller numbers are samples of something else; limits of this size end a hang, larger ones are never met by load alone. */
const [LEAST_MS, ENOUGH_MS] = [1000, 60_000];
/** `for (let looks = 0; looks < 200 && !isThere(); looks++) await delay(50)`: gives up after a time, whatever the machine does. */
const COUNTED =
  /\bfor \(let (\w+) = 0; \1 < [^;]*&&[^;]*;[^)]*\)\s*\{?\s*await [^;]*\b(?:setTimeout|delay|sleep|pause)\(/g;

export function checkTestWaits(tree: Tree): Finding[] {
  const finding = { level: 'fail' as const, check: 'test-waits' };
  return tree.sources
    .filter(({ isTest }) => isTest)
    .flatMap((file) => {
      const at = (match: RegExpExecArray) => ({ ...finding, file: file.path, line: file.lineAt(match.index) });
      const limits = [...file.code.matchAll(LIMIT)].filter(([, digits = '']) => {
        const ms = Number(digits.replaceAll('_', ''));
        return ms >= LEAST_MS && ms < ENOUGH_MS;
      });
      return [
        ...limits.map((match) => ({
          ...at(match),
          what: `A busy machine reaches this limit: ${match[0]}`,
          next: `Give it ${ENOUGH_MS} ms or more, or none`,
        })),
        ...[...file.code.matchAll(COUNTED)].map((match) => ({
          ...at(match),
          what: 'A wait gives up after a number of looks',
          next: 'Look until it is so; the limit of the test file ends a hang',
        })),
      ];
    });
}
