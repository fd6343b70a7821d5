import { render } from "preact";
import { App } from "./app";
import { startRouter } from "./state/router";
import { run } from "./state/session";
import { startTheme } from "./state/theme";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/controls.css";
import "./styles/parts.css";
import "./styles/form.css";
import "./styles/pages.css";

startTheme();
// First of all the token leaves the address: the router must never see it.
const session = run();
startRouter();
render(<App />, document.getElementById("app")!);
void session;
