/** Rust: cargo knows all four steps itself. */
import type { Ecosystem } from '../detected-project.ts';

export const cargo: Ecosystem = {
  name: 'cargo',
  detect(view) {
    const manifest = view.read('Cargo.toml');
    if (manifest === undefined) return undefined;
    const isWorkspace = /^\[workspace[\].]/m.test(manifest);
    const place = view.folder === '' ? '' : ` --manifest-path ${view.folder}/Cargo.toml`;
    const members = isWorkspace ? ' --workspace' : '';
    return {
      languages: ['rust'],
      packageManager: 'cargo',
      commands: {
        build: `cargo build${place}${members}`,
        test: `cargo test${place}${members}`,
        lint: `cargo clippy${place}${members} --all-targets -- -D warnings`,
        fmt: `cargo fmt${place}${isWorkspace ? ' --all' : ''} --check`,
      },
      testGlobs: ['**/tests/**'],
      scripts: ['build', 'check', 'test', 'clippy', 'fmt', 'run', 'doc', 'tree'].map((name) => `cargo ${name}`),
    };
  },
};
