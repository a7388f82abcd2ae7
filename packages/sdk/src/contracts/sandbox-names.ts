/** Names that `sandbox` in a registry knows: toolchains, and package managers with the variables that move their caches. */

export const TOOLCHAIN_NAMES = [
  ...['rust', 'nvm', 'fnm', 'volta', 'bun', 'deno', 'venv', 'pyenv', 'uv', 'conda'],
  ...['go', 'java', 'sdkman', 'rbenv', 'rvm'],
] as const;

export type ToolchainName = (typeof TOOLCHAIN_NAMES)[number];

/** Name → variable → folder below the cache of that name. */
export const PACKAGE_CACHES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  npm: { npm_config_cache: '.' },
  pnpm: { pnpm_config_store_dir: '.' },
  yarn: { YARN_CACHE_FOLDER: 'cache', YARN_GLOBAL_FOLDER: 'global' },
  bun: { BUN_INSTALL_CACHE_DIR: '.' },
  deno: { DENO_DIR: '.' },
  pip: { PIP_CACHE_DIR: '.' },
  uv: { UV_CACHE_DIR: '.' },
  cargo: { CARGO_HOME: '.' },
  go: { GOCACHE: 'build', GOMODCACHE: 'modules' },
  gradle: { GRADLE_USER_HOME: '.' },
  composer: { COMPOSER_CACHE_DIR: '.' },
  xdg: { XDG_CACHE_HOME: '.' },
};
