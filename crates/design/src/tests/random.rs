//! Properties of arbitrary designs, valid or not.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard_protocol::ToolAnnotations;

use crate::example::random_object;
use crate::schema::{SchemaPool, Validator};
use crate::*;

fn name() -> impl Strategy<Value = String> {
    "[a-c]{1,2}|[ -~é]{0,4}"
}

fn kind() -> impl Strategy<Value = ParamKind> {
    prop_oneof![
        Just(ParamKind::Boolean),
        Just(ParamKind::Integer),
        Just(ParamKind::Number),
        Just(ParamKind::Text),
        Just(ParamKind::Any),
        vec(name(), 0..3).prop_map(|values| ParamKind::Choice { values }),
    ]
}

fn param() -> impl Strategy<Value = ParamDef> {
    let default = prop_oneof![Just(json!(1)), Just(json!("x")), Just(json!([true]))];
    (name(), kind(), option::of(name()), any::<bool>(), any::<bool>(), option::of(default)).prop_map(
        |(name, kind, description, repeated, required, default)| {
            let mut param = ParamDef::new(name, kind).with_repeated(repeated).with_required(required);
            (param.description, param.default) = (description, default);
            param
        },
    )
}

fn output() -> impl Strategy<Value = OutputDef> {
    prop_oneof![
        Just(OutputDef::Nothing),
        Just(OutputDef::Text),
        Just(OutputDef::Content),
        random_object().prop_map(OutputDef::structured),
    ]
}

fn tool() -> impl Strategy<Value = ToolDef> {
    let notes = (option::of(name()), vec(name(), 0..2), any::<bool>(), option::of(any::<bool>()));
    (name(), name(), random_object(), output(), notes).prop_map(|(name, description, args, output, notes)| {
        let (title, scopes, task, read_only) = notes;
        let args = ArgsDef::new(args).expect("an object").with_order(["b", "a"]);
        let mut tool = ToolDef::new(name, description)
            .with_args(args)
            .with_output(output)
            .with_scopes(scopes)
            .with_task(task);
        tool.title = title;
        tool.annotations = read_only.map(|hint| ToolAnnotations::new().with_read_only_hint(hint));
        tool
    })
}

fn resource() -> impl Strategy<Value = ResourceDef> {
    let uri = prop_oneof![
        Just("doc://list".to_owned()),
        Just("doc://{a}".into()),
        Just("doc://{+b}".into()),
        name()
    ];
    (name(), uri, name(), vec(param(), 0..3), any::<bool>()).prop_map(
        |(name, uri, description, params, watch)| {
            ResourceDef::new(name, uri, description).with_params(params).with_watch(watch)
        },
    )
}

fn design() -> impl Strategy<Value = Design> {
    let prompt = (name(), vec(param(), 0..2))
        .prop_map(|(name, arguments)| PromptDef::new(name, "Says").with_arguments(arguments));
    let event =
        (name(), random_object()).prop_map(|(name, payload)| NotificationDef::new(name, "Tells", payload));
    let method = (name(), any::<bool>()).prop_map(|(name, internal)| {
        MethodDef::new(name).with_scope(if internal { MethodScope::Internal } else { MethodScope::Rpc })
    });
    let watch = name().prop_map(|name| WatchDef::new(name, "watch"));
    let lists = (vec(tool(), 0..3), vec(resource(), 0..3), vec(prompt, 0..2));
    let rest = (vec(event, 0..2), vec(method, 0..2), vec(watch, 0..2));
    (name(), option::of(name()), option::of(name()), lists, rest).prop_map(
        |(name, rpc, title, lists, rest)| {
            let mut design = Design::new(name, "1")
                .with_tools(lists.0)
                .with_resources(lists.1)
                .with_prompts(lists.2)
                .with_notifications(rest.0)
                .with_rpc_only(rest.1)
                .with_watches(rest.2)
                .with_types(SchemaPool::new());
            (design.rpc, design.title) = (rpc, title);
            design
        },
    )
}

/// Returns the compiled JSON Schema of a design. Compiled once, because it takes longest.
fn validator() -> &'static Validator {
    static VALIDATOR: std::sync::OnceLock<Validator> = std::sync::OnceLock::new();
    VALIDATOR.get_or_init(|| Validator::new(&Design::json_schema()).expect("a schema"))
}

proptest! {
    #[test]
    fn a_design_round_trips(design in design()) {
        let text = serde_json::to_string(&design).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Design>(&text).unwrap(), &design);
        let json: Value = serde_json::from_str(&text).unwrap();
        prop_assert!(validator().is_valid(&json).unwrap(), "{json:#}");
        let lock = Lock::new(&design);
        prop_assert_eq!(&lock.to_string().parse::<Lock>().unwrap(), &lock);
    }

    #[test]
    fn a_design_has_no_changes_against_itself(design in design()) {
        // Of two items with one name only the first is compared.
        let unique = |names: Vec<&String>| (1..names.len()).all(|at| !names[..at].contains(&names[at]));
        prop_assume!(unique(design.tools.iter().map(|tool| &tool.name).collect()));
        prop_assume!(unique(design.resources.iter().map(|resource| &resource.name).collect()));
        prop_assume!(unique(design.prompts.iter().map(|prompt| &prompt.name).collect()));
        prop_assume!(unique(design.notifications.iter().map(|event| &event.name).collect()));
        for resource in &design.resources {
            prop_assume!(unique(resource.params.iter().map(|param| &param.name).collect()));
        }
        for prompt in &design.prompts {
            prop_assume!(unique(prompt.arguments.iter().map(|param| &param.name).collect()));
        }
        prop_assert_eq!(Lock::new(&design).changes(&design), []);
        prop_assert_eq!(Lock::new(&design).changes(&design.clone().with_pooled_types()), []);
    }

    #[test]
    fn any_design_can_be_checked_and_listed(design in design()) {
        let _ = design.check();
        let policy = UriPolicy::default();
        let listed = design.list_tools(OutputSchemaPolicy::Wrapped);
        prop_assert_eq!(listed.len(), design.tools.len());
        for tool in listed {
            let schema: Value = tool.output_schema.map(|schema| schema.decode().unwrap()).unwrap_or(json!({"type": "object"}));
            prop_assert!(schema::is_object(&schema));
        }
        prop_assert!(design.list_resources(&policy).len() <= design.resources.len());
        prop_assert!(design.list_templates(&policy).len() <= design.resources.len());
        prop_assert_eq!(design.list_prompts().len(), design.prompts.len());
    }

    #[test]
    fn a_resource_with_a_valid_uri_is_listed(resource in resource()) {
        let design = Design::new("d", "1").with_resources([resource]);
        let policy = UriPolicy::default();
        let listed = design.list_resources(&policy).len() + design.list_templates(&policy).len();
        prop_assert_eq!(listed > 0, design.resources[0].pattern().is_ok());
    }
}
