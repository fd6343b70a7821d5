// Small parts that every page uses.

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { RequestError } from "../api/client";
import { BackIcon, SearchIcon } from "./icons";
import { Sentence, Text } from "./text";

export type Tone = "ok" | "warn" | "bad" | "info" | "violet" | "plain";

export function Badge({ tone = "plain", children, title }: { tone?: Tone; children: ComponentChildren; title?: string }) {
  return <span class={`badge ${tone}`} {...(title === undefined ? {} : { title })}>{children}</span>;
}

export function Note({ tone = "plain", children }: { tone?: Tone; children: ComponentChildren }) {
  return <div class={`note ${tone}`}>{children}</div>;
}

/** An error with what to do next. */
export function ErrorNote({ error }: { error: unknown }) {
  const message = error instanceof Error ? error.message : String(error);
  const nextStep = error instanceof RequestError ? error.nextStep : null;
  return (
    <div class="note bad" role="alert">
      <Sentence value={message} />
      {nextStep !== null && <div class="muted"><Sentence value={nextStep} /></div>}
    </div>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

export function CopyButton({ text, label = "Copy" }: { text: string | (() => string); label?: string }) {
  const [done, setDone] = useState<"copied" | "failed" | null>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setDone("copied");
    } catch {
      setDone("failed");
    }
    setTimeout(() => setDone(null), 1500);
  };
  return (
    <button type="button" class="button tiny" onClick={() => void copy()}>
      <span aria-live="polite">{done === "copied" ? "Copied" : done === "failed" ? "Not allowed" : label}</span>
    </button>
  );
}

/** A command to paste into a terminal. */
export function Command({ text }: { text: string }) {
  return (
    <div class="with-copy">
      <pre class="code-block"><Text value={text} max={4000} /></pre>
      <CopyButton text={text} />
    </div>
  );
}

/** A table that scrolls sideways on narrow screens, by keyboard too. */
export function TableScroll({ children }: { children: ComponentChildren }) {
  return <div class="table-scroll" tabIndex={0} role="group" aria-label="Table">{children}</div>;
}

interface SegmentsProps<T extends string> {
  label: string;
  options: readonly (readonly [T, ComponentChildren])[];
  value: T;
  onChange: (value: T) => void;
}

/** One of few options; arrow keys move. */
export function Segments<T extends string>({ label, options, value, onChange }: SegmentsProps<T>) {
  const group = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = options.findIndex(([option]) => option === value);
    const next = (at + step + options.length) % options.length;
    onChange(options[next]![0]);
    (group.current?.children[next] as HTMLElement | undefined)?.focus();
  };
  return (
    <div class="segments" role="radiogroup" aria-label={label} ref={group} onKeyDown={move}>
      {options.map(([option, text]) => (
        <button key={option} type="button" role="radio" aria-checked={option === value} tabIndex={option === value ? 0 : -1} onClick={() => onChange(option)}>
          {text}
        </button>
      ))}
    </div>
  );
}

interface TabsProps<T extends string> {
  label: string;
  id: string;
  tabs: readonly (readonly [T, ComponentChildren])[];
  value: T;
  onChange: (value: T) => void;
}

/** The tabs of a panel with the id `${id}-panel`. */
export function Tabs<T extends string>({ label, id, tabs, value, onChange }: TabsProps<T>) {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(([tab]) => tab === value);
    const next = (at + step + tabs.length) % tabs.length;
    onChange(tabs[next]![0]);
    (list.current?.children[next] as HTMLElement | undefined)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
      {tabs.map(([tab, text]) => (
        <button key={tab} type="button" role="tab" id={`${id}-${tab}`} aria-selected={tab === value} aria-controls={`${id}-panel`} tabIndex={tab === value ? 0 : -1} onClick={() => onChange(tab)}>
          {text}
        </button>
      ))}
    </div>
  );
}

export function TabPanel({ id, tab, children }: { id: string; tab: string; children: ComponentChildren }) {
  return <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${tab}`} tabIndex={-1}>{children}</div>;
}

interface SearchProps {
  label: string;
  placeholder: string;
  value: string;
  onInput: (value: string) => void;
  onKeyDown?: (event: KeyboardEvent) => void;
}

export function Search({ label, placeholder, value, onInput, onKeyDown }: SearchProps) {
  return (
    <div class="search">
      <SearchIcon />
      <input class="field" type="search" aria-label={label} placeholder={placeholder} value={value} spellcheck={false} autocomplete="off" onInput={(event) => onInput(event.currentTarget.value)} {...(onKeyDown === undefined ? {} : { onKeyDown })} />
    </div>
  );
}

export function Back({ href, children }: { href: string; children: ComponentChildren }) {
  return <a class="button quiet tiny back" href={href}><BackIcon />{children}</a>;
}

/** A link of a server: shown as text, opened only by its own button. */
export function ExternalLink({ url }: { url: string }) {
  const isWeb = /^https?:\/\//i.test(url);
  return (
    <span class="external">
      <code class="breaks"><Text value={url} max={500} expandable /></code>{" "}
      {isWeb && <a class="button tiny" href={url} target="_blank" rel="noreferrer noopener">Open {hostOf(url)}</a>}
    </span>
  );
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return "link";
  }
}
