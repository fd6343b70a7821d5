//! Generator of TypeScript: reads the source text of the contract, and keeps its order and comments.
//!
//! It knows exactly the serde attributes that the contract uses, and panics at others, so that no attribute is ignored.

use std::collections::BTreeSet;

use syn::{Attribute, Expr, Field, Fields, GenericArgument, Item, Lit, Meta, PathArguments, Type, Variant};

/// Returns the declarations of one file of the contract.
pub(crate) fn declarations(source: &str, known: &mut KnownTypes) -> String {
    let file = syn::parse_file(source).unwrap();
    let mut text = String::new();
    for item in &file.items {
        match item {
            Item::Type(alias) => {
                let ty = known.type_script(&alias.ty);
                let name = known.declare(&alias.ident);
                text += &format!("{}export type {name} = {ty};\n\n", comment(&alias.attrs, ""));
            }
            Item::Struct(item) => {
                let casing = SerdeAttributes::read(&item.attrs);
                assert_eq!(casing.rename_all.as_deref(), Some("camelCase"), "{}", item.ident);
                let name = known.declare(&item.ident);
                text += &format!("{}export interface {name} {{\n", comment(&item.attrs, ""));
                for field in item.fields.iter().filter(|field| !SerdeAttributes::read(&field.attrs).skip) {
                    text += &format!("{}  {};\n", comment(&field.attrs, "  "), known.member(field));
                }
                text += "}\n\n";
            }
            Item::Enum(item) => {
                let serde = SerdeAttributes::read(&item.attrs);
                let name = known.declare(&item.ident);
                text += &format!("{}export type {name} =", comment(&item.attrs, ""));
                match serde.tag.as_deref() {
                    None => {
                        let names: Vec<String> = item.variants.iter().map(|one| word(one, &serde)).collect();
                        text += &format!(" {};\n\n", names.join(" | "));
                    }
                    Some("type") => {
                        let has_fields = item.variants.iter().any(|variant| !variant.fields.is_empty());
                        assert!(!has_fields || serde.rename_all_fields.as_deref() == Some("camelCase"));
                        for variant in &item.variants {
                            text += &known.member_of_union(variant, &serde);
                        }
                        text += ";\n\n";
                    }
                    Some(other) => panic!("{name} is tagged by `{other}`"),
                }
            }
            Item::Impl(_) | Item::Use(_) => {}
            _ => panic!("the contract has an item that is no type"),
        }
    }
    text
}

/// The names that were declared and used.
#[derive(Debug, Default)]
pub(crate) struct KnownTypes {
    declared: BTreeSet<String>,
    used: BTreeSet<String>,
}

impl KnownTypes {
    /// Returns the names that are used without a declaration.
    pub(crate) fn undeclared(&self) -> Vec<&String> {
        self.used.difference(&self.declared).collect()
    }

    fn declare(&mut self, name: &syn::Ident) -> String {
        assert!(self.declared.insert(name.to_string()), "`{name}` is declared twice");
        name.to_string()
    }

    fn member(&mut self, field: &Field) -> String {
        let name = field.ident.as_ref().unwrap().to_string();
        format!("{}: {}", camel_case(name.trim_start_matches("r#")), self.type_script(&field.ty))
    }

    fn member_of_union(&mut self, variant: &Variant, serde: &SerdeAttributes) -> String {
        let tag = format!("type: {}", word(variant, serde));
        let fields: Vec<&Field> = match &variant.fields {
            Fields::Unit => Vec::new(),
            Fields::Named(fields) => fields.named.iter().collect(),
            Fields::Unnamed(_) => panic!("`{}` has fields without names", variant.ident),
        };
        let before = format!("\n{}  | ", comment(&variant.attrs, "  "));
        if fields.iter().all(|field| comment(&field.attrs, "").is_empty()) {
            let members: Vec<String> =
                std::iter::once(tag).chain(fields.iter().map(|field| self.member(field))).collect();
            return format!("{before}{{ {} }}", members.join("; "));
        }
        let mut text = format!("{before}{{\n      {tag};\n");
        for field in fields {
            text += &format!("{}      {};\n", comment(&field.attrs, "      "), self.member(field));
        }
        text + "    }"
    }

