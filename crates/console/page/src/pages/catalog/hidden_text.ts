// Why an item is hidden, in one line.

import type { Hidden } from "../../api/types";

export function hiddenText(hidden: Hidden): string {
  switch (hidden.type) {
    case "denied":
      return `the rule ${hidden.rule} denies it`;
    case "notAllowed":
      return `no rule of the allow list matches it: ${hidden.allow.join(", ")}`;
    case "clash":
      return `several items have its name: ${hidden.with.map((item) => `${item.name} of ${item.server}`).join(", ")}`;
    case "drifted":
      return "its definition has changed since it was pinned";
    case "tooMany":
      return `the catalog holds at most ${hidden.max} tools`;
    case "rejected":
      return `its definition is invalid: ${hidden.reason}`;
    case "serverDisabled":
      return "its server is disabled";
    case "policy":
      return `${hidden.rule}: ${hidden.reason}`;
  }
}

/** The rule alone, for a badge. */
export function hiddenRule(hidden: Hidden): string {
  switch (hidden.type) {
    case "denied":
    case "policy":
      return hidden.rule;
    case "notAllowed":
      return "not in the allow list";
    case "clash":
      return "name clash";
    case "tooMany":
      return "catalog full";
    case "rejected":
      return "invalid definition";
    case "serverDisabled":
      return "server disabled";
    case "drifted":
      return "drifted";
  }
}
