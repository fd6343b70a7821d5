//! Fields of an elicitation form: parses and checks typed input, and describes the expected input.

use switchboard_protocol::{ChoiceOption, FormField, MultiChoiceField, NumberField, Raw, TextField};

/// Parses typed input into a value for the field.
///
/// # Errors
/// Returns the message to show when the input is not valid for the field.
pub fn parse_typed(field: &FormField, text: &str) -> Result<Raw, String> {
    let text = text.trim();
    match field {
        FormField::Text(field) => check_text(field, text).map(encode),
        FormField::Number(field) => parse_number(field, text),
        FormField::Integer(field) => match text.parse::<i64>() {
            Ok(_) => parse_number(field, text),
            Err(_) => Err("expected a whole number".to_owned()),
        },
        FormField::Boolean(_) => match text.to_lowercase().as_str() {
            "y" | "yes" | "true" | "on" | "1" => Ok(encode(&true)),
            "n" | "no" | "false" | "off" | "0" => Ok(encode(&false)),
            _ => Err("expected yes or no".to_owned()),
        },
        FormField::Choice(field) => find_option(&field.options, text).map(encode),
        FormField::MultiChoice(field) => {
            let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            let chosen: Vec<&str> =
                parts.map(|part| find_option(&field.options, part)).collect::<Result<_, _>>()?;
            encode_choices(field, chosen)
        }
        _ => Ok(Raw::parse(text.to_owned()).unwrap_or_else(|_| encode(text))),
    }
}

/// Converts a JSON value, given in advance, into a value for the field. A string is parsed like typed input.
///
/// # Errors
/// Returns the reason when the value is not valid for the field.
pub fn parse_json(field: &FormField, value: &Raw) -> Result<Raw, String> {
    match (field, value.decode::<String>(), value.decode::<Vec<String>>()) {
        (FormField::Text(field), Ok(text), _) => check_text(field, &text).map(encode),
        (FormField::Text(_), Err(_), _) => Err("expected text".to_owned()),
        (FormField::MultiChoice(field), _, Ok(many)) => {
            let chosen = many.iter().map(|one| find_option(&field.options, one)).collect::<Result<_, _>>()?;
            encode_choices(field, chosen)
        }
        (_, Ok(text), _) => parse_typed(field, &text),
        _ => parse_typed(field, value.as_str()),
    }
}

/// Returns the default value of the field.
pub fn default(field: &FormField) -> Option<Raw> {
    match field {
        FormField::Text(field) => field.default.as_ref().map(encode),
        FormField::Number(field) => field.default.as_ref().map(encode),
        FormField::Integer(field) => {
            field.default.filter(|value| value.fract() == 0.0).map(|value| encode(&(value as i64)))
        }
        FormField::Boolean(field) => field.default.as_ref().map(encode),
        FormField::Choice(field) => field.default.as_ref().map(encode),
        FormField::MultiChoice(field) => field.default.as_ref().map(encode),
        _ => None,
    }
}

/// Returns a value in the form in which a person types it.
pub fn typed_form(value: &Raw) -> String {
    if let Ok(yes) = value.decode::<bool>() {
        return if yes { "yes" } else { "no" }.to_owned();
    }
    let text =
        value.decode::<String>().or_else(|_| value.decode::<Vec<String>>().map(|many| many.join(", ")));
    text.unwrap_or_else(|_| value.as_str().to_owned())
}

/// Returns a short description of the expected input.
pub fn expected(field: &FormField) -> String {
    let range = |field: &NumberField| match (field.minimum, field.maximum) {
        (Some(minimum), Some(maximum)) => format!(", {minimum} to {maximum}"),
        (Some(minimum), None) => format!(", {minimum} or more"),
        (None, Some(maximum)) => format!(", {maximum} or less"),
        (None, None) => String::new(),
    };
    match field {
        FormField::Text(field) => field.format.clone().unwrap_or_else(|| "text".to_owned()),
        FormField::Number(field) => format!("number{}", range(field)),
        FormField::Integer(field) => format!("whole number{}", range(field)),
        FormField::Boolean(_) => "yes or no".to_owned(),
        FormField::Choice(_) => "one of these, by number or name".to_owned(),
        FormField::MultiChoice(_) => "any of these, separated by commas".to_owned(),
        _ => "JSON or text".to_owned(),
    }
}

