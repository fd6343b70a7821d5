// Modal dialogs by the browser: focus stays inside, Escape closes, focus returns.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { CloseIcon } from "./icons";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** At the side, over the whole height. */
  drawer?: boolean;
}

export function Dialog({ title, onClose, children, drawer = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  // Before the next paint: keys that are pressed right after ⌘K belong to the dialog.
  useLayoutEffect(() => {
    const dialog = element.current!;
    const before = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const onClick = (event: MouseEvent) => {
    if (event.target === element.current) onClose();
  };
  return (
    <dialog ref={element} class={drawer ? "drawer" : ""} aria-label={title} onCancel={(event) => { event.preventDefault(); onClose(); }} onClick={onClick}>
      <div class="dialog-body">
        <div class="title-row">
          <h2>{title}</h2>
          <span class="head-space" />
          <button type="button" class="button quiet icon" aria-label="Close" onClick={onClose}><CloseIcon /></button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
