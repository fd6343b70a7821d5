// The contract between the console page and its server: snapshots, requests and events.
//
// Every type is a plain object or a union tagged by `type`, so that it can be generated from Rust structs
// (`#[serde(rename_all = "camelCase", tag = "type")]`). A member that may be missing is `null`, never absent.
// `JsonText` is JSON as text: numbers keep their digits, and the page parses it only when it is shown.

/** JSON as text, exactly as it was on the wire. */
export type JsonText = string;
/** Milliseconds since the Unix epoch. */
export type UnixMs = number;

// ── Console ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What serves the page: a host of configured servers, or a gateway. */
export type ConsoleMode = "host" | "gateway";

export interface ConsoleInfo {
  version: string;
  mode: ConsoleMode;
  /** No action changes anything; true on a gateway. */
  readOnly: boolean;
  /** Programs may be added to the configuration (`--allow-config-edit`). */
  allowConfigEdit: boolean;
  startedAtMs: UnixMs;
  limits: ConsoleLimits;
}

export interface ConsoleLimits {
  /** Frames that are kept: 10,000. */
  maxFrames: number;
  /** Bytes of payloads that are kept: 64 MB. */
  maxFrameBytes: number;
  /** Payloads above this size are sent as a preview unless the whole is requested: 64 KB. */
  previewBytes: number;
  /** Finished calls that are kept: 200. */
  maxCalls: number;
  /** Lines of stderr that are kept for each server: 500. */
  maxStderrLines: number;
  /** The largest recording that can be opened: 64 MB. */
  maxRecordingBytes: number;
}

/** `GET /api/snapshot`: everything that is small. The catalog, traffic and audit are fetched by their pages. */
export interface Snapshot {
  /** Number of the last event that is included; events above it follow on the stream. */
  sequence: number;
  console: ConsoleInfo;
  servers: ServerSnapshot[];
  /** Revision of the catalog; a page whose catalog is older fetches it again. */
  catalogRevision: number;
  calls: CallSnapshot[];
  questions: Question[];
  tasks: TaskSnapshot[];
  subscriptions: ResourceSubscription[];
  loginAttempts: LoginAttempt[];
  traffic: TrafficTotals;
  /** Present if no server is configured. */
  firstRun: FirstRun | null;
}

export interface FirstRun {
  demoServers: DemoServer[];
  /** The command that imports servers from other clients. */
  importCommand: string;
  importSources: ImportSource[];
}

export interface DemoServer {
  name: string;
  title: string;
  description: string;
}

export interface ImportSource {
  client: string;
  path: string;
  servers: number;
}

// ── Servers ─────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface ServerSnapshot {
  name: string;
  state: ServerState;
  /** Whether its tools are listed. */
  enabled: boolean;
  /** The scope of its configuration (`user`, `project`, …); null if it is not from a file. */
  scope: string | null;
  transport: ServerTransport;
  /** While connected. */
  session: SessionSummary | null;
  identity: Identity;
  metrics: ServerMetrics;
  /** The last 60 calls, oldest first. */
  latency: LatencySample[];
  counts: ServerCounts;
  /** Estimated tokens of its visible tools. */
  tokens: number;
  /** Its configuration, secrets masked. */
  configJson: JsonText;
  /** Rules that match none of its tools. */
  unmatchedRules: string[];
}

export type ServerState =
  | { type: "disabled" }
  | { type: "awaitingApproval"; command: string }
  | { type: "asleep" }
  | { type: "starting"; sinceMs: UnixMs; attempt: number }
  | { type: "ready" }
  | { type: "degraded"; error: string; nextStep: string }
  | { type: "backingOff"; untilMs: UnixMs; attempt: number; error: string; nextStep: string }
  | { type: "needsAuth"; login: LoginRequirement }
  | { type: "failed"; error: string; nextStep: string; stderrTail: string | null }
  | { type: "stopped" };

export interface LoginRequirement {
  /** What has to happen before the server can be used. */
  requirement: "login" | "client-registration" | "administrator" | "account" | "other-credentials";
  scope: string | null;
  issuer: string | null;
  redirectUri: string | null;
  code: string | null;
  accounts: string[];
  nextStep: string;
}

export type ServerTransport =
  | { type: "stdio"; command: string[]; cwd: string | null; pid: number | null }
  | { type: "http"; url: string; legacySse: boolean }
  | { type: "inProcess" };

