// The fields of a form: one component for each kind of node.

import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import type { Json } from "../json/json";
import { printJson } from "../json/print";
import { Text } from "../ui/text";
import { describe, type FormNode } from "./node";
import {
  BoxesField, ChoiceField, type ControlProps, type FieldProps, FileField, isPicked, nameOf, NumberField, RawField, TextField,
} from "./scalar_fields";
import { ABSENT, type FormState, initialState, nextKey, outputOf, stateOf } from "./state";
import { type Path, type Problem, REQUIRED } from "./validate";

interface LabeledProps extends FieldProps {
  name: string;
  required: boolean;
  /** Removes the value where it may be absent. */
  onUnset: (() => void) | null;
  /** More buttons beside the name. */
  actions?: ComponentChildren;
}

/** A value with its name, description, problems and actions. */
export function LabeledField(props: LabeledProps) {
  const { set, schema, state, path, problems, name, required, onUnset } = props;
  const node = describe(set, schema);
  const id = useId();
  // A required member has its mark; that it is not filled in yet is no mistake to point at.
  const own = problems.filter((problem) => problem.path.length === path.length && !(state.t === "absent" && problem.message === REQUIRED));
  const isGroup = node.kind === "object" || node.kind === "array" || node.kind === "union";
  const { description, default: fallback, limits, deprecated } = node.info;
  const label = (
    <>
      <Text value={name === "" ? '""' : name} max={120} />
      {required && <span class="required" title="required"> *<span class="visually-hidden"> required</span></span>}
    </>
  );
  return (
    <div class="form-field" role={isGroup ? "group" : undefined} aria-labelledby={isGroup ? `${id}-label` : undefined}>
      <div class="form-label">
        {isGroup || state.t === "raw" ? <span id={`${id}-label`} class="form-name">{label}</span> : <label id={`${id}-label`} for={id} class="form-name">{label}</label>}
        <span class="muted small">{typeName(node)}{deprecated ? " · deprecated" : ""}</span>
        <span class="head-space" />
        <RawToggle {...props} node={node} />
        {props.actions}
        {onUnset !== null && state.t !== "absent" && (
          <button type="button" class="button quiet tiny" aria-label={`Leave out ${name}`} onClick={onUnset}>Leave out</button>
        )}
      </div>
      {(description !== null || limits !== null) && (
        <div class="muted small form-help" id={`${id}-help`}>
          {description !== null && <Text value={description} max={300} expandable />}
          {limits !== null && <div><Text value={limits} max={200} /></div>}
        </div>
      )}
      <Field {...props} node={node} id={id} describedBy={`${id}-problems ${id}-help`} />
      {state.t === "absent" && fallback !== undefined && <div class="muted small">Left out; the default is <code><Text value={printJson(fallback)} max={120} /></code></div>}
      <div id={`${id}-problems`} class="form-problems">
        {own.map((problem) => <div key={problem.message}>{problem.message}</div>)}
      </div>
    </div>
  );
}

function typeName(node: FormNode): string {
  switch (node.kind) {
    case "number":
      return node.integer ? "integer" : "number";
    case "choice":
      return node.choices.length === 1 ? "fixed value" : "choice";
    case "string":
      return node.isFile ? "file (base64)" : (node.format ?? "string");
    case "union":
      return node.options.some((option) => option.label === "null") ? "nullable" : "one of several";
    case "raw":
      return "JSON";
    default:
      return node.kind;
  }
}

/** Switches one value between its form and its JSON text. */
function RawToggle({ set, state, onChange, node, name }: LabeledProps & { node: FormNode }) {
  if (node.kind === "raw" || node.kind === "boolean" || node.kind === "choice" || node.kind === "null") return null;
  if (state.t !== "raw") {
    const { value, drafts } = outputOf(state);
    const toRaw = () => onChange({ t: "raw", text: value === undefined ? "" : printJson(value) });
    return <button type="button" class="button quiet tiny" aria-label={`Edit ${name} as JSON`} disabled={drafts.length > 0} onClick={toRaw}>JSON</button>;
  }
  const { value, drafts } = outputOf(state);
  const again = value === undefined ? ABSENT : stateOf(set, node, value);
  const isBlocked = drafts.length > 0 || again.t === "raw";
  return <button type="button" class="button quiet tiny" aria-label={`Edit ${name} as a form`} disabled={isBlocked} onClick={() => onChange(again)}>Form</button>;
}

