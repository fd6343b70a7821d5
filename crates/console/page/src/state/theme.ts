// Light, dark, or as the system says.

import { Store } from "./store";

export type Theme = "system" | "light" | "dark";
const KEY = "switchboard-console-theme";

function stored(): Theme {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "system";
}

export const theme = new Store<Theme>("system");

export function startTheme(): void {
  setTheme(stored());
}

export function setTheme(value: Theme): void {
  theme.set(value);
  if (value === "system") {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset["theme"];
  } else {
    localStorage.setItem(KEY, value);
    document.documentElement.dataset["theme"] = value;
  }
}
