/** Routes between the hosts of a fleet, for children that do not work on the host of their parent. */
import { reportChildSchema, takeChildSchema } from '@tool-runtime/protocol';
import { unknownSession } from '../../sessions/refusals.ts';
import { defineRoute, type RouteAnswer } from '../route.ts';

/** The first line of the answer is the grant; the answer stays open as long as the child works. */
export const takeChild = defineRoute({
  id: 'takeChild',
  method: 'post',
  path: '/v1/sessions/{session_id}/elsewhere',
  summary: 'For hosts of the same fleet: take a child that a client opened with `workspace`, to work there',
  description:
    'Answered to a host that vouches for the client that opened the child, and shows the token of the child. One host takes it; ' +
    'under the same `holder` it may come back after a break.',
  scope: 'call',
  body: takeChildSchema,
  answers: {
    200: {
      description:
        'Lines of JSON: the grant, then `{"asked":"end"}` or `{"asked":"cancel"}` when the parent wants its end',
      type: 'application/jsonl',
    },
  },
  async handle({ host, principal, params, body, outgoing }): Promise<RouteAnswer> {
    if (host.childWork === undefined) throw unknownSession();
    const taken = await host.childWork.take(principal, params['session_id'] ?? '', body);
    const write = (line: object): void => void outgoing.write(`${JSON.stringify(line)}\n`);
    outgoing.writeHead(200, { 'content-type': 'application/jsonl', 'cache-control': 'no-store' });
    write(taken.grant);
    const leave = taken.attach(
      (asked) => write({ asked }),
      () => outgoing.end(),
    );
    // Closed while the grant was made: the event has been.
    if (outgoing.closed) leave();
    else outgoing.on('close', leave);
    return 'sent';
  },
});

/** What a child that works on another host used so far, and in the end how it ended. */
export const reportChild = defineRoute({
  id: 'reportChild',
  method: 'post',
  path: '/v1/sessions/{session_id}/elsewhere/report',
  summary: 'For the host that has taken a child: what the child used',
  scope: 'call',
  body: reportChildSchema,
  answers: { 204: { description: 'It counts' } },
  handle({ host, principal, params, body }) {
    if (host.childWork === undefined) throw unknownSession();
    host.childWork.report(principal, params['session_id'] ?? '', body);
    return { status: 204 };
  },
});