    fn type_script(&mut self, ty: &Type) -> String {
        let Type::Path(path) = ty else { panic!("the contract has a type that is no path") };
        let last = path.path.segments.last().unwrap();
        let arguments: Vec<String> = match &last.arguments {
            PathArguments::AngleBracketed(list) => list
                .args
                .iter()
                .map(|argument| match argument {
                    GenericArgument::Type(ty) => self.type_script(ty),
                    _ => panic!("`{}` has an argument that is no type", last.ident),
                })
                .collect(),
            _ => Vec::new(),
        };
        match (last.ident.to_string().as_str(), arguments.as_slice()) {
            ("String", []) => "string".to_owned(),
            ("bool", []) => "boolean".to_owned(),
            ("u64" | "i64" | "f64", []) => "number".to_owned(),
            ("Box", [inner]) => inner.clone(),
            ("Option", [inner]) => format!("{inner} | null"),
            ("Vec", [inner]) if inner.contains(' ') => format!("({inner})[]"),
            ("Vec", [inner]) => format!("{inner}[]"),
            ("BTreeMap", [key, value]) if key == "string" => format!("Record<string, {value}>"),
            (name, []) => {
                self.used.insert(name.to_owned());
                name.to_owned()
            }
            (name, _) => panic!("the generator does not know the type `{name}`"),
        }
    }
}

#[derive(Debug, Default)]
struct SerdeAttributes {
    rename_all: Option<String>,
    rename_all_fields: Option<String>,
    tag: Option<String>,
    skip: bool,
}

impl SerdeAttributes {
    fn read(attributes: &[Attribute]) -> Self {
        let mut found = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            attribute
                .parse_nested_meta(|meta| {
                    let name = meta.path.get_ident().unwrap().to_string();
                    let value = || syn::Result::Ok(Some(meta.value()?.parse::<syn::LitStr>()?.value()));
                    match name.as_str() {
                        "rename_all" => found.rename_all = value()?,
                        "rename_all_fields" => found.rename_all_fields = value()?,
                        "tag" => found.tag = value()?,
                        "skip" => found.skip = true,
                        other => panic!("the generator does not know `#[serde({other})]`"),
                    }
                    syn::Result::Ok(())
                })
                .unwrap();
        }
        found
    }
}

/// Returns the doc comment of an item.
fn comment(attributes: &[Attribute], indent: &str) -> String {
    let lines: Vec<String> = attributes.iter().filter_map(doc_line).collect();
    match lines.as_slice() {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let text: String = lines.iter().map(|line| format!("{indent} * {line}\n")).collect();
            format!("{indent}/**\n{text}{indent} */\n")
        }
    }
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else { return None };
    let Expr::Lit(literal) = &meta.value else { return None };
    let Lit::Str(text) = &literal.lit else { return None };
    meta.path.is_ident("doc").then(|| text.value().trim().to_owned())
}

/// Returns the name of a variant as a string of TypeScript.
fn word(variant: &Variant, serde: &SerdeAttributes) -> String {
    let name = variant.ident.to_string();
    assert!(SerdeAttributes::read(&variant.attrs).rename_all.is_none(), "{name}");
    let separated = |separator: char| {
        let mut text = String::new();
        for (at, character) in name.char_indices() {
            if at > 0 && character.is_uppercase() {
                text.push(separator);
            }
            text.extend(character.to_lowercase());
        }
        text
    };
    let name = match serde.rename_all.as_deref() {
        Some("camelCase") => name[..1].to_lowercase() + &name[1..],
        Some("snake_case") => separated('_'),
        Some("kebab-case") => separated('-'),
        other => panic!("the generator does not know `rename_all = {other:?}`"),
    };
    format!("\"{name}\"")
}

fn camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + &part[..1].to_uppercase() + &part[1..])
}
