import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { redactArgv, redactCommandLine } from './redact-words.ts';
import { createRedactor } from './redactor.ts';

/** § stands for the secret. */
const LINES: readonly string[] = [
  'tool --token § --verbose',
  'tool --token=§ --verbose',
  'tool --api-key § run',
  'tool --apiKey=§ run',
  'tool -password § run',
  'tool --db-password "§" run',
  'curl -u name:§ https://example.org/',
  'curl -uname:§ https://example.org/',
  'curl --user name:§ https://example.org/',
  "curl -H 'Authorization: Bearer §' https://example.org/",
  'curl -H "X-Api-Key: §" https://example.org/',
  "curl -H'Private-Token: §' https://example.org/",
  'curl --header "Cookie: §" -s https://example.org/',
  'curl -b § https://example.org/',
  'curl https://name:§@example.org/path',
  'curl https://§@example.org/path',
  'curl "https://example.org/path?a=1&access_token=§&b=2"',
  'curl https://example.org/path?api_key=§',
  'wget --header="Authorization: Basic §" https://example.org/',
  'http GET example.org Authorization:§',
  'http -a name:§ example.org',
  'mysql -u root -p§ shop',
  'mysqldump --password=§ shop',
  'sshpass -p § ssh host',
  'docker login -u me -p § registry.example.org',
  'docker run -e API_TOKEN=§ image',
  'redis-cli -a § ping',
  'zip -P § out.zip in',
  'openssl enc -pass pass:§ -in a',
  'API_TOKEN=§ make deploy',
  'env AWS_SECRET_ACCESS_KEY=§ aws s3 ls',
  'mvn -Dgpg.passphrase=§ deploy',
  'git -c http.extraHeader="Authorization: Bearer §" fetch',
  'git clone https://oauth2:§@git.example.org/a/b.git',
  'psql postgres://app:§@db.example.org/shop',
  "sh -c 'curl --token § https://example.org/ && echo done'",
  'bash -c \'sh -c "tool --password §"\'',
  'a | tool --token § && b',
  'sudo -u app tool --client-secret §',
];

describe('a command as it is shown', () => {
  for (const line of LINES) {
    test(`hides the secret and nothing else: ${line}`, () => {
      for (const secret of ['zq8', 'Zq8-canary_value.42', '-begins-with-a-dash', 'a,b%c']) {
        if (line.includes('-p§') && secret.startsWith('-')) continue;
        const shown = redactCommandLine(line.replace('§', () => secret));
        assert.ok(!shown.includes(secret), shown);
        // Quotes around a word that changed may be others.
        assert.equal(shown.replaceAll(/["']/g, ''), line.replace('§', '[redacted]').replaceAll(/["']/g, ''));
      }
    });
  }

  const harmless = [
    'git commit -m "the token: what it means"',
    'npm run build -- --token-file secrets/token.txt',
    'tool --password-stdin --no-auth-cache',
    'mysql -p shop',
    'mysql -u root -h db.example.org',
    'curl -u name https://example.org/a@b?page=2',
    'ls -p folder',
    'mkdir -p a/b',
    'PWD=/srv OLDPWD=/ GIT_AUTHOR_NAME=me make',
    'ssh git@example.org',
    'git clone ssh://git@example.org/a.git',
    'echo "a  b"  \'c d\' e\\ f ; x | y',
    'tool --list-tokens --key name --keys a,b',
    'unterminated "quote',
  ];
  for (const line of harmless) {
    test(`stays as it is: ${line}`, () => assert.equal(redactCommandLine(line), line));
  }

  test('an option in the place of a secret is shown, so that none can be hidden from an approver', () => {
    assert.equal(redactCommandLine('tool --token --delete-everything now'), 'tool --token --delete-everything now');
  });

  test('words are kept apart; any text is passed without an error and without growing much', () => {
    assert.deepEqual(redactArgv(['tool', '--token', 'a b', 'c d']), ['tool', '--token', '[redacted]', 'c d']);
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom('--token', '-u', '-H', 'curl', 'a:b', 'TOKEN=x', '"', "'", '\\'),
    );
    fc.assert(
      fc.property(fc.array(word), (words) => {
        assert.equal(redactArgv(words).length, words.length);
        const line = words.join(' ');
        assert.ok(redactCommandLine(line).length <= line.length * 12 + 12);
      }),
    );
    const long = 'tool "'.repeat(20_000);
    assert.ok(redactCommandLine(long).length >= long.length);
  });

  test('the redactor adds what it knows and the shapes of tokens', () => {
    const redactor = createRedactor({ secrets: ['known-to-all'] });
    assert.equal(redactor.redactCommand(['run', 'known-to-all', '--token', 'x']), 'run [redacted] --token [redacted]');
    assert.equal(redactor.redactCommand(`run ${'ghp_'}${'a1'.repeat(18)}`), 'run [redacted]');
    assert.deepEqual(redactor.redactWords(['run', 'known-to-all']), ['run', '[redacted]']);
  });
});
