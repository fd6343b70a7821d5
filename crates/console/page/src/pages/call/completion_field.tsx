// A text field whose values the server completes.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { post } from "../../api/client";
import type { CompleteAnswer, CompleteRequest } from "../../api/types";
import { Text } from "../../ui/text";

interface CompletionFieldProps {
  label: string;
  description: string | null;
  required: boolean;
  /** Undefined is left out. */
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  /** The request without its value; null if the server completes nothing. */
  complete: Omit<CompleteRequest, "value"> | null;
}

const DELAY_MS = 150;

export function CompletionField({ label, description, required, value, onChange, complete }: CompletionFieldProps) {
  const id = useId();
  const [values, setValues] = useState<string[]>([]);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const round = useRef(0);
  const request = complete === null ? null : JSON.stringify(complete);
  useEffect(() => {
    if (!isOpen || request === null) return;
    const mine = ++round.current;
    const timer = setTimeout(() => {
      const body = { ...(JSON.parse(request) as Omit<CompleteRequest, "value">), value: value ?? "" };
      // A server that completes nothing is no error of the form.
      post<CompleteAnswer>("/api/complete", body).then(
        (answer) => mine === round.current && (setValues(answer.values.slice(0, 100)), setActive(-1)),
        () => mine === round.current && setValues([]),
      );
    }, DELAY_MS);
    return () => clearTimeout(timer);
  }, [value, isOpen, request]);
  const take = (chosen: string) => {
    onChange(chosen);
    setOpen(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") return setOpen(false);
    if (event.key === "Enter" && isOpen && values[active] !== undefined) {
      event.preventDefault();
      return take(values[active]);
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    setOpen(true);
    if (values.length > 0) setActive((active + step + values.length) % values.length);
  };
  const isListed = isOpen && values.length > 0;
  return (
    <div class="form-field">
      <div class="form-label">
        <label class="form-name" for={id}><Text value={label} max={120} />{required && <span class="required"> *<span class="visually-hidden"> required</span></span>}</label>
        <span class="head-space" />
        {value !== undefined && !required && <button type="button" class="button quiet tiny" aria-label={`Leave out ${label}`} onClick={() => onChange(undefined)}>Leave out</button>}
      </div>
      {description !== null && <div class="muted small"><Text value={description} max={300} expandable /></div>}
      <div class="combo">
        <input
          class="field" id={id} value={value ?? ""} placeholder={value === undefined ? "left out" : "empty text"} role="combobox" aria-autocomplete="list" aria-expanded={isListed} aria-controls={`${id}-list`}
          {...(isListed && active >= 0 ? { "aria-activedescendant": `${id}-${active}` } : {})}
          autocomplete="off" spellcheck={false} onFocus={() => setOpen(true)} onBlur={() => setOpen(false)} onKeyDown={onKeyDown} onInput={(event) => { setOpen(true); onChange(event.currentTarget.value); }}
        />
        <ul class="combo-list" id={`${id}-list`} role="listbox" aria-label={`Values of ${label}`} hidden={!isListed}>
          {values.map((one, at) => (
            <li key={at} id={`${id}-${at}`} role="option" aria-selected={at === active} class={at === active ? "active" : ""} onMouseDown={(event) => { event.preventDefault(); take(one); }}><Text value={one} max={200} /></li>
          ))}
        </ul>
      </div>
    </div>
  );
}
