// A value that changes at most once in a while: for work that a fast stream of events must not repeat each time.

import { useEffect, useRef, useState } from "preact/hooks";

export function useThrottled<T>(value: T, delayMs: number): T {
  const latest = useRef(value);
  latest.current = value;
  const [shown, setShown] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => {
    if (timer.current !== null || Object.is(latest.current, shown)) return;
    timer.current = setTimeout(() => {
      timer.current = null;
      setShown(latest.current);
    }, delayMs);
  }, [value, shown]);
  useEffect(() => () => {
    if (timer.current !== null) clearTimeout(timer.current);
  }, []);
  return shown;
}
