/** Body of the route about the fleet that a host is part of: what operators see of it, as far as this host can tell. */
import { z } from 'zod';

const count = z.int().nonnegative();

export const fleetStateSchema = z
  .strictObject({
    host: z.string().describe('The one that answers'),
    servers: z
      .array(
        z.strictObject({
          name: z.string(),
          version: z.string(),
          address: z.string(),
          pid: count.exactOptional().describe('Of a server on the machine of this host'),
          sync_always: z.boolean().describe('Whether it acknowledges only what is on its disk'),
        }),
      )
      .readonly()
      .describe('Those that answer'),
    streams: z
      .array(
        z.strictObject({
          name: z.string(),
          leader: z.string().exactOptional().describe('Left out: it has none now, or one replica needs none'),
          replicas: count,
          behind: z.array(z.string()).readonly().describe('Replicas that are behind or gone, by their servers'),
          messages: count.exactOptional().describe('Left out: no leader could tell'),
        }),
      )
      .readonly(),
    hosts: z
      .array(
        z.strictObject({
          host: z.string(),
          zone: z.string(),
          version: z.string(),
          pid: count,
          workspaces: z.array(z.string()).readonly().describe('That it serves'),
          held: z.array(z.string()).readonly().describe('That it holds now, by its latest word'),
          unshipped: count.describe('Records that the fleet does not have yet'),
        }),
      )
      .readonly(),
    unread: z.array(z.string()).readonly().describe('Streams that could not be read now'),
  })
  .meta({ id: 'FleetState' });
export type FleetState = Readonly<z.infer<typeof fleetStateSchema>>;
