import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError, type JsonObject } from '@tool-runtime/protocol';
import { baseEnvironment, judgeEnvironment, MAX_ENVIRONMENT_BYTES, MAX_VALUE_BYTES } from './environment.ts';

function refusal(given: Record<string, string>, allowed: readonly string[] = []): JsonObject {
  try {
    judgeEnvironment(given, allowed);
  } catch (thrown) {
    assert.ok(isToolError(thrown), String(thrown));
    assert.equal(thrown.code, 'E_POLICY');
    return { ...thrown.details, message: thrown.message };
  }
  return { reason: 'allowed' };
}

const REFUSED =
  'LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES NODE_OPTIONS NODE_PATH BASH_ENV ENV SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND IFS PATH HOME SHELL GIT_SSH_COMMAND GIT_CONFIG_COUNT GIT_DIR npm_config_script_shell NPM_CONFIG_PREFIX RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTDOC CARGO_HOME CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER CARGO_BUILD_RUSTC HTTP_PROXY https_proxy ALL_PROXY no_proxy PYTHONPATH PYTHONSTARTUP PYTHONHOME PERL5OPT PERL5LIB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH RIPGREP_CONFIG_PATH EDITOR VISUAL GIT_EDITOR PAGER MANPAGER LESSOPEN GCONV_PATH LOCPATH MALLOC_CHECK_ TMPDIR GLIBC_TUNABLES MAKEFLAGS CC TAR_OPTIONS DOTNET_STARTUP_HOOKS LUA_INIT YARN_RC_FILENAME SSL_CERT_FILE XDG_CONFIG_HOME SSH_AUTH_SOCK GOPROXY GOTOOLCHAIN DOCKER_HOST KUBECONFIG Path ld_preload'.split(
    ' ',
  );

