//! Checks the values of a form against its schema.

use switchboard_json::{OrderedMap, Raw};
use switchboard_protocol::{ChoiceOption, FormField, FormSchema, NumberField, TextField};

/// Checks the values of a form.
///
/// # Errors
/// The first value that does not fit, with its name.
pub(super) fn check_form(schema: &FormSchema, values: &OrderedMap<Raw>) -> Result<(), String> {
    if let Some(missing) = schema.required.iter().find(|name| !values.contains_key(name)) {
        return Err(format!("`{missing}` is missing"));
    }
    for (name, value) in values.iter() {
        let Some(field) = schema.properties.get(name) else {
            return Err(format!("the form has no field `{name}`"));
        };
        check_field(field, value).map_err(|problem| format!("`{name}` {problem}"))?;
    }
    Ok(())
}

fn check_field(field: &FormField, value: &Raw) -> Result<(), String> {
    match field {
        FormField::Text(field) => check_text(field, value),
        FormField::Number(field) => check_number(field, value),
        FormField::Integer(field) => {
            let number: f64 = value.decode().map_err(|_| "is not a number".to_owned())?;
            if number.fract() != 0.0 {
                return Err("is not a whole number".to_owned());
            }
            check_number(field, value)
        }
        FormField::Boolean(_) => {
            value.decode::<bool>().map(drop).map_err(|_| "is neither true nor false".into())
        }
        FormField::Choice(field) => {
            let chosen: String = value.decode().map_err(|_| "is not a text".to_owned())?;
            check_choice(&field.options, &chosen)
        }
        FormField::MultiChoice(field) => {
            let chosen: Vec<String> = value.decode().map_err(|_| "is not a list of texts".to_owned())?;
            let count = chosen.len() as u64;
            if field.min_items.is_some_and(|min| count < min)
                || field.max_items.is_some_and(|max| count > max)
            {
                return Err(format!("has {count} choices, which is not in the allowed range"));
            }
            chosen.iter().try_for_each(|chosen| check_choice(&field.options, chosen))
        }
        // The server checks what is not known here.
        _ => Ok(()),
    }
}

fn check_text(field: &TextField, value: &Raw) -> Result<(), String> {
    let text: String = value.decode().map_err(|_| "is not a text".to_owned())?;
    let length = text.chars().count() as u64;
    if field.min_length.is_some_and(|min| length < min) {
        return Err("is too short".to_owned());
    }
    if field.max_length.is_some_and(|max| length > max) {
        return Err("is too long".to_owned());
    }
    Ok(())
}

fn check_number(field: &NumberField, value: &Raw) -> Result<(), String> {
    let number: f64 = value.decode().map_err(|_| "is not a number".to_owned())?;
    if field.minimum.is_some_and(|min| number < min) {
        return Err("is too small".to_owned());
    }
    if field.maximum.is_some_and(|max| number > max) {
        return Err("is too large".to_owned());
    }
    Ok(())
}

fn check_choice(options: &[ChoiceOption], chosen: &str) -> Result<(), String> {
    match options.iter().any(|option| option.value == chosen) {
        true => Ok(()),
        false => Err("is not one of the choices".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use switchboard_protocol::{BooleanField, ChoiceField, MultiChoiceField};

    use super::*;

    #[test]
    fn values_are_checked_against_the_form() {
        let sizes = [ChoiceOption::new("small"), ChoiceOption::new("large")];
        let schema = FormSchema::new()
            .with_required("name", FormField::Text(TextField::new().with_max_length(3u64)))
            .with_optional("age", FormField::Integer(NumberField::new().with_minimum(0.0)))
            .with_optional("gift", FormField::Boolean(BooleanField::new()))
            .with_optional("size", FormField::Choice(ChoiceField::new(sizes.clone())))
            .with_optional("sizes", FormField::MultiChoice(MultiChoiceField::new(sizes)));
        let check = |text: &str| {
            let values: OrderedMap<Raw> = Raw::parse(text.to_owned()).unwrap().decode().unwrap();
            check_form(&schema, &values)
        };
        assert_eq!(check(r#"{"name":"Ada","age":3.0,"gift":true,"size":"small","sizes":["large"]}"#), Ok(()));
        for (text, problem) in [
            ("{}", "`name` is missing"),
            (r#"{"name":"Ada","x":1}"#, "the form has no field `x`"),
            (r#"{"name":"Grace"}"#, "`name` is too long"),
            (r#"{"name":null}"#, "`name` is not a text"),
            (r#"{"name":"Ada","age":1.5}"#, "`age` is not a whole number"),
            (r#"{"name":"Ada","age":-1}"#, "`age` is too small"),
            (r#"{"name":"Ada","gift":"yes"}"#, "`gift` is neither true nor false"),
            (r#"{"name":"Ada","size":"huge"}"#, "`size` is not one of the choices"),
            (r#"{"name":"Ada","sizes":["huge"]}"#, "`sizes` is not one of the choices"),
        ] {
            assert_eq!(check(text), Err(problem.to_owned()), "{text}");
        }
    }
}
