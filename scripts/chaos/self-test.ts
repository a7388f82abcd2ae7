/**
 * Whether the oracles see: each is shown something right, which it must pass, and the same thing broken in one place, which
 * it must find. A run without violations is worth as much as this.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as cases from './self-test/catalog.ts';
import { TimeLine } from './time-line.ts';
import { Violations } from './violations.ts';

/** Builds something and lets an oracle judge it. `broken`: with the one thing wrong that it must find. */
export interface OracleCase {
  readonly name: string;
  /** What the violation must say. */
  readonly finds: RegExp;
  judge(place: CasePlace, broken: boolean): void | Promise<void>;
}

export interface CasePlace {
  readonly folder: string;
  readonly violations: Violations;
  write(name: string, text: string): void;
}

/** Answers what is wrong with the oracles; nothing, when all is well. */
export async function testOracles(): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const each of Object.values(cases).flat()) {
    const [right, wrong] = [await judge(each, false), await judge(each, true)];
    if (right.length > 0) failures.push(`${each.name}: finds something where nothing is: ${right}`);
    if (!wrong.some((text) => each.finds.test(text))) failures.push(`${each.name}: does not find it: ${wrong}`);
  }
  return failures;
}

export function caseNames(): readonly string[] {
  return Object.values(cases)
    .flat()
    .map(({ name }) => name);
}

async function judge(each: OracleCase, isBroken: boolean): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-chaos-case-'));
  const violations = new Violations(new TimeLine());
  const write = (name: string, text: string): void => {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  try {
    await each.judge({ folder, violations, write }, isBroken);
    return violations.first;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