export interface SessionSummary {
  era: "modern" | "legacy";
  revision: string;
  /** The server's own name and version: an unverified claim. */
  serverName: string | null;
  serverVersion: string | null;
  /** Capabilities that it declares, such as `tools`, `resources.subscribe`. */
  capabilities: string[];
  instructions: string | null;
  connectedAtMs: UnixMs;
}

/** Which identity reaches the server. Never holds a secret. */
export type Identity =
  | { type: "none" }
  | { type: "oauth"; account: string; issuer: string; scopes: string[]; expiresAtMs: UnixMs | null; canRefresh: boolean }
  | { type: "headers"; names: string[] }
  | { type: "headersHelper"; command: string }
  | { type: "environment"; names: string[] }
  | { type: "process"; user: string }
  | { type: "perCaller"; description: string }
  | { type: "unknown"; reason: string };

export interface ServerMetrics {
  calls: number;
  failures: number;
  toolErrors: number;
  reconnects: number;
  p50Ms: number | null;
  p95Ms: number | null;
}

export interface LatencySample {
  atMs: UnixMs;
  ms: number;
  ok: boolean;
}

export interface ServerCounts {
  tools: number;
  hiddenTools: number;
  resources: number;
  templates: number;
  prompts: number;
}

/** `GET /api/servers/{name}/stderr`. */
export interface StderrTail {
  server: string;
  lines: StderrLine[];
  /** Lines that were dropped before the first. */
  dropped: number;
}

export interface StderrLine {
  atMs: UnixMs;
  text: string;
}

export interface DoctorRun {
  run: number;
  server: string;
  steps: DoctorStep[];
  /** Null while it is running. */
  outcome: DoctorOutcome | null;
}

export interface DoctorStep {
  step: string;
  ok: boolean;
  ms: number;
  message: string;
  stderr: string | null;
  tried: TriedUrl[];
}

export interface TriedUrl {
  document: string;
  url: string;
  outcome: string;
}

export interface DoctorOutcome {
  ok: boolean;
  nextStep: string | null;
}

// ── Catalog ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** `GET /api/catalog`: rows only; a definition is fetched when it is opened. */
export interface Catalog {
  revision: number;
  tools: ToolRow[];
  resources: ResourceRow[];
  templates: TemplateRow[];
  prompts: PromptRow[];
}

export interface ToolRow {
  server: string;
  /** The name on the server. */
  name: string;
  /** The name that models see. */
  qualifiedName: string;
  title: string | null;
  /** At most 400 characters. */
  description: string;
  /** Estimated tokens of the definition. */
  tokens: number;
  /** Why models do not see it; null if they do. */
  hidden: Hidden | null;
  /** The definition differs from the pinned one. */
  drifted: boolean;
  hints: ToolHints;
  taskSupport: "forbidden" | "optional" | "required";
}

export interface ToolHints {
  readOnly: boolean | null;
  destructive: boolean | null;
  idempotent: boolean | null;
  openWorld: boolean | null;
}

/** Why an item is not shown, with the rule. */
export type Hidden =
  | { type: "denied"; rule: string }
  | { type: "notAllowed"; allow: string[] }
  | { type: "clash"; with: ServerItem[] }
  | { type: "drifted" }
  | { type: "tooMany"; max: number }
  | { type: "rejected"; reason: string }
  | { type: "serverDisabled" }
  | { type: "policy"; rule: string; reason: string };

export interface ServerItem {
  server: string;
  name: string;
}

export interface ResourceRow {
  server: string;
  uri: string;
  name: string;
  title: string | null;
  description: string;
  mimeType: string | null;
  size: number | null;
  tokens: number;
  hidden: Hidden | null;
}

export interface TemplateRow {
  server: string;
  uriTemplate: string;
  name: string;
  title: string | null;
  description: string;
  mimeType: string | null;
  tokens: number;
  hidden: Hidden | null;
}

export interface PromptRow {
  server: string;
  name: string;
  title: string | null;
  description: string;
  arguments: PromptArgument[];
  tokens: number;
  hidden: Hidden | null;
}

export interface PromptArgument {
  name: string;
  description: string | null;
  required: boolean;
}

/** `GET /api/tool`. */
export interface ToolDetail {
  row: ToolRow;
  /** Not cut. */
  description: string;
  inputSchemaJson: JsonText;
  outputSchemaJson: JsonText | null;
  /** The whole definition as the server lists it. */
  definitionJson: JsonText;
  /** What the permission rules decide about a call. */
  permission: Permission;
  drift: Drift | null;
}

