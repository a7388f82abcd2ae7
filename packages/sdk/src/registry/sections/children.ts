/** `children`: how many child sessions, and whether they may outlive their parent. */
import { z } from 'zod';
import type { ChildSettings } from '../../contracts/registry.ts';
import { isWithin, type Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';

const schema = z.strictObject({
  max_children: z
    .int()
    .min(0)
    .max(10_000)
    .default(16)
    .describe('Children one session may start over its whole life; recursion_limit says how deep'),
  allow_detach: z.boolean().default(false).describe('Whether a child session may go on without its parent'),
});

export const children = defineSection({
  keys: {
    children: schema.prefault({}).describe('Child sessions: how many, and whether they may outlive their parent'),
  },
  build: (written) => ({ children: written.children as ChildSettings }),
  narrow: (narrowing) => ({ children: narrowChildren(narrowing) }),
});

function narrowChildren(narrowing: Narrowing): ChildSettings {
  const { host, session, overreach } = narrowing;
  const [own, limit] = [session.children.max_children, host.children.max_children];
  const isLess = isWithin(narrowing, { path: 'children.max_children', own, limit });
  if (session.children.allow_detach && !host.children.allow_detach) {
    overreach.push({ path: 'children.allow_detach', message: 'Detached children are not allowed by the host' });
  }
  return {
    max_children: isLess ? own : limit,
    allow_detach: host.children.allow_detach && session.children.allow_detach,
  };
}
