/** Constructs that this repository does not use, found in scanned code so that text and comments never count. */
import type { Finding } from './finding.ts';
import type { SourceFile, Tree } from './read-tree.ts';

interface Ban {
  readonly pattern: RegExp;
  readonly what: string;
  readonly next: string;
  /** Only in the shipped sources, not in tests, scripts, examples. */
  readonly shippedOnly?: boolean;
  /** The places where it belongs. */
  readonly onlyIn?: RegExp;
}

/**
 * Folders that the system, git or the runtime fills: processes, descriptors, locks, the state folder, runs, a new
 * workspace; and scratch folders of the conformance suite, where no call waits.
 */
const OWN_FOLDERS =
  /\/platform\/\w+\/(?:process-list|listening-ports|marked-processes|lost-sandboxes|spawner-node|sandbox-etc|sealed-args|sealed-copy|tool-probe-scene|git-state|archive-files|artifact-files|state-folder|directory-entry|mark-files|unfinished-folders|git-writes|git-locks)\.ts$|\/lsp\/process-memory\.ts$|\/cli\/commands\/init\.ts$|\/conformance\/src\/scene\/\w+\.ts$/;

/** Publishes catalogs as a whole: a new envelope is one file and one line. docs/api lists the names. */
const PUBLISHED_CATALOGS = /^packages\/protocol\/src\/index\.ts$/;

const BANS: readonly Ban[] = [
  { pattern: /\bexport\s+default\b/g, what: 'Default export', next: 'Export it by name' },
  {
    pattern: /\bexport\s*(?:type\s*)?\*/g,
    what: 'Star export',
    next: 'Export every name by itself',
    onlyIn: PUBLISHED_CATALOGS,
  },
  {
    pattern: /(?<![.\w$])(?:const\s+)?enum\s+[A-Za-z_$]/g,
    what: 'enum (needs a transform, not only stripping)',
    next: 'Use a const list and the union of its members',
  },
  {
    pattern: /\bnew\s+Error\s*\(/g,
    what: 'Plain Error',
    next: 'Throw a ToolError with a code, or TypeError for a wiring mistake',
    shippedOnly: true,
  },
  {
    pattern: /\b(?:readdirSync|readdir|opendir)\s*\(/g,
    what: 'Whole directory read at once: a large one holds up every other call',
    next: 'Read it with platform/descriptors/directory-reader.ts, which gives others a turn',
    shippedOnly: true,
    onlyIn: OWN_FOLDERS,
  },
];

export function checkForbiddenCode(tree: Tree): Finding[] {
  return tree.sources.flatMap((file) => {
    const shipped = /^packages\/[^/]+\/src\//.test(file.path) && !file.isTest;
    const bans = BANS.filter((ban) => (shipped || ban.shippedOnly !== true) && ban.onlyIn?.test(file.path) !== true);
    const findings = bans.flatMap((ban) =>
      [...file.code.matchAll(ban.pattern)].map((match) => fail(file, match.index, ban.what, ban.next)),
    );
    return shipped ? [...findings, ...findModuleState(file)] : findings;
  });
}

/** `let` and `var` outside every bracket live as long as the process and are seen by all sessions. */
function findModuleState(file: SourceFile): Finding[] {
  const findings: Finding[] = [];
  let depth = 0;
  for (const match of file.code.matchAll(/[{([]|[})\]]|(?<![.\w$])(?:let|var)\s+[\w$[{]/g)) {
    const token = match[0].charAt(0);
    if ('{(['.includes(token)) depth += 1;
    else if ('})]'.includes(token)) depth -= 1;
    else if (depth === 0) {
      findings.push(fail(file, match.index, 'Module-level variable', 'Keep state in what a create… function returns'));
    }
    if (depth >= 0 && /[{[]$/.test(match[0]) && match[0].length > 1) depth += 1;
  }
  return findings;
}

function fail(file: SourceFile, offset: number, what: string, next: string): Finding {
  return { level: 'fail', check: 'forbidden-code', file: file.path, line: file.lineAt(offset), what, next };
}
