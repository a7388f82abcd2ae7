/** Questions that wait for a person: the exact effect, how long there is, and the answer. */

import { signal } from '@preact/signals';
import type { PendingApproval } from '@tool-runtime/protocol';
import { useState } from 'preact/hooks';
import { brief, duration, shortId, visible } from '../format.ts';
import { host, may, messageOf, reasonOf } from '../host.ts';
import { approvals, now, readApprovals, setSound, soundOn } from '../live.ts';
import { addressOf } from '../location.ts';
import { Empty, Head, Panel } from '../parts/bits.tsx';
import { Diff, Json, Output } from '../parts/text-blocks.tsx';

type Answer = 'approved' | 'approved_for_session' | 'denied';

/** What became of questions that were answered here, newest first. */
const outcomes = signal<readonly { readonly id: string; readonly text: string; readonly isOurs: boolean }[]>([]);

export function Approvals() {
  const waiting = approvals.value;
  return (
    <>
      <Head title="Approvals">
        <label class="switch">
          <input type="checkbox" checked={soundOn.value} onChange={(event) => setSound(event.currentTarget.checked)} />
          Sound
        </label>
      </Head>
      <div class="notices" role="status">
        {outcomes.value.map(({ id, text, isOurs }) => (
          <p key={id} class={isOurs ? 'notice' : 'notice late'}>
            {text}
          </p>
        ))}
      </div>
      {may('approve') ? null : (
        <p class="notice late">You are signed in as a viewer. Questions are answered by approvers.</p>
      )}
      {waiting.length === 0 ? (
        <Empty title="Nothing waits for an answer">
          A call that needs a yes shows up here at once. Which calls do is in the section <code>approvals</code> of the
          registry.
        </Empty>
      ) : (
        <div class="cards">
          {waiting.map((question) => (
            <Question key={question.approval_id} question={question} />
          ))}
        </div>
      )}
    </>
  );
}

function Question({ question }: { readonly question: PendingApproval }) {
  const [reason, setReason] = useState('');
  const [isSending, setSending] = useState(false);
  const answer = async (word: Answer): Promise<void> => {
    setSending(true);
    await sendAnswer(question, word, reason);
    setSending(false);
  };
  const { effect, scope } = question;
  const forSession = question.allowed_answers.includes('approved_for_session');
  return (
    <article class="panel question" aria-label={`Question: ${brief(question.summary)}`}>
      <div class="panel-head">
        <h2>
          <span class="tool">{visible(question.tool)}</span> <span class="summary">{brief(question.summary)}</span>
        </h2>
        <TimeLeft question={question} />
      </div>
      <p class="why">
        <strong>{brief(question.actor)}</strong> asks · because of <code>{brief(question.reason)}</code> ·{' '}
        <a href={addressOf('call', question.call_id)}>call {shortId(question.call_id)}</a>
      </p>
      <Effect effect={effect} />
      <details>
        <summary>Arguments</summary>
        <Json value={question.args} />
      </details>
      {scope === undefined ? null : (
        <p class="hint">
          For this session means: <code>{brief(scope)}</code>
        </p>
      )}
      <div class="answers">
        <button type="button" class="primary" disabled={isSending} onClick={() => answer('approved')}>
          Allow once
        </button>
        {forSession ? (
          <button type="button" disabled={isSending} onClick={() => answer('approved_for_session')}>
            Allow for this session
          </button>
        ) : null}
        <span class="deny">
          <input
            type="text"
            aria-label="Reason"
            placeholder="Reason, which the caller reads"
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
          <button type="button" class="danger" disabled={isSending} onClick={() => answer('denied')}>
            Deny
          </button>
        </span>
      </div>
    </article>
  );
}

async function sendAnswer(question: PendingApproval, answer: Answer, reason: string): Promise<void> {
  const id = question.approval_id;
  const say = (text: string, isOurs: boolean): void => {
    outcomes.value = [{ id, text, isOurs }, ...outcomes.value].slice(0, 3);
  };
  try {
    await host.answerApproval(id, { answer, ...(reason === '' ? {} : { reason }) });
    say(`${visible(question.tool)}: ${answer === 'denied' ? 'you denied it' : 'you allowed it'}`, true);
  } catch (thrown) {
    const late = reasonOf(thrown) === 'already_answered' || reasonOf(thrown) === 'unknown_approval';
    say(late ? `Too late: ${visible(messageOf(thrown))}` : visible(messageOf(thrown)), false);
  }
  await readApprovals();
}

function TimeLeft({ question }: { readonly question: PendingApproval }) {
  const total = (question.expires_at - question.asked_at) * 1000;
  const left = Math.max(0, question.expires_at * 1000 - now.value);
  const age = Math.max(0, now.value - question.asked_at * 1000);
  return (
    <span class="left">
      <span>
        asked {duration(Math.round(age / 1000) * 1000)} ago · {duration(Math.round(left / 1000) * 1000)} left
      </span>
      <progress max={total} value={left} aria-label="Time left" />
    </span>
  );
}

function Effect({ effect }: { readonly effect: PendingApproval['effect'] }) {
  if (effect === undefined) return null;
  const { kind, text, ran } = effect;
  if (kind === 'diff') return <Diff text={text} />;
  if (ran === undefined) return <Output text={text} />;
  return (
    <>
      <Output text={text} />
      <Panel title={`It ran on a copy and ended with ${ran.exit_code ?? 'a signal'}`}>
        {ran.stdout === '' ? null : <Output text={ran.stdout} />}
        {ran.stderr === '' ? null : <Output text={ran.stderr} />}
        {ran.diff === '' ? <p>It changed no files.</p> : <Diff text={ran.diff} />}
      </Panel>
    </>
  );
}