export type Permission =
  | { type: "allow"; sentence: string }
  | { type: "ask"; sentence: string }
  | { type: "deny"; sentence: string; rule: string | null };

export interface Drift {
  /** Null if only the digest was pinned. */
  beforeJson: JsonText | null;
  nowJson: JsonText;
}

export type ItemKind = "tool" | "resource" | "template" | "prompt" | "server";

/** `GET /api/why`. */
export interface WhyAnswer {
  kind: ItemKind;
  server: string | null;
  name: string;
  verdict: "available" | "refused" | "hidden" | "notReady" | "unknown";
  /** One sentence that answers the question. */
  sentence: string;
  /** Checks in the order in which they are made; the first that fails decides. */
  checks: WhyCheck[];
  /** What to do, if anything. */
  nextStep: string | null;
  similar: string[];
}

export interface WhyCheck {
  /** Such as `configuration`, `connection`, `login`, `definition`, `allow and deny rules`, `permission`, `policy`. */
  check: string;
  outcome: "pass" | "fail" | "skipped";
  message: string;
  rule: string | null;
}

// ── Calls ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** `POST /api/calls`. */
export type CallRequest =
  | {
      type: "tool";
      server: string;
      name: string;
      argumentsJson: JsonText;
      /** A JSON object for `_meta`. */
      metaJson: JsonText | null;
      asTask: boolean;
      /** The user confirmed a call that the permission rules ask about. */
      confirmed: boolean;
      timeoutMs: number | null;
    }
  | { type: "resource"; server: string; uri: string }
  | { type: "prompt"; server: string; name: string; arguments: Record<string, string> };

export interface CallStarted {
  call: number;
}

export interface CallSnapshot {
  call: number;
  request: CallRequest;
  startedAtMs: UnixMs;
  state: CallState;
  progress: Progress | null;
  /** The last 100 log messages of the call. */
  logs: CallLog[];
}

export type CallState =
  | { type: "running" }
  | { type: "waitingForAnswer"; questions: number[] }
  | { type: "task"; taskId: string; status: TaskStatus }
  | { type: "finished"; atMs: UnixMs; outcome: CallOutcome };

export type CallOutcome =
  /** The size of the result; the result itself is at `GET /api/calls/{call}/result`. */
  | { type: "ok"; bytes: number }
  | { type: "toolError"; bytes: number }
  | { type: "error"; code: number | null; message: string; nextStep: string | null }
  | { type: "cancelled" };

export interface Progress {
  progress: number;
  total: number | null;
  message: string | null;
}

export interface CallLog {
  atMs: UnixMs;
  level: string;
  message: string;
}

/** `GET /api/calls/{call}/result`: the result as the server wrote it. */
export interface CallResult {
  call: number;
  resultJson: JsonText;
  /** The result is larger than the preview limit, and this is its beginning: not valid JSON. */
  truncated: boolean;
  bytes: number;
}

/** `POST /api/complete`. */
export interface CompleteRequest {
  server: string;
  reference: { type: "prompt"; name: string } | { type: "template"; uriTemplate: string };
  argument: string;
  value: string;
  /** Arguments that are already filled in. */
  context: Record<string, string>;
}

export interface CompleteAnswer {
  values: string[];
  total: number | null;
  hasMore: boolean;
}

// ── Questions, tasks, subscriptions ─────────────────────────────────────────────────────────────────────────────────

export interface Question {
  question: number;
  server: string;
  /** The call that waits for the answer, if it is known. */
  call: number | null;
  askedAtMs: UnixMs;
  expiresAtMs: UnixMs | null;
  body: QuestionBody;
}

export type QuestionBody =
  | { type: "form"; message: string; schemaJson: JsonText }
  | { type: "url"; message: string; url: string }
  | { type: "sampling"; paramsJson: JsonText }
  | { type: "roots"; roots: Root[] };

export interface Root {
  uri: string;
  name: string | null;
}

/** `POST /api/questions/{question}`. */
export type Answer =
  | { type: "accept"; contentJson: JsonText | null }
  | { type: "decline" }
  | { type: "cancel" }
  /** A `CreateMessageResult`. */
  | { type: "sampling"; resultJson: JsonText }
  | { type: "roots"; roots: Root[] };

export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

