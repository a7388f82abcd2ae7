import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pin, ToolPins } from './pin-file.ts';
import { quarantineReason } from './quarantine.ts';

const approved: Pin = { digest: 'sha256:a', definition: { name: 'work', inputSchema: { type: 'object' } } };
const pending: Pin = { ...approved, digest: 'sha256:b' };

/** `digest`: of what sessions are shown. */
function reasonOf(pin: ToolPins | undefined, digest: string | undefined = approved.digest): unknown {
  const subject = { server: 's', tool: 'work', name: 's_work', digest };
  const tools = pin === undefined ? {} : { work: pin };
  return quarantineReason(subject, { tools })?.details['reason'];
}

describe('a foreign tool', () => {
  test('is used while what was approved is what is shown and nothing else was seen', () => {
    assert.equal(reasonOf({ approved }), undefined);
  });

  test('is not used without an approval, whatever waits for one', () => {
    assert.equal(reasonOf(undefined), 'definition_unapproved');
    assert.equal(reasonOf({}), 'definition_unapproved');
    assert.equal(reasonOf({ pending }), 'definition_unapproved');
  });

  test('is not used once another definition was seen, or the old one is out of bounds', () => {
    assert.equal(reasonOf({ approved, pending }), 'definition_changed');
    assert.equal(reasonOf({ approved, refused: 'too large' }), 'definition_refused');
  });

  test('is not used where another definition is shown than the one that is approved now', () => {
    assert.equal(reasonOf({ approved: pending }), 'definition_changed');
    assert.equal(reasonOf({ approved: pending }, pending.digest), undefined);
    const subject = { server: 's', tool: 'work', name: 's_work', digest: undefined };
    assert.ok(quarantineReason(subject, { tools: { work: { approved } } }));
  });
});
