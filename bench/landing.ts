/**
 * `npm run landing`: real changes of five packages as edit requests, spoilt the way models spoil them, placed by our
 * tools and by others. Prints the tables of docs/edits.md. Ends with 1 when ours lands one wrong or too few right.
 */
import { landings, SPOILS } from './landing/cases.ts';
import { OURS, PEERS } from './landing/matchers.ts';
import { score } from './landing/score.ts';
import { fetchPairs } from './landing/sources.ts';

const LEAST_SHARE = 0.97;

const requests = landings(fetchPairs());
const percent = (part: number, of: number): string => (of === 0 ? '–' : `${((100 * part) / of).toFixed(1)} %`);

console.log(`${requests.length} requests\n`);
console.log(
  '| matcher | requests | right | marred | refused | wrong | right of placeable |\n|---|---|---|---|---|---|---|',
);
let isGood = true;
for (const matcher of [...OURS, ...PEERS]) {
  const { right, marred, refused, wrong, placeable, placed, mistakes, misses } = score(matcher, requests);
  const share = percent(placed, placeable);
  console.log(
    `| ${matcher.name} | ${right + marred + refused + wrong} | ${right} | ${marred} | ${refused} | ${wrong} | ${share} |`,
  );
  if (!OURS.includes(matcher)) continue;
  isGood &&= wrong + marred === 0 && placed >= LEAST_SHARE * placeable;
  for (const mistake of mistakes.slice(0, 10)) console.error(`wrong: ${matcher.name}: ${mistake}`);
  if (placed < LEAST_SHARE * placeable)
    for (const miss of misses.slice(0, 10)) console.error(`missed: ${matcher.name}: ${miss}`);
}

console.log(`\n| spoil | requests | placeable | ${OURS.map(({ name }) => `${name}: right, wrong`).join(' | ')} |`);
console.log(`|---|---|---|${OURS.map(() => '---|').join('')}`);
for (const spoil of Object.keys(SPOILS)) {
  const these = requests.filter((request) => request.spoil === spoil);
  const cells = OURS.map((matcher) => score(matcher, these)).map(({ right, wrong }) => `${right}, ${wrong}`);
  const placeable = these.filter((request) => request.placeable.edit).length;
  console.log(`| ${spoil} | ${these.length} | ${placeable} | ${cells.join(' | ')} |`);
}
process.exitCode = isGood ? 0 : 1;