export interface TaskSnapshot {
  server: string;
  taskId: string;
  call: number | null;
  status: TaskStatus;
  statusMessage: string | null;
  createdAtMs: UnixMs;
  updatedAtMs: UnixMs;
  ttlMs: number | null;
}

export interface ResourceSubscription {
  server: string;
  uri: string;
  updates: number;
  lastUpdateMs: UnixMs | null;
}

// ── Traffic ─────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Frame {
  /** Ascending, without gaps among kept frames. */
  frame: number;
  atMs: UnixMs;
  server: string;
  /** `out`: to the server. `in`: from the server. */
  direction: "out" | "in";
  kind: "request" | "response" | "notification" | "invalid";
  /** Of a response: the method of its request. */
  method: string | null;
  /** The tool, prompt or URI, at most 120 characters. */
  target: string | null;
  /** The JSON-RPC id as JSON text. */
  id: JsonText | null;
  bytes: number;
  /** The host's call that the frame belongs to; questions and retries share the number of their call. */
  call: number | null;
  /** Of a response: the frame of its request. */
  requestFrame: number | null;
  /** Of a response: the time since its request. */
  ms: number | null;
  status: FrameStatus | null;
}

/** Of a response. `toolError`: a result with `isError`. `inputRequired`: a question inside the result. */
export type FrameStatus = "ok" | "error" | "toolError" | "inputRequired" | "cancelled";

export interface TrafficTotals {
  frames: number;
  bytes: number;
  /** Number of the oldest frame that is kept. */
  firstFrame: number;
  recording: boolean;
}

/** `GET /api/traffic`: frames in order. */
export interface TrafficPage {
  frames: Frame[];
  totals: TrafficTotals;
  /** More frames follow the last one. */
  hasMore: boolean;
}

/** `GET /api/traffic/{frame}`. */
export interface FramePayload {
  frame: number;
  /** Secrets masked. */
  payload: string;
  truncated: boolean;
  bytes: number;
}

/** `POST /api/recordings`: a recording that was opened, without servers. */
export interface Recording {
  name: string;
  frames: RecordedFrame[];
}

export interface RecordedFrame {
  frame: Frame;
  payload: string;
}

// ── Logins ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** `GET /api/logins`. */
export interface Logins {
  logins: LoginRow[];
  /** The token store cannot be read. */
  storeError: string | null;
}

export interface LoginRow {
  /** The configured servers that use it. */
  servers: string[];
  address: string;
  /** The caller whose login it is; null for the login of the user who runs the process. */
  principal: string | null;
  account: string;
  issuer: string;
  clientId: string;
  scopes: string[];
  state: LoginState;
  expiresAtMs: UnixMs | null;
  canRefresh: boolean;
}

export type LoginState =
  | { type: "pending" }
  | { type: "active" }
  | { type: "needsLogin"; reason: string }
  | { type: "needsUpdate"; reason: string }
  /** Logging in again would not help. */
  | { type: "orphaned"; reason: string };

export interface LoginAttempt {
  attempt: number;
  server: string;
  step: LoginStep;
}

export type LoginStep =
  | { type: "starting" }
  | { type: "openUrl"; url: string }
  | { type: "deviceCode"; userCode: string; verificationUri: string; verificationUriComplete: string | null }
  | { type: "exchanging" }
  | { type: "done"; account: string }
  | { type: "failed"; error: string; nextStep: string }
  | { type: "cancelled" };

/** `POST /api/logins`. */
export interface LoginRequest {
  server: string;
  account: string | null;
}

/** `POST /api/logins/forget`. */
export interface ForgetLogin {
  address: string;
  issuer: string;
  clientId: string;
  account: string;
}

// ── Policy and gateway ──────────────────────────────────────────────────────────────────────────────────────────────

/** `GET /api/policy`. */
export interface PolicySnapshot {
  /** Where the rules are from: a file, or the permissions of the configuration. */
  source: string;
  defaultEffect: "allow" | "deny" | "ask";
  rules: PolicyRule[];
  warnings: string[];
  denials: Denial[];
}

export interface PolicyRule {
  /** From 1. */
  index: number;
  name: string | null;
  effect: string;
  ruleJson: JsonText;
  /** The rule has matched nothing since the start. */
  unused: boolean;
}

export interface Denial {
  atMs: UnixMs;
  principal: string | null;
  server: string | null;
  kind: string;
  name: string;
  outcome: "denied" | "missingScope" | "rateLimited";
  rule: string | null;
  reason: string;
}

