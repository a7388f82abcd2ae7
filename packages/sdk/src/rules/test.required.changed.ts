/**
 * test.required.changed: a change of code comes with a change of tests, or with a reason why not.
 *
 * What counts is lines that were added: taking code away, moving it or changing its mode needs no test, and taking tests
 * away does not count.
 */
import { defineRule, type Violation } from '../contracts/rule.ts';
import { shownNames } from '../text/names.ts';
import type { Untested } from './find-untested.ts';

const MAX_FILES = 20;
const EXAMPLES = 3;

export const testRequiredChanged = defineRule({
  id: 'test.required.changed',
  category: 'Testing',
  description: 'A code change comes with a test change, or with a recorded override',
  phase: 'on-commit',
  trigger: 'on commit',
  defaultEnforcement: 'blocking',
  byContent: true,
  overridable: true,
  appliesTo: ({ git }) => git !== undefined,
  async check(_subject, { changeSet, registry }) {
    // Some sixty patterns, which few sessions ever need.
    const { findUntested } = await import('./find-untested.ts');
    const untested = await findUntested(await changeSet(), registry.testGlobs);
    return untested.paths.length === 0 ? [] : [violation(untested)];
  },
});

function violation({ paths, wouldCount }: Untested): Violation {
  const examples = wouldCount.slice(0, EXAMPLES);
  return {
    message: `Code changed without a test: ${shownNames(paths)}`,
    ...(paths[0] === undefined ? {} : { path: paths[0] }),
    next: `change a test too, such as ${examples.join(' or ')}; or say in overrides why none is needed`,
    details: { count: paths.length, files: paths.slice(0, MAX_FILES), would_count: examples },
  };
}
