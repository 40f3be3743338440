//! The configuration of a target: one directory.

use crate::confined::Root;
use crate::fault::Fault;
use crate::fields::{self, text};
use formwork_model::Json;

/// What a target's configuration says its type is.
const TYPE: &str = "LOCAL";

/// Opens the root that a target's configuration names.
///
/// # Errors
/// `INVALID_REQUEST` if the configuration is not one, or the root not a directory.
pub(crate) fn root_of(config: &Json) -> Result<Root, Fault> {
    let path = fields::read("the target's configuration", config, |fields| {
        fields.optional("Type", |value| match text(value)? {
            found if found.eq_ignore_ascii_case(TYPE) => Ok(()),
            _ => Err(format!("must be `{TYPE}`")),
        });
        fields.required("Root", root_path)
    })?;
    Root::open(path)
}

fn root_path(value: &Json) -> Result<&str, String> {
    let path = text(value)?;
    if !path.starts_with('/') || path.contains('\0') {
        return Err("must be the absolute path of a directory".to_owned());
    }
    if path.split('/').any(|name| name == "..") {
        return Err("must not have `..` in it".to_owned());
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_plugin::OperationErrorCode;
    use serde_json::json;

    #[test]
    fn only_a_directory_that_is_there_is_a_root() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_str().unwrap();
        assert!(root_of(&json!({"Type": "LOCAL", "Root": path})).is_ok());
        assert!(root_of(&json!({"Root": path})).is_ok());
        for (config, says) in [
            (json!({}), "`Root` is required"),
            (json!({"Root": "relative"}), "absolute"),
            (json!({"Root": "/a/../b"}), "`..`"),
            (json!({"Root": 1}), "must be a string"),
            (json!({"Root": path, "root": path}), "did you mean `Root`?"),
            (json!({"Root": path, "Type": "AWS"}), "must be `LOCAL`"),
            (json!({"Root": format!("{path}/gone")}), "create it first"),
            (json!("text"), "must be an object"),
            (json!(null), "must be an object"),
        ] {
            let fault = root_of(&config).err().unwrap();
            assert_eq!(fault.code, OperationErrorCode::InvalidRequest, "{config}");
            assert!(fault.message.contains(says), "{config}: {}", fault.message);
        }
    }
}
