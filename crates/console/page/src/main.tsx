import { render } from "preact";
import { App } from "./app";
import { startRouter } from "./state/router";
import { run, whenSettled } from "./state/session";
import { startTheme } from "./state/theme";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/controls.css";
import "./styles/parts.css";
import "./styles/form.css";
import "./styles/pages.css";

const LOADING_AFTER_MS = 300;

startTheme();
// First of all the token leaves the address: the router must never see it.
const session = run();
startRouter();
void session;
// The first paint is the page itself: that it is loading is said only if the snapshot takes long.
whenSettled(LOADING_AFTER_MS, () => render(<App />, document.getElementById("app")!));
