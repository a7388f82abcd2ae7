/**
 * A list of any length of which only what is in view exists. Pages come from the host when they are scrolled to and stay in
 * place while the list grows at its top.
 */
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useEffect, useReducer, useRef } from 'preact/hooks';

const PAGE = 100;

export interface VirtualRowsProps<Row> {
  readonly label: string;
  readonly total: number;
  readonly rowHeight: number;
  /** Everything that is kept is asked for anew when this changes. */
  readonly version: string;
  load(offset: number, limit: number): Promise<readonly Row[]>;
  render(row: Row, at: number): ComponentChildren;
  /** What Enter on a row does. */
  open?(row: Row): void;
}

export function VirtualRows<Row>(props: VirtualRowsProps<Row>) {
  const { total, rowHeight, version, load } = props;
  const place = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  const pages = useRef(new Map<number, readonly Row[] | 'asked'>());
  const selected = useRef(-1);
  const virtual = useRef<Virtualizer<HTMLDivElement, HTMLDivElement>>(undefined);
  const options = {
    count: total,
    getScrollElement: () => place.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw(undefined),
  };
  virtual.current ??= new Virtualizer(options);
  virtual.current.setOptions(options);
  useEffect(() => virtual.current?._didMount(), []);
  useEffect(() => virtual.current?._willUpdate());
  const shownVersion = useRef(version);
  if (shownVersion.current !== version) {
    shownVersion.current = version;
    pages.current = new Map();
  }
  const items = virtual.current.getVirtualItems();
  const rowAt = (at: number): Row | undefined => {
    const page = pages.current.get(Math.floor(at / PAGE));
    return page === undefined || page === 'asked' ? undefined : page[at % PAGE];
  };
  useEffect(() => {
    for (const page of new Set(items.map(({ index }) => Math.floor(index / PAGE)))) {
      if (pages.current.has(page)) continue;
      const kept = pages.current;
      kept.set(page, 'asked');
      load(page * PAGE, PAGE).then(
        (rows) => {
          kept.set(page, rows);
          redraw(undefined);
        },
        () => kept.delete(page),
      );
    }
  });
  const select = (at: number): void => {
    selected.current = Math.min(total - 1, Math.max(0, at));
    virtual.current?.scrollToIndex(selected.current);
    redraw(undefined);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      select(selected.current + step);
    } else if (event.key === 'Enter' && event.target === place.current) {
      const row = rowAt(selected.current);
      if (row !== undefined) props.open?.(row);
    }
  };
  return (
    <div
      ref={place}
      class="rows"
      role="list"
      aria-label={props.label}
      tabIndex={0}
      data-hotkey="j k"
      onKeyDown={onKeyDown}
    >
      <div class="rows-space" style={{ height: `${virtual.current.getTotalSize()}px` }}>
        {items.map(({ index, start }) => {
          const row = rowAt(index);
          return (
            <div
              key={index}
              role="listitem"
              class={`row ${index === selected.current ? 'selected' : ''}`}
              style={{ transform: `translateY(${start}px)`, height: `${rowHeight}px` }}
            >
              {row === undefined ? <span class="row-loading">…</span> : props.render(row, index)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