/** The control of a value, without its name. */
export function Field(props: ControlProps) {
  const { node, state } = props;
  if (state.t === "raw" || node.kind === "raw") return <RawField {...props} />;
  switch (node.kind) {
    case "string":
      return node.isFile ? <FileField {...props} /> : <TextField {...props} />;
    case "number":
      return <NumberField {...props} />;
    case "boolean":
      return <ChoiceField {...props} choices={[{ label: "true", value: true }, { label: "false", value: false }]} />;
    case "null":
      return <ChoiceField {...props} choices={[{ label: "null", value: null }]} />;
    case "choice":
      return <ChoiceField {...props} choices={node.choices} />;
    case "object":
      return <ObjectField {...props} node={node} />;
    case "array":
      return <ArrayField {...props} node={node} />;
    case "union":
      return <UnionField {...props} node={node} />;
  }
}

/** A text, a number, a boolean or a choice that may be null: its own control, and a button for null. */
function NullableField(props: ControlProps & { inner: FormNode; own: number; schema: Json }) {
  const { state, onChange, inner, own, schema, path, id } = props;
  const isNull = state.t === "union" && state.option !== own;
  const value = state.t === "union" && !isNull ? state.state : ABSENT;
  const toNull = () => onChange(isNull ? ABSENT : { t: "union", option: 1 - own, state: { t: "value", value: null } });
  const change = (next: FormState) => onChange(next.t === "absent" ? ABSENT : { t: "union", option: own, state: next });
  return (
    <div class="with-copy">
      {isNull ? <input class="field mono" id={id} aria-label={nameOf(path)} value="null" readOnly /> : <div><Field {...props} node={inner} schema={schema} state={value} onChange={change} /></div>}
      <button type="button" class="button tiny" aria-pressed={isNull} aria-label={`Send null for ${nameOf(path)}`} onClick={toNull}>null</button>
    </div>
  );
}

function UnionField(props: ControlProps & { node: FormNode & { kind: "union" } }) {
  const { set, state, onChange, node, id, describedBy, path } = props;
  const kinds = node.options.map((one) => describe(set, one.schema));
  const scalar = kinds.findIndex((kind) => ["string", "number", "boolean", "choice"].includes(kind.kind));
  if (kinds.length === 2 && scalar >= 0 && kinds[1 - scalar]!.kind === "null") {
    return <NullableField {...props} inner={kinds[scalar]!} own={scalar} schema={node.options[scalar]!.schema} />;
  }
  const option = state.t === "union" ? state.option : -1;
  const choose = (value: string) => {
    if (value === "") return onChange(ABSENT);
    const next = Number(value);
    onChange({ t: "union", option: next, state: initialState(set, node.options[next]!.schema, true) });
  };
  const chosen = node.options[option];
  const inner = chosen === undefined ? null : describe(set, chosen.schema);
  const isFixed = inner !== null && inner.kind === "null";
  return (
    <div class="form-union">
      <select class="field" id={id} aria-label={`Alternative of ${nameOf(path)}`} aria-describedby={describedBy} value={option < 0 ? "" : String(option)} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">left out</option>
        {node.options.map((one, at) => <option key={at} value={String(at)}>{one.label}</option>)}
      </select>
      {chosen !== undefined && inner !== null && !isFixed && state.t === "union" && (
        <div class="form-nested">
          <Field {...props} node={inner} schema={chosen.schema} state={state.state} id={`${id}-option`} onChange={(next) => onChange({ t: "union", option, state: next })} />
        </div>
      )}
    </div>
  );
}

function inside(problems: Problem[], path: Path): Problem[] {
  return problems.filter((problem) => path.every((part, at) => problem.path[at] === part));
}

function ObjectField(props: ControlProps & { node: FormNode & { kind: "object" } }) {
  const { set, state, onChange, node, path, problems } = props;
  const [showAll, setShowAll] = useState(false);
  const members = state.t === "object" ? state.members : [];
  const put = (name: string, next: FormState) => {
    const at = members.findIndex((member) => member.name === name);
    const own = at < 0 ? [...members, { key: nextKey(), name, state: next }] : members.map((member, index) => (index === at ? { ...member, state: next } : member));
    onChange({ t: "object", members: own });
  };
  if (state.t === "absent") {
    return <button type="button" class="button tiny" onClick={() => onChange(filled(initialState(set, props.schema, true)))}>Fill in</button>;
  }
  const extras = members.filter((member) => !node.members.some((spec) => spec.name === member.name));
  // A schema that names its members and says nothing of others rarely wants others; JSON can still have them.
  const canAdd = node.extra !== null && (node.members.length === 0 || node.extra !== true);
  const isLong = node.members.length > 40 && !showAll;
  const specs = isLong ? node.members.filter((spec, at) => spec.required || at < 20) : node.members;
  return (
    <div class={path.length === 0 ? "form-root" : "form-nested"}>
      {specs.map(({ name, schema, required }) => {
        const own = [...path, name];
        const member = members.find((one) => one.name === name);
        return (
          <LabeledField key={name} set={set} schema={schema} name={name} required={required} path={own} problems={inside(problems, own)} state={member?.state ?? ABSENT} onChange={(next) => put(name, next)} onUnset={required ? null : () => put(name, ABSENT)} />
        );
      })}
      {isLong && <button type="button" class="button tiny" onClick={() => setShowAll(true)}>Show all {node.members.length} members</button>}
      {extras.map((extra) => <ExtraMember key={extra.key} {...props} members={members} at={members.indexOf(extra)} />)}
      {canAdd && (
        <button type="button" class="button tiny" onClick={() => onChange({ t: "object", members: [...members, { key: nextKey(), name: freshName(members), state: initialState(set, node.extra!, true) }] })}>
          Add a member
        </button>
      )}
      {node.members.length === 0 && extras.length === 0 && node.extra === null && <span class="muted small">no members</span>}
    </div>
  );
}

