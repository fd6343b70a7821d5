//! Where a service can stand, and how it can be written: each of these must compile without a warning.
#![cfg(feature = "service-client")]
#![deny(warnings, unreachable_pub)]

/// Two services in one module, and a glob import of all there is.
mod two {
    pub(crate) mod api {
        use switchboard::service::prelude::*;

        /// One.
        #[service(version = "1.0.0", dyn_compatible)]
        pub(crate) trait One {
            /// Runs.
            #[tool]
            async fn run(&self, text: String) -> Result<String>;
        }

        /// Other.
        #[service(version = "1.0.0", dyn_compatible, rpc = "/rpc")]
        pub(crate) trait Other {
            /// Runs.
            #[tool]
            async fn run(&self, text: String) -> Result<String>;
            /// Stops.
            async fn stop(&self) -> Result<()>;
            /// It ran.
            #[notification]
            fn ran(text: String);
        }
    }

    use self::api::*;
    use switchboard::service::prelude::*;

    struct Svc;

    impl One for Svc {
        async fn run(&self, text: String) -> Result<String> {
            Ok(text)
        }
    }

    struct OtherSvc(OtherEvents);

    impl Other for OtherSvc {
        async fn run(&self, text: String) -> Result<String> {
            self.0.ran(&text);
            Ok(text)
        }
        async fn stop(&self) -> Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_glob_of_both_leaves_no_method_in_doubt() {
        assert_eq!(Svc.run("a".into()).await.unwrap(), "a");
        let boxed: Box<dyn DynOne> = Box::new(Svc);
        assert_eq!(boxed.run("b".into()).await.unwrap(), "b");
        let (events, feed) = OtherEvents::channel(1);
        let other = OtherSvc(events);
        assert_eq!(other.run("c".into()).await.unwrap(), "c");
        other.stop().await.unwrap();
        OtherServer::builder(other).events(feed).build().unwrap();
        assert_eq!(OneServer::design().name, "one");
        assert_eq!(OtherServer::design().rpc_only[0].name, "stop");
    }
}

#[test]
fn a_service_can_stand_in_a_function() {
    use switchboard::service::prelude::*;

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Local {
        text: String,
    }

    /// Local.
    #[service(version = "1.0.0")]
    trait Inner {
        /// Echoes.
        #[tool]
        async fn echo(&self, #[schemars(length(max = 3))] text: String, local: Local) -> Result<Local> {
            Ok(Local { text: text + &local.text })
        }
    }

    struct Svc;

    impl Inner for Svc {}

    let server = InnerServer::builder(Svc).build().unwrap();
    drop(server);
    assert_eq!(InnerServer::design().tools[0].args.property("text").unwrap()["maxLength"], 3);
}

/// Through a `macro_rules!`, with its fragments in every place.
mod through {
    use switchboard::service::prelude::*;

    macro_rules! echoing {
        ($name:ident, $doc:literal, $tool:literal, $argument:ident: $type:ty = $default:expr) => {
            #[doc = $doc]
            #[service(version = "1.0.0")]
            trait $name {
                #[doc = $doc]
                #[tool(name = $tool)]
                async fn echo(
                    &self,
                    cx: &Cx,
                    #[arg(default = $default)] $argument: $type,
                    events: Events<$type>,
                ) -> Result<$type> {
                    let _ = (cx, events);
                    Ok($argument)
                }
            }
        };
    }

    echoing!(Numbers, "Echoes numbers.", "echo_number", number: u32 = 7);
    echoing!(Words, "Echoes words.", "echo_word", word: Vec<String> = Vec::new());

    struct Svc;

    impl Numbers for Svc {}
    impl Words for Svc {}