describe('judgeEnvironment', () => {
  for (const name of REFUSED) {
    test(`refuses ${name} and says why [S0-36]`, () => {
      const refused = refusal({ [name]: 'secret-value' });
      assert.equal(refused['reason'], 'refused_variable');
      assert.equal(refused['variable'], name);
      assert.equal(refused['rule'], 'sec.shell.allowlist');
      assert.match(String(refused['message']), new RegExp(`^Variable not allowed, it [a-z].*: ${name}$`));
      assert.doesNotMatch(JSON.stringify(refused), /secret-value/);
    });
  }

  test('takes ordinary names, in both cases [S0-36]', () => {
    judgeEnvironment({});
    judgeEnvironment({
      CI: '1',
      NODE_ENV: 'test',
      RUST_BACKTRACE: '1',
      RUST_LOG: 'debug',
      CARGO_TERM_COLOR: 'never',
      PYTHONUNBUFFERED: '1',
      FORCE_COLOR: '0',
      LANG: 'C',
      TZ: 'UTC',
      DATABASE_URL: 'sqlite:x',
      my_setting: 'line one\nline two',
      _x9: '',
      MYPATH: 'x',
      HOMEPAGE: 'x',
      PATHS: 'x',
      XLD_PRELOAD: 'x',
    });
  });

  test('takes what the operator allows, and nothing that reaches the sandbox itself [S0-36]', () => {
    const allowed = ['PYTHONPATH', 'NODE_*', 'RUSTFLAGS', 'LD_*', 'PATH', 'HOME', 'BASH_ENV', 'HTTPS_PROXY'];
    judgeEnvironment({ PYTHONPATH: 'src', NODE_OPTIONS: '--require ./x.js', RUSTFLAGS: '-Cdebuginfo=0' }, allowed);
    for (const name of ['LD_PRELOAD', 'PATH', 'HOME', 'BASH_ENV', 'HTTPS_PROXY', 'ld_preload', 'PYTHONSTARTUP']) {
      assert.equal(refusal({ [name]: 'x' }, allowed)['reason'], 'refused_variable', name);
    }
    assert.match(String(refusal({ LD_PRELOAD: 'x' })['next']), /no registry can allow it/);
    assert.match(String(refusal({ PYTHONPATH: 'x' })['next']), /sandbox: \{ env: \[PYTHONPATH\] \}/);
  });

  test('takes options of node that only set limits or change what is printed [S0-36]', () => {
    judgeEnvironment({ NODE_OPTIONS: '--max-old-space-size=4096 --no-warnings' });
    for (const value of ['--require ./x.js', '-r x', '--max-old-space-size=1 --import=x', '--no-warnings=x;y', 'x']) {
      assert.equal(refusal({ NODE_OPTIONS: value })['reason'], 'refused_variable', value);
    }
  });

  test('takes RUSTFLAGS empty, as in the example of the specification, and not filled [S0-36]', () => {
    judgeEnvironment({ RUSTFLAGS: '', CFLAGS: '' });
    assert.equal(refusal({ RUSTFLAGS: '-Clinker=x' })['reason'], 'variable_not_empty');
    assert.equal(refusal({ rustflags: 'x' })['reason'], 'variable_not_empty');
  });

  for (const name of ['', '1A', 'A-B', 'A B', 'A=B', 'BASH_FUNC_x%%', 'A\u0000', 'Ä', 'A\n']) {
    test(`refuses the name ${JSON.stringify(name)} [S0-36]`, () => {
      assert.equal(refusal({ [name]: 'x' })['reason'], 'variable_name');
    });
  }

  test('judges an own __proto__ like any name and is not fooled by inherited ones [S0-36]', () => {
    judgeEnvironment(JSON.parse('{"__proto__":"x"}'));
    judgeEnvironment(Object.create({ LD_PRELOAD: 'x' }));
    assert.equal(refusal(JSON.parse('{"__proto__":"a\\u0000"}'))['reason'], 'variable_value');
  });

  test('refuses values no environment can hold [S0-36]', () => {
    assert.equal(refusal({ A: 'a\u0000b' })['reason'], 'variable_value');
    assert.equal(refusal({ A: 'a\ud800' })['reason'], 'variable_value');
    judgeEnvironment({ A: 'a b\t$(c) 😀' });
  });

  test('limits one value and all together [S0-36]', () => {
    judgeEnvironment({ A: 'x'.repeat(MAX_VALUE_BYTES) });
    assert.equal(refusal({ A: 'x'.repeat(MAX_VALUE_BYTES + 1) })['reason'], 'variable_too_long');
    assert.equal(refusal({ A: 'é'.repeat(MAX_VALUE_BYTES / 2 + 1) })['reason'], 'variable_too_long');
    const four = Object.fromEntries(
      ['A', 'B', 'C', 'D'].map((name) => [name, 'x'.repeat(MAX_ENVIRONMENT_BYTES / 4 - 3)]),
    );
    judgeEnvironment(four);
    assert.deepEqual(
      [refusal({ ...four, E: '' })['reason'], refusal({ ...four, E: '' })['variable']],
      ['environment_too_large', 'E'],
    );
  });
});

describe('baseEnvironment', () => {
  const places = { home: '/private/empty', temporary: '/private/tmp' };

  test('starts from nothing: of the host only the language survives [S0-36]', () => {
    const host = {
      PATH: '/evil',
      HOME: '/root-of-host',
      AWS_SECRET_ACCESS_KEY: 's',
      LD_PRELOAD: 'x',
      LANG: 'de_DE.UTF-8',
      TERM: 'xterm',
    };
    assert.deepEqual(baseEnvironment(host, places), {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: '/private/empty',
      TMPDIR: '/private/tmp',
      LANG: 'de_DE.UTF-8',
      TERM: 'dumb',
    });
  });

  test('falls back to a plain language where the host names none or a path [S0-36]', () => {
    assert.equal(baseEnvironment({}, places)['LANG'], 'C.UTF-8');
    assert.equal(baseEnvironment({ LANG: '../x' }, places)['LANG'], 'C.UTF-8');
    assert.equal(baseEnvironment({ LC_ALL: 'C' }, places)['LC_ALL'], 'C');
    assert.equal('LC_ALL' in baseEnvironment({ LC_ALL: '/x' }, places), false);
  });
});
