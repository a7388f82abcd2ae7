import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { describe, test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { createToken } from '../auth/token-digest.ts';
import { createLog, LOG_LEVELS, type LogOptions } from './log.ts';

const TOKEN = createToken();

function openLog(options: Partial<LogOptions> = {}) {
  const written: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      written.push(String(chunk));
      done();
    },
  });
  const log = createLog({ stream, level: 'debug', format: 'json', now: () => 0, ...options });
  return {
    log,
    text: () => written.join(''),
    json: () =>
      written
        .join('')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
  };
}

describe('createLog', () => {
  test('writes time, level, event and fields, one JSON value per line', () => {
    const { log, text } = openLog();
    log.info('host_started', { port: 7777, addresses: ['127.0.0.1'], nothing: undefined, none: null });
    assert.equal(
      text(),
      '{"ts":"1970-01-01T00:00:00.000Z","level":"info","event":"host_started","port":7777,"addresses":["127.0.0.1"],"none":null}\n',
    );
  });

  test('writes text for people', () => {
    const { log, text } = openLog({ format: 'text' });
    log.warn('slow_client', { session: 's-1', reason: 'two words\u001b[31m', bytes: 5, list: ['a b'] });
    assert.equal(
      text(),
      '1970-01-01T00:00:00.000Z WARN  slow_client session=s-1 reason="two words\\u001b[31m" bytes=5 list=["a b"]\n',
    );
  });

  test('leaves out what is below its level', () => {
    for (const [index, level] of LOG_LEVELS.entries()) {
      const { log, json } = openLog({ level });
      for (const one of LOG_LEVELS) log[one]('x');
      assert.deepEqual(
        json().map((entry) => entry.level),
        LOG_LEVELS.slice(index),
      );
    }
    const { log, text } = openLog({ level: 'silent' });
    for (const one of LOG_LEVELS) log[one]('x');
    assert.equal(text(), '');
  });

  test('does not let a field pass for what the log itself says', () => {
    const { log, json } = openLog();
    log.info('real', { event: 'forged', level: 'error', ts: 'never', ['__proto__']: 1 });
    const [entry] = json();
    assert.deepEqual(
      [entry.event, entry.level, entry.field_event, entry.field_level],
      ['real', 'info', 'forged', 'error'],
    );
  });

  test('takes out tokens and whatever stands under the name of a secret, and nothing else', () => {
    const { log, json } = openLog({ redact: (text) => text.replaceAll('hunter2', '[known]') });
    log.info('x', {
      authorization: 'anything',
      headers: { Authorization: ['Bearer a'], Cookie: 'a=b', 'Sec-WebSocket-Protocol': 'x', Accept: '*/*' },
      raw: ['authorization', 'Bearer abc'],
      url: `/v1/ws?token=abc&after=3`,
      protocol: `tool-runtime.v1, bearer.abcdef`,
      message: `got ${TOKEN}, refused`,
      [`key ${TOKEN}`]: 1,
      known: 'password is hunter2 today',
      token_file: '/state/host.token',
      is_token: true,
    });
    const { ts, level, event, ...fields } = json()[0];
    assert.deepEqual(fields, {
      authorization: '[redacted]',
      headers: {
        Authorization: '[redacted]',
        Cookie: '[redacted]',
        'Sec-WebSocket-Protocol': '[redacted]',
        Accept: '*/*',
      },
      raw: ['authorization', 'Bearer [redacted]'],
      url: '/v1/ws?token=[redacted]&after=3',
      protocol: 'tool-runtime.v1, bearer.[redacted]',
      message: 'got [redacted], refused',
      'key [redacted]': 1,
      known: 'password is [known] today',
      token_file: '/state/host.token',
      is_token: true,
    });
  });

  test('describes errors, with their cause', () => {
    const { log, json } = openLog();
    const cause = Object.assign(new RangeError(`bad ${TOKEN}`), { code: 'EIO' });
    log.error('failed', { error: new TypeError('outer', { cause }) });
    log.error('failed', { error: new ToolError('E_POLICY', 'No', { details: { next: 'ask' } }) });
    const [first, second] = json();
    assert.deepEqual([first.error.name, first.error.message, first.error.cause.code], ['TypeError', 'outer', 'EIO']);
    assert.equal(first.error.cause.message, 'bad [redacted]');
    assert.match(first.error.stack, /log\.test/);
    const details = { next: 'ask', kind: 'policy_denial', retry: 'not_retryable' };
    assert.deepEqual(second.error, { code: 'E_POLICY', message: 'No', details });
  });

  test('never throws, whatever it is given', () => {
    const { log, json } = openLog();
    const circular: Record<string, unknown> = { a: 1 };
    circular['self'] = circular;
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const hostile = {
      get boom() {
        throw new TypeError('no');
      },
    };
    log.info('x', {
      circular,
      proxy,
      hostile,
      bytes: Buffer.from(TOKEN),
      big: 10n,
      symbol: Symbol('s'),
      nan: Number.NaN,
      date: new Date(Number.NaN),
      map: new Map([['a', new Set([1])]]),
      func: () => 1,
      lone: '\ud800',
    });
    const [entry] = json();
    assert.deepEqual([entry.proxy, entry.hostile], ['[unreadable]', '[unreadable]']);
    assert.deepEqual([entry.big, entry.nan, entry.date, entry.map], ['10', 'NaN', 'null', { a: [1] }]);
    assert.equal(entry.bytes, `[${TOKEN.length} bytes]`);
    log.info('y', hostile);
    log.info('z');
    assert.deepEqual(
      json().map(({ event }) => event),
      ['x', 'log_dropped', 'z'],
    );
  });

  test('writes exactly one bounded line without secrets and control characters for anything (deep)', () => {
    const noise = fc.string({ unit: 'binary', maxLength: 60 });
    const secret = fc.tuple(noise, noise).map(([before, after]) => `${before}${TOKEN}${after}`);
    const leaf = fc.oneof(
      noise,
      secret,
      fc.integer(),
      fc.constantFrom(null, undefined, true, '\r\n', '\u2028', '\u009b31m'),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('value')),
        fc.dictionary(fc.oneof(noise, secret), tie('value')),
      ),
    }));
    fc.assert(
      fc.property(
        fc.oneof(noise, secret),
        fc.dictionary(fc.oneof(noise, secret), value),
        fc.constantFrom('json' as const, 'text' as const),
        (event, fields, format) => {
          const { log, text } = openLog({ format });
          log.info(event, fields);
          assert.match(text(), /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]*\n$/);
          assert.ok(!text().includes(TOKEN.slice(0, 12)));
          assert.ok(text().length <= 64 * 1024 + 1);
          if (format === 'json') JSON.parse(text());
        },
      ),
      { numRuns: 500 },
    );
  });

  test('bounds what is long, wide and deep, and leaves no half of a token where it cuts', () => {
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, '\u0001'.repeat(5000)]));
    const deep = Array.from({ length: 1000 }).reduce<unknown>((inner) => ({ inner, more: Array(1000).fill(inner) }), 1);
    for (const format of ['json', 'text'] as const) {
      const { log, text } = openLog({ format });
      log.info('x'.repeat(100_000), { wide, deep, ...wide });
      assert.ok(text().length <= 64 * 1024 + 1);
    }
    for (let offset = 0; offset < 60; offset += 1) {
      const { log, text } = openLog({ redact: (value) => value.replaceAll(/s3cr3t-[a-z]{20}/g, '[known]') });
      const secret = `s3cr3t-${'x'.repeat(20)}`;
      const short = `${'y'.repeat(2048 - offset)}${secret}${TOKEN}`;
      const long = `${`${secret} `.repeat(584)}${' '.repeat(offset)}${secret}`;
      log.info('x', { short, long });
      assert.ok(!text().includes('s3cr3t') && !text().includes('trt_'), `at ${offset}`);
    }
  });

  test('drops and counts while the reader is slow, and says so when it is back', async () => {
    const stream = new PassThrough({ highWaterMark: 1024 });
    const { log } = openLog({ stream });
    for (let index = 0; index < 5000; index += 1) log.info('x', { text: 'y'.repeat(1000) });
    assert.ok(log.dropped > 4000);
    assert.ok(stream.writableLength < 300 * 1024);
    const lost = log.dropped;
    const chunks: string[] = [];
    stream.on('data', (chunk) => chunks.push(String(chunk)));
    await once(stream, 'drain');
    log.info('back');
    await new Promise(setImmediate);
    const entries = chunks
      .join('')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      entries.slice(-2).map(({ event, count }) => [event, count]),
      [
        ['log_dropped', lost],
        ['back', undefined],
      ],
    );
    assert.equal(log.dropped, lost);
  });

  test('outlives a real reader that stands still, and one that leaves', async () => {
    const script = `import { createLog } from ${JSON.stringify(join(import.meta.dirname, 'log.ts'))};
      const log = createLog({ stream: process.stderr, level: 'info', format: 'json' });
      let beats = 0;
      const timer = setInterval(() => {
        for (let index = 0; index < 100; index += 1) log.info('x', { text: 'y'.repeat(1000) });
        beats += 1;
        if (beats === 30) console.log(JSON.stringify({ waiting: process.stderr.writableLength, dropped: log.dropped }));
      }, 1);
      process.stdin.on('end', () => { clearInterval(timer); log.info('end'); console.log('alive'); }).resume();`;
    const child = spawn(process.execPath, ['-C', 'tool-runtime-source', '--input-type=module', '-e', script]);
    const [first] = (await once(child.stdout, 'data')) as [Buffer];
    const { waiting, dropped } = JSON.parse(first.toString());
    assert.ok(waiting < 300 * 1024 && dropped > 0);
    child.stderr.destroy();
    child.stdin.end();
    const [second] = (await once(child.stdout, 'data')) as [Buffer];
    assert.equal(second.toString(), 'alive\n');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
});