    #[tokio::test]
    async fn a_service_can_come_from_another_macro() {
        let design = NumbersServer::design();
        assert_eq!(design.tools[0].name, "echo_number");
        assert_eq!(design.tools[0].description, "Echoes numbers.");
        assert_eq!(design.tools[0].args.property("number").unwrap()["default"], 7);
        assert_eq!(WordsServer::design().tools[0].args.names(), ["word"]);
        let server = NumbersServer::builder(Svc).build().unwrap();
        let session = switchboard::Client::new().connect(switchboard::InProcess::new(&server)).await.unwrap();
        let result = session.call_tool("echo_number", json!({})).await.unwrap();
        assert_eq!(result.text(), "7");
        let numbers = NumbersClient::new(session);
        let cx = Cx::call().build();
        assert_eq!(numbers.echo(&cx, 3, Events::discard()).await.unwrap(), 3);
        WordsServer::builder(Svc).build().unwrap();
    }
}

/// The trait is closed, what implements it need not be.
mod generic {
    use std::fmt::Display;

    use switchboard::service::prelude::*;

    /// Shows.
    #[service(version = "1.0.0")]
    trait Shows {
        /// Shows it.
        #[tool]
        async fn show(&self) -> Result<String>;
    }

    struct Of<T>(T);

    impl<T: Display + Send + Sync + 'static> Shows for Of<T> {
        async fn show(&self) -> Result<String> {
            Ok(self.0.to_string())
        }
    }

    #[tokio::test]
    async fn an_implementation_can_be_generic() {
        let server = ShowsServer::builder(Of(7)).build().unwrap();
        let session = switchboard::Client::new().connect(switchboard::InProcess::new(&server)).await.unwrap();
        assert_eq!(ShowsClient::new(session).show().await.unwrap(), "7");
    }
}

/// Another path to the crate, and no other name of it in sight.
mod renamed {
    mod inner {
        pub(crate) use switchboard as board;
    }

    use inner::board::service::prelude::{Form, FormChoice, Result, ServiceError, service};

    /// Renamed.
    #[service(version = "1.0.0", crate = "inner::board")]
    trait Renamed {
        /// Echoes.
        #[tool]
        async fn echo(&self, #[schemars(range(max = 3))] number: u32) -> Result<u32>;
    }

    #[derive(FormChoice, serde::Deserialize)]
    #[form(crate = "inner::board")]
    enum Colour {
        Red,
    }

    #[derive(Form, serde::Deserialize)]
    #[form(crate = "inner::board")]
    #[expect(dead_code, reason = "only its form is looked at")]
    struct Painted {
        colour: Colour,
    }

    #[derive(Debug, ServiceError)]
    #[service_error(crate = "inner::board")]
    enum Failure {
        #[tool_error("wet")]
        #[message("The paint is wet.")]
        Wet,
        Other(inner::board::service::Error),
    }

    #[test]
    fn the_crate_can_have_another_path() {
        use inner::board::service::Form as _;
        use inner::board::service::ServiceError as _;
        assert_eq!(RenamedServer::design().tools[0].name, "echo");
        assert_eq!(Painted::form().required, ["colour"]);
        assert_eq!(Failure::Wet.into_error().to_string(), "The paint is wet.");
        assert!(matches!(Failure::from_error(inner::board::service::Error::Timeout), Failure::Other(_)));
    }
}

/// Doc comments in every form they can have.
mod docs {
    use switchboard::service::prelude::*;

    #[doc = "Said in an attribute,"]
    #[doc = "on two lines."]
    #[doc = ""]
    #[doc = include_str!("service_shapes/more.md")]
    #[service(version = "1.0.0")]
    trait Said {
        /** A block comment.

        With a paragraph. */
        #[tool]
        async fn block(&self) -> Result<()>;
        #[doc = include_str!("service_shapes/more.md")]
        #[tool]
        async fn included(&self) -> Result<()>;
        #[doc = concat!("Put ", "together.")]
        #[tool]
        async fn put_together(
            &self,
            #[doc = concat!("And ", "here.")] text: String,
            /// On one line.
            ///
            /// And another paragraph.
            other: String,
        ) -> Result<()>;
    }

    /// The doc comment.
    ///
    /// With more.
    #[service(version = "1.0.0", title = "Titled")]
    trait Titled {
        /// Does nothing.
        #[tool]
        async fn nothing(&self) -> Result<()>;
    }

