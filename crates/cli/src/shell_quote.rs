//! Quotes words for a shell, so that a printed command can be pasted.

/// Quotes a word for a shell, if necessary.
pub(crate) fn shell_quote(word: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "-_./:=@%+,~•".contains(char);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
