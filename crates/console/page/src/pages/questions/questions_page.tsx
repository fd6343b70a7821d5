// All questions that wait for an answer.

import type { ConsoleState } from "../../state/console_state";
import { href } from "../../state/router";
import { Empty } from "../../ui/parts";
import { QuestionCard } from "./question_card";

export function QuestionsPage({ state }: { state: ConsoleState }) {
  return (
    <div class="page">
      <div class="page-inner narrow">
        <div class="title-row"><h1>Questions</h1><span class="head-space" /><a class="button" href={href(["call"])}>Calls</a></div>
        {state.questions.length === 0 && <Empty>No server is waiting for an answer.</Empty>}
        {state.questions.map((question) => (
          <div key={question.question} class="stack">
            <QuestionCard question={question} readOnly={state.console.readOnly} />
            {question.call !== null && <a class="small" href={href(["call", "run", String(question.call)])}>Its call</a>}
          </div>
        ))}
      </div>
    </div>
  );
}