    #[test]
    fn v11_every_form_of_a_doc_comment_is_a_description() {
        let design = SaidServer::design();
        assert_eq!(design.title, None, "v11: a sentence is no title");
        assert_eq!(design.description.as_deref(), Some("Said in an attribute, on two lines."));
        assert_eq!(design.instructions.as_deref(), Some("More to say.\n\nIn two paragraphs."));
        assert_eq!(design.tools[0].description, "A block comment.\n\nWith a paragraph.");
        assert_eq!(design.tools[1].description, "More to say.\n\nIn two paragraphs.");
        assert_eq!(design.tools[2].description, "Put together.");
        let described = |name: &str| design.tools[2].args.property(name).unwrap()["description"].clone();
        assert_eq!(described("text"), "And here.");
        assert_eq!(described("other"), "On one line.\n\nAnd another paragraph.");
        let titled = TitledServer::design();
        assert_eq!(titled.title.as_deref(), Some("Titled"));
        assert_eq!(titled.description.as_deref(), Some("The doc comment."));
        assert_eq!(titled.instructions.as_deref(), Some("With more."));
    }
}

/// Aliases hide nothing that matters.
mod aliases {
    use switchboard::service::prelude::*;

    type Texts = Vec<String>;
    type TextsResult = Result<Texts>;

    /// Aliased.
    #[service(version = "1.0.0")]
    trait Aliased {
        /// Sorts.
        #[tool]
        async fn sort(&self, r#type: Texts, _unused: Option<u32>) -> TextsResult {
            let mut sorted = r#type;
            sorted.sort();
            Ok(sorted)
        }
    }

    struct Svc;

    impl Aliased for Svc {}

    #[tokio::test]
    async fn an_alias_is_what_it_stands_for() {
        let tool = &AliasedServer::design().tools[0];
        assert_eq!(tool.args.names(), ["type", "unused"]);
        assert_eq!(tool.output.schema().unwrap()["type"], "array");
        assert_eq!(Svc.sort(vec!["b".into(), "a".into()], None).await.unwrap(), ["a", "b"]);
    }
}

/// Bytes as arguments, results and resources.
mod bytes {
    use switchboard::client::RevisionPolicy;
    use switchboard::service::prelude::*;
    use switchboard::{Client, InProcess};

    /// Files.
    #[service(version = "1.0.0")]
    trait Files {
        /// Stores bytes and gives them back, with a key and what else there is at the end.
        #[tool]
        async fn store(
            &self,
            /// What to store.
            data: Bytes,
            #[arg(base64)] key: Vec<u8>,
            #[arg(base64)] more: Option<Vec<u8>>,
            #[arg(base64, default = vec![7])] seven: Vec<u8>,
        ) -> Result<Bytes>;
        /// A picture.
        #[resource(uri = "picture://{id}", mime = "image/png")]
        async fn picture(&self, id: String) -> Result<Bytes>;
    }

    struct Disk;

    impl Files for Disk {
        async fn store(
            &self,
            data: Bytes,
            key: Vec<u8>,
            more: Option<Vec<u8>>,
            seven: Vec<u8>,
        ) -> Result<Bytes> {
            Ok([data.into_vec(), key, more.unwrap_or_default(), seven].concat().into())
        }
        async fn picture(&self, id: String) -> Result<Bytes> {
            Ok(id.as_str().into())
        }
    }

