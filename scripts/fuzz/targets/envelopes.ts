/** Messages of the protocol: parseClientMessage and parseServerMessage on any text. */
import assert from 'node:assert/strict';
import {
  DEFAULT_MAX_DEPTH,
  errorMessageSchema,
  isToolError,
  type ParsedMessage,
  parseClientMessage,
  parseServerMessage,
  scanJson,
} from '@tool-runtime/protocol';
import { SAMPLES } from '../../../packages/protocol/test/sample-messages.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { oddJson } from '../json/odd-json.ts';
import { isPlainJson, type JsonFacts, readJsonFacts } from '../json/reference-json.ts';

const MAX_MESSAGE_LENGTH = 3_000;

export const envelopes: FuzzTarget = {
  name: 'envelopes',
  holds: 'a text is a message that reads the same written out again, or refused with a good ErrorMessage',
  maxBytes: 64 * 1024,
  tokens: [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\u0000',
    '\\ud800',
    '"__proto__":',
    '"type":',
    '"request_id":',
    '"args":{}',
  ].concat(
    Object.keys(SAMPLES).map((name) => `"type":"${name}"`),
    ['1e999', '-0', 'null', '\ufeff', '\u2028', '\ud83d\ude00'],
  ),
  inputs: oddJson(Object.values(SAMPLES)),
  open: () => ({
    check(input) {
      const text = input.toString('utf8');
      const facts = readJsonFacts(text);
      checkScan(text, facts);
      const parsed = [judge(parseClientMessage, text, facts), judge(parseServerMessage, text, facts)];
      return parsed.join(' / ');
    },
    measure: (input) => void parseClientMessage(input.toString('utf8')),
  }),
};

/** The scanner and the slow reading agree about every text. */
function checkScan(text: string, facts: JsonFacts | undefined): void {
  let reason: unknown;
  try {
    scanJson(text);
  } catch (thrown) {
    assert.ok(isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL', `scanJson threw ${String(thrown)}`);
    reason = thrown.details['reason'];
    assert.equal(typeof thrown.details['offset'], 'number');
  }
  assert.equal(reason === undefined, isPlainJson(facts, DEFAULT_MAX_DEPTH), `scanJson says ${String(reason)}`);
  if (reason === 'syntax') assert.equal(facts, undefined, 'called no JSON what is JSON');
}

type Parse = (text: string) => ParsedMessage<object>;

function judge(parse: Parse, text: string, facts: JsonFacts | undefined): string {
  const parsed = parse(text);
  if (parsed.ok) {
    assert.ok(isPlainJson(facts, DEFAULT_MAX_DEPTH), 'took what is no plain JSON');
    assert.deepEqual(parsed.message, facts.value, 'the message is not what was written');
    // By text, because JSON has no way to write a negative zero.
    const again = parse(JSON.stringify(parsed.message));
    assert.equal(JSON.stringify(again), JSON.stringify(parsed), 'written out it reads differently');
    return (parsed.message as { type: string }).type;
  }
  const { error } = parsed;
  assert.ok(errorMessageSchema.safeParse(error).success, `not a good ErrorMessage: ${JSON.stringify(error)}`);
  assert.notEqual(error.code, 'E_INTERNAL', 'no text may make the parser fail');
  assert.ok(error.message.length < MAX_MESSAGE_LENGTH, 'the refusal is longer than it helps');
  checkAddressee(error.request_id, facts);
  return `${error.code} ${String(error.details?.['reason'])}`;
}

/** Sent to another request, the refusal would settle that call. */
function checkAddressee(requestId: string | null, facts: JsonFacts | undefined): void {
  if (requestId === null || facts === undefined) return;
  const { value, outerKeys } = facts;
  assert.deepEqual(
    outerKeys.filter((key) => key === 'request_id'),
    ['request_id'],
    'no id that is beyond doubt',
  );
  assert.equal(requestId, (value as Record<string, unknown>)['request_id']);
}
