// A value that components subscribe to.

import { useLayoutEffect, useRef, useState } from "preact/hooks";

export class Store<T> {
  private readonly listeners = new Set<() => void>();

  constructor(private value: T) {}

  get(): T {
    return this.value;
  }

  set(value: T): void {
    if (Object.is(value, this.value)) return;
    this.value = value;
    for (const listener of [...this.listeners]) listener();
  }

  update(change: (value: T) => T): void {
    this.set(change(this.value));
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

/** Returns a part of a store, and renders again when that part is another value. */
export function useStore<T, P>(store: Store<T>, select: (value: T) => P): P {
  const selected = select(store.get());
  const [, render] = useState({});
  const latest = useRef({ select, selected });
  latest.current = { select, selected };
  useLayoutEffect(() => {
    const check = () => {
      const { select, selected } = latest.current;
      if (!Object.is(select(store.get()), selected)) render({});
    };
    // The value may have changed between rendering and here.
    check();
    return store.subscribe(check);
  }, [store]);
  return selected;
}