    #[tokio::test]
    async fn d5_bytes_are_base64_on_the_wire_and_bytes_on_both_sides() {
        for offer in [RevisionPolicy::ModernOnly, RevisionPolicy::LegacyOnly] {
            let server = FilesServer::builder(Disk).build().unwrap();
            let session = Client::new().with_revisions(offer).connect(InProcess::new(&server)).await.unwrap();
            let files = FilesClient::new(session.clone());
            let all = |more: &[u8]| [&[0xff, 0xfe], b"key".as_slice(), more, &[7]].concat();
            let stored = files.store(vec![0xff, 0xfe].into(), b"key".to_vec(), None, vec![7]).await.unwrap();
            assert_eq!(&*stored, all(b""));
            let more = Some(b"more".to_vec());
            let stored = files.store(vec![0xff, 0xfe].into(), b"key".to_vec(), more, vec![7]).await.unwrap();
            assert_eq!(&*stored, all(b"more"));
            assert_eq!(&*files.picture("hi".into()).await.unwrap(), b"hi");

            let tools = session.list_tools().await.unwrap();
            let schema: serde_json::Value = tools.by_name("store").unwrap().input_schema.decode().unwrap();
            for name in ["data", "key", "more", "seven"] {
                let property = &schema["properties"][name];
                assert_eq!(
                    (&property["type"], &property["contentEncoding"]),
                    (&json!("string"), &json!("base64")),
                    "{property}"
                );
            }
            assert_eq!(schema["properties"]["seven"]["default"], "Bw==");
            assert_eq!(schema["required"], json!(["data", "key"]));

            let result = session.call_tool("store", json!({"data": "aGk", "key": "//4="})).await.unwrap();
            assert!(result.text().contains("aGn//gc="), "{}", result.text());
            let wrong = session.call_tool("store", json!({"data": "?", "key": ""})).await.unwrap();
            assert!(wrong.is_error && wrong.text().contains("base64"), "{}", wrong.text());
            let read = session.read_resource("picture://hi").await.unwrap();
            let read = serde_json::to_value(&read.contents).unwrap();
            assert_eq!(read, json!([{"uri": "picture://hi", "mimeType": "image/png", "blob": "aGk="}]));
        }
    }
}

/// A resource whose members are listed.
mod members {
    use switchboard::client::RevisionPolicy;
    use switchboard::protocol::Resource;
    use switchboard::service::prelude::*;
    use switchboard::{Client, InProcess};

    /// Documents.
    #[service(version = "1.0.0")]
    trait Documents {
        /// One document.
        #[resource(uri = "doc://{id}", mime = "text/markdown", list = list_documents)]
        async fn document(&self, id: String) -> Result<String>;
        /// Lists them.
        async fn list_documents(&self, cx: &Cx) -> Result<Vec<Resource>>;
        /// All there is.
        #[resource(uri = "all://documents")]
        async fn all(&self) -> Result<String>;
    }

    struct Shelf;

    impl Documents for Shelf {
        async fn document(&self, id: String) -> Result<String> {
            Ok(format!("# {id}"))
        }
        async fn list_documents(&self, cx: &Cx) -> Result<Vec<Resource>> {
            assert!(cx.revision().is_some());
            let named = |id: &str| Resource::new(format!("doc://{id}"), id);
            let mut last = named("c");
            last.mime_type = Some("text/plain".into());
            Ok(vec![named("a"), named("b"), last, named("secret"), Resource::new("other://x", "other")])
        }
        async fn all(&self) -> Result<String> {
            Ok("abc".into())
        }
    }

    #[tokio::test]
    async fn v13_the_members_of_a_resource_are_listed_where_they_can_be_read() {
        for (offer, size) in [
            (RevisionPolicy::ModernOnly, 100),
            (RevisionPolicy::LegacyOnly, 100),
            (RevisionPolicy::ModernOnly, 1),
            (RevisionPolicy::LegacyOnly, 3),
        ] {
            let builder = DocumentsServer::builder(Shelf).deny_resources(["doc://secret"]).page_size(size);
            let server = builder.build().unwrap();
            let session = Client::new().with_revisions(offer).connect(InProcess::new(&server)).await.unwrap();
            let listed = session.list_resources().await.unwrap();
            let shown: Vec<_> = listed
                .iter()
                .map(|one| (one.uri.as_str(), one.mime_type.as_deref().unwrap_or("-")))
                .collect();
            assert_eq!(
                shown,
                [
                    ("all://documents", "-"),
                    ("doc://a", "text/markdown"),
                    ("doc://b", "text/markdown"),
                    ("doc://c", "text/plain"),
                ]
            );
            assert_eq!(session.list_resource_templates().await.unwrap().iter().count(), 1);
            let documents = DocumentsClient::new(session);
            assert_eq!(documents.document("a".into()).await.unwrap(), "# a");
        }
    }
}
