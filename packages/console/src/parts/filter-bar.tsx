/** The line that narrows a list. `/` goes there, Enter applies it, Escape leaves it. */
import { useEffect, useRef } from 'preact/hooks';
import { choice, choose } from '../location.ts';

export function FilterBar({ hint }: { readonly hint: string }) {
  const input = useRef<HTMLInputElement>(null);
  const line = choice('q');
  useEffect(() => {
    if (input.current !== null && document.activeElement !== input.current) input.current.value = line;
  }, [line]);
  const apply = (): void => choose({ q: input.current?.value.trim() ?? '' });
  return (
    <form
      class="filter"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <input
        ref={input}
        type="search"
        aria-label="Filter"
        placeholder={hint}
        defaultValue={line}
        data-hotkey="/"
        onSearch={apply}
        onBlur={apply}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          // A browser would empty the field.
          event.preventDefault();
          input.current?.blur();
        }}
      />
      <button type="submit">Filter</button>
    </form>
  );
}
