// A list of rows of one height, of which only the visible ones are in the document. Arrow keys move the active row.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { rangeOf, rowAfterKey, scrollTo } from "./virtual_range";

interface VirtualListProps<T> {
  label: string;
  rows: readonly T[];
  rowHeight: number;
  keyOf: (row: T) => string | number;
  render: (row: T) => ComponentChildren;
  selected: string | number | null;
  onSelect: (row: T) => void;
  /** Stay at the end while rows are added. */
  follow?: boolean;
  id: string;
}

export function VirtualList<T>(props: VirtualListProps<T>) {
  const { label, rows, rowHeight, keyOf, render, selected, onSelect, follow = false, id } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const [active, setActive] = useState(-1);
  const isAtEnd = useRef(true);

  useLayoutEffect(() => {
    const element = box.current!;
    const measure = () => setView((before) => (before.height === element.clientHeight ? before : { top: element.scrollTop, height: element.clientHeight }));
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);

  // Filtering may leave fewer rows than the scroll position needs.
  useLayoutEffect(() => {
    const element = box.current!;
    if (follow && isAtEnd.current) element.scrollTop = element.scrollHeight;
    if (element.scrollTop !== view.top) setView({ top: element.scrollTop, height: element.clientHeight });
  }, [rows.length, follow]);

  // A row that was selected elsewhere comes into view.
  useLayoutEffect(() => {
    const element = box.current!;
    const at = selected === null ? -1 : rows.findIndex((row) => keyOf(row) === selected);
    if (at < 0) return;
    setActive(at);
    const top = scrollTo(at, rowHeight, element.scrollTop, element.clientHeight);
    if (top !== element.scrollTop) element.scrollTop = top;
  }, [selected]);

  useEffect(() => {
    if (active >= rows.length) setActive(rows.length - 1);
  }, [rows.length]);

  const onScroll = () => {
    const element = box.current;
    // A last event may arrive after the list was removed.
    if (element === null) return;
    isAtEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - rowHeight;
    setView({ top: element.scrollTop, height: element.clientHeight });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" || event.key === " ") {
      const row = rows[active];
      if (row !== undefined) {
        event.preventDefault();
        onSelect(row);
      }
      return;
    }
    const next = rowAfterKey(event.key, active, rows.length, Math.max(1, Math.floor(view.height / rowHeight) - 1));
    if (next === null) return;
    event.preventDefault();
    setActive(next);
    const element = box.current!;
    const top = scrollTo(next, rowHeight, element.scrollTop, element.clientHeight);
    if (top !== element.scrollTop) element.scrollTop = top;
  };
  const onFocus = () => {
    if (active >= 0) return;
    const at = selected === null ? -1 : rows.findIndex((row) => keyOf(row) === selected);
    setActive(at >= 0 ? at : rows.length > 0 ? Math.floor(view.top / rowHeight) : -1);
  };

  const { first, last } = rangeOf(view.top, view.height, rowHeight, rows.length);
  const activeId = active >= first && active < last ? `${id}-${active}` : undefined;
  return (
    <div
      class="vlist" ref={box} id={id} role="listbox" aria-label={label} tabIndex={0} onScroll={onScroll} onKeyDown={onKeyDown} onFocus={onFocus}
      {...(activeId === undefined ? {} : { "aria-activedescendant": activeId })}
    >
      <div class="vlist-space" role="presentation" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, last).map((row, offset) => {
          const at = first + offset;
          return (
            <div
              key={keyOf(row)} id={`${id}-${at}`} role="option" aria-selected={keyOf(row) === selected} aria-posinset={at + 1} aria-setsize={rows.length}
              class={at === active ? "vlist-row active" : "vlist-row"} style={{ top: `${at * rowHeight}px`, height: `${rowHeight}px` }}
              onClick={() => { setActive(at); onSelect(row); }}
            >
              {render(row)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
