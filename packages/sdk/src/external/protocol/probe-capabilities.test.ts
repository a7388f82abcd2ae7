/** How a tool is asked, seen from the side of the sandbox: the process itself is a stand-in that does what it is told. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ExternalToolSettings } from '../../contracts/external.ts';
import type { ExternalEnd, ExternalPrograms, ExternalStart } from '../../platform/commands/external-process.ts';
import { parseCapabilities, probeCapabilities } from './probe-capabilities.ts';
import { EXTERNAL_LIMITS } from './protocol-constants.ts';

const ANSWER = Buffer.from(JSON.stringify({ name: 'scan', version: '2', network: true }));
const ENDED: ExternalEnd = { code: 0, signal: null, networkEnforced: true, quarantined: [] };

function probe(run: (start: ExternalStart) => void) {
  const programs: ExternalPrograms = {
    async run(start) {
      run(start);
      return ENDED;
    },
    close: async () => {},
  };
  const settings = {
    name: 'scan',
    profile: 'neutral',
    interpreter: [],
    secrets: ['TOKEN'],
    network: true,
    writable: true,
  } as unknown as ExternalToolSettings;
  return probeCapabilities({
    settings,
    host: { TOKEN: 'secret' },
    wrapperVersion: '0',
    sealed: { folder: '/f', program: '/f/p' },
    programs,
    signal: new AbortController().signal,
  });
}

describe('asking a tool what it can do', () => {
  test('gives it neither network, workspace nor secrets, also where its runs have them [S4-34]', async () => {
    let seen: ExternalStart | undefined;
    const { capabilities } = await probe((start) => {
      seen = start;
      start.onOutput('stderr', Buffer.from('noise'));
      start.onOutput('stdout', ANSWER);
    });
    assert.equal(capabilities?.version, '2');
    assert.deepEqual([seen?.network, seen?.writable, seen?.runFolder], [false, false, undefined]);
    const environment = seen?.environment({ home: '/h', temporary: '/t' }, { enforcesNetwork: true });
    assert.equal(environment?.['TOKEN'], undefined);
  });

  test('ends it as soon as it says more than an answer may hold [S4-34]', async () => {
    let isEnded: boolean | undefined;
    const flood = (bytes: number) =>
      probe(({ onOutput, signal }) => {
        onOutput('stdout', Buffer.alloc(bytes, ' '));
        onOutput('stdout', ANSWER);
        isEnded = signal.aborted;
      });
    assert.match((await flood(EXTERNAL_LIMITS.capabilitiesBytes)).problem ?? '', /more than/);
    assert.equal(isEnded, true);
    assert.equal((await flood(EXTERNAL_LIMITS.capabilitiesBytes - ANSWER.length)).problem, undefined);
    assert.equal(isEnded, false);
  });
});

const read = (value: unknown) => parseCapabilities(Buffer.from(JSON.stringify(value)), 'scan');

describe('capabilities', () => {
  test('are read with all their fields [S4-33]', () => {
    const all = {
      name: 'scan',
      version: '1.0.0',
      protocol_version: 1,
      description: 'd',
      requires_pack: false,
      network: true,
      requires_tools: ['other'],
      requires_outputs: ['other/outputs/x'],
      publisher: 'p',
      repo: 'r',
      signing_identity: 's',
      commands: ['run'],
    };
    assert.deepEqual(read(all), all);
    assert.deepEqual(read({ ...all, unknown: 1 }), all);
  });

  test('need a pack and no network unless they say so [S4-33]', () => {
    assert.deepEqual(read({ name: 'scan', requires_tools: null }), {
      name: 'scan',
      version: '',
      protocol_version: 1,
      requires_pack: true,
      network: false,
      requires_tools: [],
      requires_outputs: [],
    });
  });

  const rows: readonly [string, unknown, string][] = [
    ['of another tool [S4-35]', { name: 'other' }, 'other_tool'],
    ['of no tool [S4-35]', { version: '1' }, 'invalid_capabilities'],
    ['of a later protocol [S4-35]', { name: 'scan', protocol_version: 2 }, 'protocol_version'],
    ['of no protocol [S4-35]', { name: 'scan', protocol_version: 0 }, 'protocol_version'],
    ['with a wrong type [S4-33]', { name: 'scan', network: 'yes' }, 'invalid_capabilities'],
    ['that are a list [S4-34]', [], 'not_an_object'],
  ];
  for (const [name, value, reason] of rows) {
    test(`${name} are refused`, () => {
      assert.throws(
        () => read(value),
        (thrown: { details?: { reason?: string } }) => thrown.details?.reason === reason,
      );
    });
  }

  test('of more than 64 KiB are refused [S4-34]', () => {
    assert.throws(() => read({ name: 'scan', description: 'd'.repeat(65_536) }), /larger than/);
    assert.ok(read({ name: 'scan', description: 'd'.repeat(60_000) }));
  });
});
