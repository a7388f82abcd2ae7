/** A value from the host that is asked for again when what it depends on changes. The last one stays until the next is there. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { pulse } from './live.ts';

export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly problem: unknown;
  readonly isLoading: boolean;
  again(): void;
}

export function useLoaded<Value>(
  load: () => Promise<Value>,
  on: readonly unknown[],
  { live = false }: { readonly live?: boolean | ((value: Value | undefined) => boolean) } = {},
): Loaded<Value> {
  const [state, setState] = useState<{ value?: Value; problem?: unknown; isLoading: boolean }>({ isLoading: true });
  const [turn, setTurn] = useState(0);
  const asked = useRef(0);
  const beat = (typeof live === 'boolean' ? live : live(state.value)) ? pulse.value : 0;
  useEffect(() => {
    asked.current += 1;
    const mine = asked.current;
    load().then(
      (value) => mine === asked.current && setState({ value, isLoading: false }),
      (problem: unknown) => mine === asked.current && setState((old) => ({ ...old, problem, isLoading: false })),
    );
  }, [...on, turn, beat]);
  return {
    value: state.value,
    problem: state.problem,
    isLoading: state.isLoading,
    again: () => setTurn((old) => old + 1),
  };
}
