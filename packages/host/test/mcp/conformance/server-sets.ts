/** The sets of the suite a server has to pass, against one fixture, one after the other: some of them watch the clock. */
import type { FixtureReport } from '../fixture/serve.ts';
import { runSuite, SUITE, SUITE_2025, type SuiteResult, type SuiteSet } from './run-suite.ts';
import { startFixture } from './start-fixture.ts';

export interface ServerSetsReport {
  readonly results: readonly SuiteResult[];
  readonly journal: FixtureReport;
}

export async function runServerSets(onResult: (result: SuiteResult) => void = () => {}): Promise<ServerSetsReport> {
  const fixture = await startFixture();
  const results: SuiteResult[] = [];
  try {
    for (const set of serverSets(fixture.url)) {
      const result = await runSuite(set);
      results.push(result);
      onResult(result);
    }
  } catch (thrown) {
    await fixture.stop();
    throw thrown;
  }
  return { results, journal: await fixture.stop() };
}

/** Every call that ran is on record, with its end, in a journal that verifies. */
export function journalProblems({ ran, recorded, verified }: FixtureReport): readonly string[] {
  return [
    ...(ran === 0 ? ['journal: no call ran'] : []),
    ...(recorded === ran ? [] : [`journal: ${ran} calls ran, ${recorded} have a result`]),
    ...(verified ? [] : ['journal: it does not verify']),
  ];
}

/**
 * Scenarios that the suite runs for information only, and that hold here; the empty revision is that of the scenario.
 * Left out: `sep-2640-*` (skills are not offered), and `tasks-status-notifications`, which the suite skips itself.
 */
const UNSCORED: readonly (readonly [scenario: string, revision: string])[] = [
  ['json-schema-2020-12', '2025-11-25'],
  ['json-schema-2020-12', '2026-07-28'],
  ['server-sse-polling', '2025-11-25'],
  ['http-custom-header-server-validation', '2026-07-28'],
  ...[
    ...['lifecycle', 'capability-negotiation', 'wire-fields', 'request-state-removal', 'mrtr-input'],
    ...['request-headers', 'dispatch-and-envelope', 'required-task-error', 'mrtr-composition'],
  ].map((name): [string, string] => [`tasks-${name}`, '']),
];

function serverSets(url: string): readonly SuiteSet[] {
  return [
    { name: 'server 2025-11-25', command: [SUITE, 'server', '--url', url, '--requirements', '2025-11-25'] },
    { name: 'server 2026-07-28', command: [SUITE, 'server', '--url', url, '--requirements', '2026-07-28'] },
    { name: 'server, suite 0.1.16', command: [SUITE_2025, 'server', '--url', url] },
    ...UNSCORED.map(([scenario, revision]) => ({
      name: `server, unscored ${scenario} ${revision}`.trim(),
      command: [
        ...[SUITE, 'server', '--url', url, '--scenario', scenario],
        ...(revision === '' ? [] : ['--spec-version', revision]),
      ],
    })),
  ];
}
