/** Lets a child go on without its parent. */
import { detachChildSchema } from '@tool-runtime/protocol';
import { defineRoute } from '../route.ts';

export const detachChild = defineRoute({
  id: 'detachChild',
  method: 'post',
  path: '/v1/sessions/{session_id}/detach',
  summary: 'Let a child go on without its parent, which may then end',
  description:
    'For a child that was opened as `reclaimable`, where the registry allows it (`children.allow_detach`). The token of the ' +
    'parent may, and that of the owner; that of the child itself may not.',
  scope: 'call',
  body: detachChildSchema,
  answers: {
    204: { description: 'The child is on its own' },
    403: { description: 'It belongs to its parent, or the registry or the token does not allow it' },
    409: { description: 'It was detached before' },
  },
  async handle({ host, principal, params, body }) {
    await host.children.detach(principal, params['session_id'] ?? '', body);
    return { status: 204 };
  },
});
