/** The route about the fleet that this host is part of. */
import { fleetStateSchema, ToolError } from '@tool-runtime/protocol';
import { defineRoute } from '../route.ts';

export const showFleet = defineRoute({
  id: 'showFleet',
  method: 'get',
  path: '/v1/fleet',
  summary: 'Servers, streams and hosts of the fleet that this host is part of',
  scope: 'audit',
  isHostWide: true,
  answers: {
    200: { description: 'The fleet, as far as this host can tell', schema: fleetStateSchema },
    404: { description: 'The host is in no fleet' },
  },
  async handle({ host }) {
    if (host.fleetState === undefined) throw noFleet();
    return { status: 200, json: await host.fleetState() };
  },
});

function noFleet(): ToolError {
  return new ToolError('E_POLICY', 'This host is in no fleet', {
    details: { reason: 'no_fleet', next: 'start it with serve --fleet FILE' },
  });
}
