// The arguments of a prompt, with completion.

import { useState } from "preact/hooks";
import type { CallRequest, PromptRow } from "../../api/types";
import type { ConsoleState } from "../../state/console_state";
import { Text } from "../../ui/text";
import { CompletionField } from "./completion_field";
import { RunBar } from "./run_bar";

interface PromptFormProps {
  row: PromptRow;
  state: ConsoleState;
  onStarted: (call: number) => void;
  from: CallRequest | null;
}

export function PromptForm({ row, state, onStarted, from }: PromptFormProps) {
  const [values, setValues] = useState<Record<string, string>>(from?.type === "prompt" ? from.arguments : {});
  const set = (name: string, value: string | undefined) => {
    const { [name]: _, ...others } = values;
    setValues(value === undefined ? others : { ...others, [name]: value });
  };
  const missing = row.arguments.filter((argument) => argument.required && values[argument.name] === undefined);
  const canComplete = state.servers.find((server) => server.name === row.server)?.session?.capabilities.includes("completions") ?? false;
  const request: CallRequest | null = missing.length > 0 ? null : { type: "prompt", server: row.server, name: row.name, arguments: values };
  return (
    <div class="stack">
      {row.description !== "" && <p class="muted"><Text value={row.description} max={400} expandable /></p>}
      {row.arguments.length === 0 && <p class="muted">It has no arguments.</p>}
      {row.arguments.map((argument) => {
        const { [argument.name]: _, ...context } = values;
        return (
          <CompletionField
            key={argument.name} label={argument.name} description={argument.description} required={argument.required} value={values[argument.name]} onChange={(value) => set(argument.name, value)}
            complete={canComplete ? { server: row.server, reference: { type: "prompt", name: row.name }, argument: argument.name, context } : null}
          />
        );
      })}
      <RunBar label="Get the prompt" request={request} hint={missing.length > 0 ? `Fill in ${missing.map((argument) => argument.name).join(", ")}.` : null} onStarted={onStarted} readOnly={state.console.readOnly} />
    </div>
  );
}