/// Returns the title and the description of the field.
pub fn labels(field: &FormField) -> (Option<&str>, Option<&str>) {
    let (title, description) = match field {
        FormField::Text(field) => (&field.title, &field.description),
        FormField::Number(field) | FormField::Integer(field) => (&field.title, &field.description),
        FormField::Boolean(field) => (&field.title, &field.description),
        FormField::Choice(field) => (&field.title, &field.description),
        FormField::MultiChoice(field) => (&field.title, &field.description),
        _ => return (None, None),
    };
    (title.as_deref(), description.as_deref())
}

/// Returns whether the name or a label of the field suggests a secret. Servers must not ask for secrets in forms.
pub fn asks_for_secret(name: &str, field: &FormField) -> bool {
    const PARTS: [&str; 17] = [
        "password",
        "passwd",
        "passphrase",
        "passcode",
        "secret",
        "token",
        "apikey",
        "accesskey",
        "privatekey",
        "credential",
        "authorization",
        "cookie",
        "seedphrase",
        "recoveryphrase",
        "mnemonic",
        "cardnumber",
        "securitycode",
    ];
    const WORDS: [&str; 8] = ["key", "pin", "otp", "cvv", "cvc", "ssn", "pwd", "auth"];
    let (title, description) = labels(field);
    [Some(name), title, description].into_iter().flatten().any(|text| {
        let text: String = text.chars().take(1024).collect();
        let plain: String =
            text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        let mut words = text.split(|char: char| !char.is_ascii_alphanumeric());
        PARTS.iter().any(|part| plain.contains(part))
            || words.any(|word| WORDS.iter().any(|secret| word.eq_ignore_ascii_case(secret)))
    })
}

/// Returns the options of a choice; empty for other fields.
pub fn options(field: &FormField) -> &[ChoiceOption] {
    match field {
        FormField::Choice(field) => &field.options,
        FormField::MultiChoice(field) => &field.options,
        _ => &[],
    }
}

fn encode<T: serde::Serialize + ?Sized>(value: &T) -> Raw {
    Raw::encode(value).unwrap_or_else(|_| Raw::null())
}

fn check_text<'a>(field: &TextField, text: &'a str) -> Result<&'a str, String> {
    let length = text.chars().count() as u64;
    if let Some(least) = field.min_length.filter(|least| length < *least) {
        return Err(format!("expected at least {least} characters"));
    }
    if let Some(most) = field.max_length.filter(|most| length > *most) {
        return Err(format!("expected at most {most} characters"));
    }
    let (fits, like) = match field.format.as_deref() {
        Some("email") => (is_email(text), "name@example.com"),
        Some("uri") => (is_uri(text), "https://example.com/"),
        Some("date") => (is_date(text), "1999-12-31"),
        Some("date-time") => (is_date_time(text), "1999-12-31T23:59:00Z"),
        _ => (true, ""),
    };
    if fits { Ok(text) } else { Err(format!("expected a value like {like}")) }
}

fn is_email(text: &str) -> bool {
    let has_space = text.contains(char::is_whitespace);
    !has_space && text.rsplit_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty())
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = |char: char| char.is_ascii_alphanumeric() || matches!(char, '+' | '-' | '.');
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(is_scheme)
        && !rest.is_empty()
        && !rest.contains(char::is_whitespace)
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let digits =
        |part: &str, count: usize| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit());
    let within = |part: &str, most: u32| part.parse().is_ok_and(|number: u32| (1..=most).contains(&number));
    digits(year, 4) && digits(month, 2) && digits(day, 2) && within(month, 12) && within(day, 31)
}

fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else { return false };
    let zoned = time.ends_with(['Z', 'z']) || time.get(8..).is_some_and(|rest| rest.contains(['+', '-']));
    let clock = time.get(..8).map(|clock| clock.split(':').map(str::parse::<u32>).collect::<Vec<_>>());
    is_date(date) && zoned && matches!(clock.as_deref(), Some([Ok(0..=23), Ok(0..=59), Ok(0..=60)]))
}

fn parse_number(field: &NumberField, text: &str) -> Result<Raw, String> {
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
    let (Some(value), Ok(raw)) = (value, Raw::parse(text.to_owned())) else {
        return Err("expected a number".to_owned());
    };
    if let Some(least) = field.minimum.filter(|least| value < *least) {
        return Err(format!("it must be {least} or more"));
    }
    if let Some(most) = field.maximum.filter(|most| value > *most) {
        return Err(format!("it must be {most} or less"));
    }
    Ok(raw)
}

