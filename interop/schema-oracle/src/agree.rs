//! Compares the validator with the crate `jsonschema`.

use switchboard_design::schema::Validator;

use crate::generate::{Random, document, value};

/// Values for each schema.
const VALUES: u64 = 10;

pub fn run(count: u64) -> Result<String, String> {
    let mut random = Random(0x5EED);
    let (mut pairs, mut valid) = (0, 0);
    while pairs < count {
        let schema = document(&mut random);
        let oracle = jsonschema::options().should_validate_formats(false).build(&schema);
        let oracle = oracle.map_err(|error| format!("the oracle refuses {schema:#}: {error}"))?;
        let ours = Validator::new(&schema).map_err(|error| format!("{error}: {schema:#}"))?;
        if !ours.unchecked().is_empty() {
            return Err(format!("{:?}: {schema:#}", ours.unchecked()));
        }
        for _ in 0..VALUES {
            let value = value(&mut random, 3);
            let expected = oracle.is_valid(&value);
            let found = ours.is_valid(&value).map_err(|error| format!("{error}: {value} {schema:#}"))?;
            if found != expected {
                return Err(format!(
                    "{value} is valid: {found}, says the oracle: {expected}, for {schema:#}"
                ));
            }
            if ours.issues(&value).is_empty() != expected {
                return Err(format!("the issues of {value} contradict the oracle, for {schema:#}"));
            }
            pairs += 1;
            valid += u64::from(expected);
        }
    }
    Ok(format!("oracle: {pairs} pairs agree, {valid} of them valid"))
}
