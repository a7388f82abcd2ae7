/** The globs of profiles as regular expressions: `**` folders, `*`, `?` and `{a,b}`, on paths with forward slashes. */

/** Matches when any of the globs does; an empty list never matches. */
export function compileGlobs(globs: readonly string[]): RegExp {
  return globs.length === 0 ? /(?!)/ : new RegExp(`^(?:${globs.map(translate).join('|')})$`, 'u');
}

function translate(glob: string): string {
  return glob.replace(/\*\*\/|\*\*|\*|\?|[{},]|[.+^$()|[\]\\]/g, (token) => {
    switch (token) {
      case '**/':
        return '(?:[^/]+/)*';
      case '**':
        return '.*';
      case '*':
        return '[^/]*';
      case '?':
        return '[^/]';
      case '{':
        return '(?:';
      case '}':
        return ')';
      case ',':
        return '|';
      default:
        return `\\${token}`;
    }
  });
}
