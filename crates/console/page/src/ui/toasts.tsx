// Messages that concern no particular place of a page.

import { Store, useStore } from "../state/store";
import { RequestError } from "../api/client";
import { CloseIcon } from "./icons";
import { Sentence } from "./text";

interface Toast {
  id: number;
  tone: "info" | "bad";
  text: string;
  detail: string | null;
}

const toasts = new Store<Toast[]>([]);
let lastId = 0;

export function toast(text: string, tone: "info" | "bad" = "info", detail: string | null = null): void {
  const id = ++lastId;
  toasts.update((list) => [...list.slice(-3), { id, tone, text, detail }]);
  setTimeout(() => dismiss(id), tone === "bad" ? 12_000 : 4000);
}

/** Runs an action and shows its error. */
export async function attempt<T>(action: () => Promise<T>, done?: string): Promise<T | undefined> {
  try {
    const result = await action();
    if (done !== undefined) toast(done);
    return result;
  } catch (error) {
    const nextStep = error instanceof RequestError ? error.nextStep : null;
    toast(error instanceof Error ? error.message : String(error), "bad", nextStep);
    return undefined;
  }
}

function dismiss(id: number): void {
  toasts.update((list) => list.filter((toast) => toast.id !== id));
}

export function Toasts() {
  const list = useStore(toasts, (value) => value);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {list.map(({ id, tone, text, detail }) => (
        <div key={id} class={`toast ${tone}`}>
          <div>
            <Sentence value={text} />
            {detail !== null && <div class="muted small"><Sentence value={detail} /></div>}
          </div>
          <button type="button" class="button quiet icon tiny" aria-label="Dismiss" onClick={() => dismiss(id)}><CloseIcon /></button>
        </div>
      ))}
    </div>
  );
}