/// Returns the value of an option, found by value, title or number in the list.
fn find_option<'a>(options: &'a [ChoiceOption], text: &str) -> Result<&'a str, String> {
    let same = |name: &str| name.to_lowercase() == text.to_lowercase();
    let by_name = options.iter().find(|option| option.value == text).or_else(|| {
        options.iter().find(|option| same(&option.value) || option.title.as_deref().is_some_and(same))
    });
    let by_number = || text.parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?));
    match by_name.or_else(by_number) {
        Some(option) => Ok(&option.value),
        None => Err(format!("{text:?} is not one of the options")),
    }
}

/// Encodes the distinct choices as an array; an error if there are too few or too many.
fn encode_choices(field: &MultiChoiceField, mut chosen: Vec<&str>) -> Result<Raw, String> {
    let mut seen = std::collections::HashSet::new();
    chosen.retain(|one| seen.insert(*one));
    let count = chosen.len() as u64;
    if let Some(least) = field.min_items.filter(|least| count < *least) {
        return Err(format!("choose at least {least}"));
    }
    if let Some(most) = field.max_items.filter(|most| count > *most) {
        return Err(format!("choose at most {most}"));
    }
    Ok(encode(&chosen))
}

#[cfg(test)]
mod tests {
    use switchboard_protocol::{BooleanField, ChoiceField};

    use super::*;

    fn text(format: &str) -> FormField {
        FormField::Text(TextField::new().with_format(format))
    }

    fn sizes() -> Vec<ChoiceOption> {
        vec![ChoiceOption::new("s").with_title("Small"), ChoiceOption::new("l").with_title("Large")]
    }

    #[test]
    fn valid_input_is_accepted() {
        let cases = [
            (FormField::Integer(NumberField::new()), "12", "12"),
            (FormField::Number(NumberField::new()), "1.50", "1.50"),
            (FormField::Boolean(BooleanField::new()), "Yes", "true"),
            (FormField::Choice(ChoiceField::new(sizes())), "2", "\"l\""),
            (FormField::Choice(ChoiceField::new(sizes())), "small", "\"s\""),
            (FormField::MultiChoice(MultiChoiceField::new(sizes())), "2, s,l", "[\"l\",\"s\"]"),
            (text("email"), " a@b.c ", "\"a@b.c\""),
            (text("date"), "2026-07-28", "\"2026-07-28\""),
            (text("date-time"), "2026-07-28T10:00:00+02:00", "\"2026-07-28T10:00:00+02:00\""),
        ];
        for (field, given, expected) in cases {
            assert_eq!(parse_typed(&field, given).unwrap().as_str(), expected);
        }
    }

    #[test]
    fn invalid_input_is_rejected_with_a_reason() {
        let limited = NumberField::new().with_minimum(1.0).with_maximum(9.0);
        let cases = [
            (FormField::Integer(NumberField::new()), "1.5"),
            (FormField::Integer(limited.clone()), "10"),
            (FormField::Number(limited), "0"),
            (FormField::Number(NumberField::new()), "nan"),
            (FormField::Boolean(BooleanField::new()), "maybe"),
            (FormField::Choice(ChoiceField::new(sizes())), "3"),
            (FormField::MultiChoice(MultiChoiceField::new(sizes()).with_min_items(1u64)), ""),
            (text("email"), "nobody"),
            (text("uri"), "example.com"),
            (text("date"), "2026-13-01"),
            (text("date-time"), "2026-07-28T25:00:00Z"),
        ];
        for (field, given) in cases {
            assert!(parse_typed(&field, given).is_err(), "{given}");
        }
    }

    #[test]
    fn scripted_values_may_be_text_or_json() {
        let field = FormField::Integer(NumberField::new());
        for value in ["3", "\"3\""] {
            assert_eq!(parse_json(&field, &Raw::parse(value).unwrap()).unwrap().as_str(), "3");
        }
        let field = FormField::MultiChoice(MultiChoiceField::new(sizes()));
        assert_eq!(parse_json(&field, &Raw::parse(r#"["l"]"#).unwrap()).unwrap().as_str(), r#"["l"]"#);
        assert!(parse_json(&FormField::Text(TextField::new()), &Raw::parse("3").unwrap()).is_err());
    }
}