function filled(state: FormState): FormState {
  return state.t === "absent" ? { t: "object", members: [] } : state;
}

function freshName(members: { name: string }[]): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? "key" : `key${number}`;
    if (!members.some((member) => member.name === name)) return name;
  }
}

/** A member whose name is not in the schema: its name can be edited. */
function ExtraMember(props: ControlProps & { node: FormNode & { kind: "object" }; members: { key: number; name: string; state: FormState }[]; at: number }) {
  const { set, onChange, node, path, problems, members, at } = props;
  const member = members[at]!;
  const change = (next: Partial<typeof member>) => onChange({ t: "object", members: members.map((one, index) => (index === at ? { ...one, ...next } : one)) });
  const schema = node.extra ?? true;
  const own = [...path, member.name];
  const id = useId();
  return (
    <div class="form-field">
      <div class="form-extra">
        <input class="field mono" aria-label="Name of the member" value={member.name} spellcheck={false} onInput={(event) => change({ name: event.currentTarget.value })} />
        <button type="button" class="button quiet tiny" aria-label={`Remove ${member.name}`} onClick={() => onChange({ t: "object", members: members.filter((_, index) => index !== at) })}>Remove</button>
      </div>
      <Field set={set} schema={schema} node={describe(set, schema)} state={member.state} id={id} describedBy={`${id}-problems`} path={own} problems={inside(problems, own)} onChange={(next) => change({ state: next })} />
      <div id={`${id}-problems`} class="form-problems">
        {problems.filter((problem) => problem.path.length === own.length && problem.path.at(-1) === member.name).map((problem) => <div key={problem.message}>{problem.message}</div>)}
      </div>
    </div>
  );
}

/** Choices that may be picked together are boxes to check, if there are few. */
const MAX_BOXES = 24;

function ArrayField(props: ControlProps & { node: FormNode & { kind: "array" } }) {
  const { set, state, onChange, node, path, problems, schema } = props;
  const each = node.prefix.length === 0 && node.rest !== null && node.rest !== true ? describe(set, node.rest) : null;
  if (each?.kind === "choice" && each.choices.length <= MAX_BOXES && (state.t === "absent" || isPicked(state, each.choices))) {
    return <BoxesField {...props} choices={each.choices} />;
  }
  if (state.t !== "array") {
    return <button type="button" class="button tiny" onClick={() => onChange(listed(initialState(set, schema, true)))}>Fill in</button>;
  }
  const { items } = state;
  const replace = (next: typeof items) => onChange({ t: "array", items: next });
  const schemaAt = (at: number): Json => node.prefix[at] ?? node.rest ?? true;
  const canAdd = items.length < node.maxItems && (items.length < node.prefix.length || node.rest !== null);
  const move = (at: number, to: number) => {
    const next = [...items];
    next.splice(to, 0, ...next.splice(at, 1));
    replace(next);
  };
  return (
    <div class="form-nested">
      {items.map((item, at) => {
        const own = [...path, at];
        return (
            <LabeledField key={item.key} set={set} schema={schemaAt(at)} name={String(at)} required={false} path={own} problems={inside(problems, own)} state={item.state} onUnset={null} onChange={(next) => replace(items.map((one, index) => (index === at ? { ...one, state: next } : one)))} actions={
              <>
                {at > 0 && node.prefix.length === 0 && <button type="button" class="button quiet tiny" aria-label={`Move item ${at} up`} onClick={() => move(at, at - 1)}>Up</button>}
                <button type="button" class="button quiet tiny" aria-label={`Remove item ${at}`} onClick={() => replace(items.filter((_, index) => index !== at))}>Remove</button>
              </>
            } />
        );
      })}
      {items.length === 0 && <span class="muted small">empty list</span>}
      {canAdd && <button type="button" class="button tiny" onClick={() => replace([...items, { key: nextKey(), state: initialState(set, schemaAt(items.length), true) }])}>Add an item</button>}
    </div>
  );
}

function listed(state: FormState): FormState {
  return state.t === "array" ? state : { t: "array", items: [] };
}
