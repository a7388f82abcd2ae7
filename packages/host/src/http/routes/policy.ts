/** Routes that rehearse the policy: nothing runs, nothing is recorded. */
import {
  checkBodySchema,
  diffBodySchema,
  explainBodySchema,
  explanationSchema,
  policyCheckSchema,
  policyDiffSchema,
  simulateBodySchema,
  simulationSchema,
  suggestBodySchema,
  suggestionSchema,
  ToolError,
} from '@tool-runtime/protocol';
import { defineRoute } from '../route.ts';

/** Name of a registry that came in a request, in messages. */
const SENT = 'registry';

export const explainPolicy = defineRoute({
  id: 'explainPolicy',
  method: 'post',
  path: '/v1/policy/explain',
  summary: 'What every gate would say to a call, with the line of the registry, and the smallest change that turns it',
  description:
    'The same gates as for a call. Hooks, budgets and the coordinator are not asked. With `registry`, the call is judged ' +
    'under that registry in the workspace of the session; the token of one session cannot send one.',
  scope: 'call',
  body: explainBodySchema,
  answers: {
    200: { description: 'The decision, then the answer of every gate', schema: explanationSchema },
    404: { description: 'No such session' },
  },
  async handle({ host, principal, body: { session_id = principal.sessionId, tool, args, registry } }) {
    const session = session_id === undefined ? undefined : host.session(principal, session_id);
    if (session !== undefined && registry === undefined) {
      return { status: 200, json: await session.served.session.explain(tool, args) };
    }
    if (principal.sessionId !== undefined) throw boundToken();
    const { runtime } = host.workspaceFor(principal, session?.workspace);
    const text = registry === undefined ? {} : { registry: { text: registry, file: SENT } };
    return { status: 200, json: await runtime.policy.explain({ tool, args, ...text }) };
  },
});

const NO_WORKSPACE = { description: 'The host does not serve this folder' };

export const checkPolicy = defineRoute({
  id: 'checkPolicy',
  method: 'post',
  path: '/v1/policy/check',
  summary: 'Whether the examples of a registry hold: of the one in force, or of the one that is sent',
  scope: 'call',
  isHostWide: true,
  isOfWorkspace: true,
  body: checkBodySchema,
  answers: { 200: { description: 'Every example', schema: policyCheckSchema }, 403: NO_WORKSPACE },
  async handle({ host, principal, body: { registry, workspace } }) {
    const { policy } = host.workspaceFor(principal, workspace).runtime;
    const text = registry === undefined ? {} : { registry: { text: registry, file: SENT } };
    return { status: 200, json: await policy.check(text) };
  },
});

export const simulatePolicy = defineRoute({
  id: 'simulatePolicy',
  method: 'post',
  path: '/v1/policy/simulate',
  summary: 'Every recorded call, judged again under the registry that is sent',
  description: 'Shows calls of all clients, with redacted arguments, so it needs the scope admin.',
  scope: 'admin',
  isHostWide: true,
  body: simulateBodySchema,
  answers: { 200: { description: 'What changes', schema: simulationSchema }, 403: NO_WORKSPACE },
  async handle({ host, principal, body: { registry, since, workspace } }) {
    const { policy } = host.workspaceFor(principal, workspace).runtime;
    const from = since === undefined ? {} : { since };
    return { status: 200, json: await policy.simulate({ registry: { text: registry, file: SENT }, ...from }) };
  },
});

export const suggestPolicy = defineRoute({
  id: 'suggestPolicy',
  method: 'post',
  path: '/v1/policy/suggest',
  summary: 'The narrowest registry that would have allowed what was recorded and approved',
  description: 'It spells out paths, commands and hosts of all clients, so it needs the scope admin.',
  scope: 'admin',
  isHostWide: true,
  body: suggestBodySchema,
  answers: { 200: { description: 'A registry', schema: suggestionSchema }, 403: NO_WORKSPACE },
  async handle({ host, principal, body: { since, workspace } }) {
    const { policy } = host.workspaceFor(principal, workspace).runtime;
    return { status: 200, json: await policy.suggest(since === undefined ? {} : { since }) };
  },
});

export const diffPolicy = defineRoute({
  id: 'diffPolicy',
  method: 'post',
  path: '/v1/policy/diff',
  summary: 'What two registries answer differently: tools, paths, commands, hosts, rules and settings',
  scope: 'call',
  isHostWide: true,
  isOfWorkspace: true,
  body: diffBodySchema,
  answers: { 200: { description: 'What changes from a to b', schema: policyDiffSchema }, 403: NO_WORKSPACE },
  async handle({ host, principal, body: { a, b, workspace } }) {
    const { policy } = host.workspaceFor(principal, workspace).runtime;
    return { status: 200, json: await policy.diff({ text: a, file: 'a' }, { text: b, file: 'b' }) };
  },
});

function boundToken(): ToolError {
  return new ToolError('E_POLICY', 'A session token cannot ask about other registries', {
    details: { gate: 'auth', reason: 'session_token', next: 'use the token of the host, or leave registry out' },
  });
}
