/** Sessions and their children: what each was allowed, what was stripped, what it used, and how it ended. */
import type { FamilyMember, SessionInfo } from '@tool-runtime/protocol';
import { brief, bytes, count, duration, shortId, visible } from '../format.ts';
import { host } from '../host.ts';
import { now } from '../live.ts';
import { addressOf, choice, choose } from '../location.ts';
import { Chip, Empty, Facts, Head, Problem, Time } from '../parts/bits.tsx';
import { useLoaded } from '../use-loaded.ts';

export function Family() {
  const onlyFamilies = choice('with') === 'children';
  const loaded = useLoaded(() => host.families({ limit: 100 }), [], { live: true });
  const sessions = useLoaded(() => host.sessions(), [], { live: true });
  const budgets: Budgets = new Map(sessions.value?.map(({ session_id, budget }) => [session_id, budget ?? {}]));
  const all = loaded.value?.families ?? [];
  const shown = onlyFamilies ? all.filter(({ children }) => children.length > 0) : all;
  return (
    <>
      <Head title="Family">
        <label class="switch">
          <input
            type="checkbox"
            checked={onlyFamilies}
            onChange={(event) => choose({ with: event.currentTarget.checked ? 'children' : undefined })}
          />
          only with children
        </label>
      </Head>
      {loaded.problem === undefined ? null : <Problem problem={loaded.problem} again={loaded.again} />}
      {shown.length === 0 && loaded.value !== undefined ? (
        <Empty title={onlyFamilies ? 'No session had children' : 'No sessions yet'}>
          A session opens children with <code>POST /v1/sessions/ID/children</code>: part of what it may do, for another
          agent.
        </Empty>
      ) : (
        <ul class="family">
          {shown.map((member) => (
            <Member key={member.session_id} member={member} budgets={budgets} />
          ))}
        </ul>
      )}
    </>
  );
}

type Details = Readonly<Record<string, unknown>>;
const objectOf = (value: unknown): Details => (typeof value === 'object' && value !== null ? (value as Details) : {});
const listOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

/** Of open sessions. */
type Budgets = ReadonlyMap<string, NonNullable<SessionInfo['budget']>>;

function Member({ member, budgets }: { readonly member: FamilyMember; readonly budgets: Budgets }) {
  const spending = Object.entries(budgets.get(member.session_id) ?? {});
  const started = member.events.find(({ event }) => event === 'started')?.details;
  const name = started === undefined ? member.actor : String(started['agent_id'] ?? member.actor);
  const lived = member.started_at === undefined ? undefined : (member.ended_at ?? now.value) - member.started_at;
  return (
    <li>
      <details class="member" open={member.children.length > 0 || started !== undefined}>
        <summary>
          <strong>{brief(name)}</strong>
          <Chip word={member.state} />
          <span class="hint">
            {brief(member.client)} · {count(member.calls)} calls, {count(member.refusals)} refused
            {lived === undefined ? '' : ` · ${duration(lived)}`}
          </span>
        </summary>
        <Facts
          rows={[
            [
              'session',
              <a href={addressOf('timeline', '', { q: `session:${member.session_id}`, w: '24 h' })}>
                {shortId(member.session_id)}
              </a>,
            ],
            member.started_at === undefined ? undefined : ['started', <Time ms={member.started_at} full />],
            member.ended_at === undefined ? undefined : ['ended', <Time ms={member.ended_at} full />],
            spending.length === 0
              ? undefined
              : [
                  'budget spent',
                  spending
                    .map(([limit, { used, given }]) => `${amountOf(limit, used)} of ${amountOf(limit, given)}`)
                    .join(' · '),
                ],
          ]}
        />
        {started === undefined ? null : <Narrowing started={started} member={member} />}
      </details>
      {member.children.length === 0 ? null : (
        <ul>
          {member.children.map((child) => (
            <Member key={child.session_id} member={child} budgets={budgets} />
          ))}
        </ul>
      )}
    </li>
  );
}

function amountOf(limit: string, amount: number): string {
  if (limit === 'max_bytes') return bytes(amount);
  return limit === 'max_duration_ms' ? duration(amount) : `${count(amount)} calls`;
}

function Narrowing({ started, member }: { readonly started: Details; readonly member: FamilyMember }) {
  const manifest = objectOf(started['manifest']);
  const kept = listOf(manifest['retained_capability_ids']);
  const stripped = listOf(manifest['stripped_capability_ids']);
  const budget = Object.entries(objectOf(started['budget']));
  const depth = objectOf(started['depth']);
  const used = objectOf(member.events.find(({ details }) => 'usage' in details)?.details['usage']);
  return (
    <>
      <Facts
        rows={[
          ['policy', visible(String(objectOf(manifest['tool_policy'])['type'] ?? 'inherited'), 60)],
          ['depth', `${String(depth['current_depth'] ?? '?')} of ${String(depth['max_depth'] ?? '?')}`],
          started['folder'] === undefined ? undefined : ['folder', <code>{brief(String(started['folder']))}</code>],
          budget.length === 0
            ? undefined
            : [
                'budget',
                budget
                  .map(([limit, amount]) => spent(limit, String(amount), { ...used, calls: member.calls }))
                  .join(' · '),
              ],
        ]}
      />
      <Names title="allowed" names={kept} tone="good" />
      <Names title="stripped" names={stripped} tone="bad" />
    </>
  );
}

/** How much of a limit is used up, where that is known. */
function spent(limit: string, amount: string, used: Details): string {
  const name = limit.replace('max_', '');
  return used[name] === undefined ? `${name} ${amount}` : `${String(used[name])} of ${amount} ${name}`;
}

function Names({
  title,
  names,
  tone,
}: {
  readonly title: string;
  readonly names: readonly string[];
  readonly tone: string;
}) {
  if (names.length === 0) return null;
  return (
    <details>
      <summary>
        {count(names.length)} {title}
      </summary>
      <p class="names">
        {names.map((name) => (
          <span key={name} class={`chip ${tone}`}>
            {visible(name, 80)}
          </span>
        ))}
      </p>
    </details>
  );
}
