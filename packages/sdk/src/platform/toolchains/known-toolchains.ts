/**
 * Toolchains that people install below their home folder: how each is found, what of it is shown to commands, and where
 * its programs are.
 *
 * `$NAME` at the beginning of a path stands for the folder that the variable of that name gives, or its default. What
 * holds settings or credentials of a person is not listed.
 */
import type { ToolchainName } from '../../contracts/sandbox-names.ts';

export interface KnownToolchain {
  readonly name: ToolchainName;
  /** Variable → where it points by default, first that exists; absolute or from `~/`. */
  readonly roots: Readonly<Record<string, readonly string[]>>;
  /** One of these must be there, or the toolchain is not. */
  readonly needs: readonly string[];
  readonly show: readonly string[];
  readonly path: readonly string[];
  /** Variables that its programs need when the folder is not the default. */
  readonly pass?: readonly string[];
  /** The name of one of many versions, found in a file of this path. */
  readonly version?: { readonly file: string; readonly folder: string };
}

export const KNOWN_TOOLCHAINS: readonly KnownToolchain[] = [
  {
    name: 'rust',
    roots: { CARGO_HOME: ['~/.cargo'], RUSTUP_HOME: ['~/.rustup'] },
    needs: ['$CARGO_HOME/bin/cargo'],
    show: ['$CARGO_HOME/bin', '$RUSTUP_HOME'],
    path: ['$CARGO_HOME/bin'],
    pass: ['RUSTUP_HOME'],
  },
  {
    name: 'nvm',
    roots: { NVM_DIR: ['~/.nvm', '~/.config/nvm'] },
    needs: ['$NVM_DIR/versions/node'],
    show: ['$NVM_DIR/versions'],
    path: ['$VERSION/bin'],
    version: { file: '$NVM_DIR/alias/default', folder: '$NVM_DIR/versions/node' },
  },
  {
    name: 'fnm',
    roots: { FNM_DIR: ['~/.local/share/fnm', '~/.fnm'] },
    needs: ['$FNM_DIR/node-versions'],
    show: ['$FNM_DIR/node-versions', '$FNM_DIR/aliases'],
    path: ['$FNM_DIR/aliases/default/bin'],
  },
  {
    name: 'volta',
    roots: { VOLTA_HOME: ['~/.volta'] },
    needs: ['$VOLTA_HOME/bin'],
    show: ['$VOLTA_HOME/bin', '$VOLTA_HOME/tools'],
    path: ['$VOLTA_HOME/bin'],
    pass: ['VOLTA_HOME'],
  },
  {
    name: 'bun',
    roots: { BUN_INSTALL: ['~/.bun'] },
    needs: ['$BUN_INSTALL/bin/bun'],
    show: ['$BUN_INSTALL/bin'],
    path: ['$BUN_INSTALL/bin'],
  },
  {
    name: 'deno',
    roots: { DENO_INSTALL: ['~/.deno'] },
    needs: ['$DENO_INSTALL/bin/deno'],
    show: ['$DENO_INSTALL/bin'],
    path: ['$DENO_INSTALL/bin'],
  },
  {
    name: 'venv',
    roots: { VIRTUAL_ENV: [] },
    needs: ['$VIRTUAL_ENV/pyvenv.cfg'],
    show: ['$VIRTUAL_ENV'],
    path: ['$VIRTUAL_ENV/bin'],
  },
  {
    name: 'pyenv',
    roots: { PYENV_ROOT: ['~/.pyenv'] },
    needs: ['$PYENV_ROOT/versions'],
    show: ['$PYENV_ROOT'],
    path: ['$PYENV_ROOT/shims', '$PYENV_ROOT/bin'],
    pass: ['PYENV_ROOT'],
  },
  {
    name: 'uv',
    roots: { UV_INSTALL_DIR: ['~/.local/bin'], UV_DATA: ['~/.local/share/uv'] },
    needs: ['$UV_INSTALL_DIR/uv'],
    show: ['$UV_INSTALL_DIR/uv', '$UV_INSTALL_DIR/uvx', '$UV_DATA/python', '$UV_DATA/tools'],
    path: ['$UV_INSTALL_DIR'],
  },
  {
    name: 'conda',
    roots: { CONDA_PREFIX: ['~/miniconda3', '~/miniforge3', '~/mambaforge', '~/anaconda3', '/opt/conda'] },
    needs: ['$CONDA_PREFIX/conda-meta'],
    show: ['$CONDA_PREFIX'],
    path: ['$CONDA_PREFIX/bin'],
  },
  {
    name: 'go',
    roots: { GOROOT: ['/usr/local/go', '~/sdk/go', '~/.local/go'], GOPATH: ['~/go'] },
    needs: ['$GOROOT/bin/go', '$GOPATH/bin'],
    show: ['$GOROOT', '$GOPATH/bin'],
    path: ['$GOROOT/bin', '$GOPATH/bin'],
  },
  {
    name: 'java',
    roots: { JAVA_HOME: [] },
    needs: ['$JAVA_HOME/bin/java'],
    show: ['$JAVA_HOME'],
    path: ['$JAVA_HOME/bin'],
    pass: ['JAVA_HOME'],
  },
  {
    name: 'sdkman',
    roots: { SDKMAN_CANDIDATES_DIR: ['~/.sdkman/candidates'] },
    needs: ['$SDKMAN_CANDIDATES_DIR'],
    show: ['$SDKMAN_CANDIDATES_DIR'],
    path: ['java', 'maven', 'gradle', 'kotlin', 'scala', 'sbt'].map(
      (name) => `$SDKMAN_CANDIDATES_DIR/${name}/current/bin`,
    ),
  },
  {
    name: 'rbenv',
    roots: { RBENV_ROOT: ['~/.rbenv'] },
    needs: ['$RBENV_ROOT/versions'],
    show: ['$RBENV_ROOT'],
    path: ['$RBENV_ROOT/shims', '$RBENV_ROOT/bin'],
    pass: ['RBENV_ROOT'],
  },
  {
    name: 'rvm',
    roots: { rvm_path: ['~/.rvm'] },
    needs: ['$rvm_path/rubies/default/bin/ruby'],
    show: ['$rvm_path/rubies', '$rvm_path/gems'],
    path: ['$rvm_path/rubies/default/bin'],
  },
];
