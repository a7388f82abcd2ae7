/**
 * sec.paths.sandbox: every declared path stays under the workspace root.
 *
 * This is an early check, for a message that names the argument. The workspace layer enforces the boundary: it resolves
 * by descriptor when the file is opened, links included.
 */
import { safeText } from '@tool-runtime/protocol/internal';
import { defineRule, type Violation } from '../contracts/rule.ts';
import { classifyPath } from '../policy/declared-paths.ts';

export const secPathsSandbox = defineRule({
  id: 'sec.paths.sandbox',
  category: 'Security / FS',
  description: 'Paths stay under the workspace root',
  phase: 'before',
  trigger: 'every call with path arguments',
  defaultEnforcement: 'blocking',
  always: true,
  errorCode: 'E_POLICY',
  looksAt: ['paths'],
  appliesTo: (subject) => subject.paths.length > 0,
  check: (subject) => subject.paths.flatMap(({ key, value }) => judgePath(key, value)),
});

function judgePath(key: string, value: string): Violation[] {
  const place = classifyPath(value);
  if (place.type === 'workspace_relative') return [];
  const why = place.type === 'host_absolute' ? 'is absolute' : place.why;
  return [
    {
      message: `Path is not inside the workspace (${key} ${why}): ${safeText(value, 120)}`,
      path: key,
      next: 'give a path relative to the workspace root that does not leave it',
    },
  ];
}
