// Fetches data for a component, and again when a dependency changes. An older answer never replaces a newer one.

import { useEffect, useState } from "preact/hooks";

export interface Fetched<T> {
  /** The last data; kept while newer data is fetched. */
  data: T | null;
  error: unknown;
  isLoading: boolean;
  reload: () => void;
}

export function useFetch<T>(fetch: () => Promise<T>, dependencies: unknown[]): Fetched<T> {
  const [state, setState] = useState<{ data: T | null; error: unknown; isLoading: boolean }>({ data: null, error: null, isLoading: true });
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    setState((before) => ({ ...before, isLoading: true }));
    fetch().then(
      (data) => isCurrent && setState({ data, error: null, isLoading: false }),
      (error: unknown) => isCurrent && setState((before) => ({ data: before.data, error, isLoading: false })),
    );
    return () => {
      isCurrent = false;
    };
  }, [...dependencies, round]);
  return { ...state, reload: () => setRound((before) => before + 1) };
}