/** `POST /api/policy/test`. */
export interface PolicyTest {
  principal: string | null;
  issuer: string | null;
  scopes: string[];
  view: string | null;
  server: string;
  kind: string;
  name: string;
  argumentsJson: JsonText | null;
}

export interface PolicyDecision {
  decision: "allow" | "ask" | "deny" | "missingScope";
  sentence: string;
  /** From 1; null if the default decided. */
  rule: number | null;
  scopes: string[];
  listed: boolean;
}

/** `GET /api/gateway`; 404 on a host. */
export interface GatewaySnapshot {
  endpoints: string[];
  views: GatewayView[];
  limits: GatewayLimit[];
  parked: ParkedQuestion[];
  withheld: WithheldName[];
  sessions: number;
  subscriptions: number;
  waitingForLogin: WaitingForLogin[];
}

export interface GatewayView {
  name: string;
  path: string;
  tools: number;
  callers: number;
}

export interface GatewayLimit {
  name: string;
  /** What the limit counts by, such as `principal` or `server`. */
  key: string;
  limit: string;
  used: number | null;
  max: number | null;
  refused: number;
}

export interface ParkedQuestion {
  principal: string | null;
  server: string;
  name: string;
  askedAtMs: UnixMs;
  expiresAtMs: UnixMs;
}

export interface WithheldName {
  name: string;
  claims: ServerItem[];
}

export interface WaitingForLogin {
  principal: string;
  server: string;
  sinceMs: UnixMs;
}

/** `GET /api/audit`: newest first. */
export interface AuditPage {
  records: AuditRow[];
  /** Pass as `before` for older records; null at the end. */
  next: string | null;
  /** Records that were searched. */
  searched: number;
}

export interface AuditRow {
  atMs: UnixMs;
  method: string;
  principal: string | null;
  issuer: string | null;
  authMethod: string | null;
  client: string | null;
  address: string | null;
  view: string | null;
  server: string | null;
  kind: string | null;
  name: string | null;
  outcome: string;
  rule: string | null;
  reason: string | null;
  code: number | null;
  durationMs: number;
  session: string | null;
  traceId: string | null;
}

// ── Adding a server ─────────────────────────────────────────────────────────────────────────────────────────────────

/** `POST /api/servers/plan`: shows what adding would do; nothing is changed. */
export type AddRequest =
  | { type: "url"; name: string; url: string; scope: string }
  | { type: "program"; name: string; command: string[]; scope: string };

export type AddPlan =
  /** `POST /api/servers` with the same request writes this. */
  | { type: "apply"; path: string; entryJson: JsonText; warnings: string[] }
  /** The console does not edit the configuration: a command to paste. */
  | { type: "command"; command: string; reason: string };

// ── Errors ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The body of every response that is not 2xx. */
export interface ApiError {
  /** A stable word, such as `key_expired`, `not_found`, `read_only`, `confirmation_required`, `invalid_arguments`. */
  code: string;
  message: string;
  nextStep: string | null;
}

// ── Events ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** `GET /api/events`. The `id` of each event is its sequence number. */
export type ConsoleEvent =
  /** Events are missing: fetch the snapshot again. Has the number of the last event that was lost. */
  | { type: "gap"; lost: number }
  | { type: "server"; server: ServerSnapshot }
  | { type: "serverRemoved"; name: string }
  | { type: "stderr"; server: string; lines: StderrLine[] }
  | { type: "latency"; server: string; samples: LatencySample[]; metrics: ServerMetrics }
  | { type: "catalog"; revision: number }
  | { type: "doctorStep"; run: number; server: string; step: DoctorStep }
  | { type: "doctorDone"; run: number; server: string; outcome: DoctorOutcome }
  | { type: "call"; call: CallSnapshot }
  | { type: "question"; question: Question }
  | { type: "questionClosed"; question: number; reason: "answered" | "cancelled" | "expired" }
  | { type: "task"; task: TaskSnapshot }
  | { type: "subscription"; subscription: ResourceSubscription }
  | { type: "unsubscribed"; server: string; uri: string }
  /** A batch: at most 500 frames, sent at most every 50 ms. */
  | { type: "frames"; frames: Frame[]; totals: TrafficTotals }
  | { type: "trafficCleared"; totals: TrafficTotals }
  | { type: "loginAttempt"; attempt: LoginAttempt }
  | { type: "loginsChanged" }
  | { type: "denial"; denial: Denial }
  | { type: "gatewayChanged" };
