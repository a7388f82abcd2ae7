/**
 * A file or folder of this package that is read at run time, such as `grammars/`. Found by the name of the package: the
 * code may run as source, from the bundle of this package, or from the bundle of the command.
 */
export function inPackage(name: string): URL {
  return new URL(name, import.meta.resolve('@tool-runtime/ast/package.json'));
}
