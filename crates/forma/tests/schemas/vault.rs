//! A store of secrets: resources that hold one secret or a mapping of them.

use super::Package;

const SCHEMA: &str = r#"/// Secrets in a vault.
module vault

import "@formae/formae.pkl"

class Config {
  hidden fixed type: String = "vault"
  hidden address: String
  fixed Type: String = type
  fixed Address: String = address
}

/// A secret of one value.
@formae.ResourceHint { type = "VAULT::Secrets::Value"; identifier = "path" }
class Value extends formae.Secret {
  fixed hidden type: String = "VAULT::Secrets::Value"
  local parent = this
  hidden valueProperty = "value"
  hidden res: ValueResolvable = new { label = parent.label; stack = parent.stack?.label }

  @formae.FieldHint { createOnly = true }
  path: String

  @formae.FieldHint { writeOnly = true; requiredOnUpdate = true }
  value: String|formae.SecretValue
}

class ValueResolvable extends formae.ScalarSecretResolvable {
  hidden type = "VAULT::Secrets::Value"
  hidden valueProperty = "value"
}

/// A secret of many values.
@formae.ResourceHint { type = "VAULT::Secrets::Map"; identifier = "path" }
class SecretMap extends formae.Secret {
  fixed hidden type: String = "VAULT::Secrets::Map"
  local parent = this
  hidden valueProperty = "data"
  hidden res: MapResolvable = new { label = parent.label; stack = parent.stack?.label }

  @formae.FieldHint { createOnly = true }
  path: String

  /// The values by name.
  @formae.FieldHint { writeOnly = true }
  data: Mapping<String, String|formae.SecretValue>

  @formae.FieldHint
  owners: Listing<Owner>?
}

class Owner extends formae.SubResource {
  /// Who it is.
  name: String
  token: (String|formae.SecretValue)?
}

class MapResolvable extends formae.MapSecretResolvable {
  hidden type = "VAULT::Secrets::Map"
  hidden valueProperty = "data"
}

@formae.ResourceHint { type = "VAULT::Secrets::Consumer"; identifier = "id"; docComment = "Reads secrets." }
class Consumer extends formae.Resource {
  @formae.FieldHint
  secret: String|formae.Resolvable
  @formae.FieldHint
  text: (String|formae.Embedded)?
}
"#;

const FORMA: &str = r#"extends "@formae/forma.pkl"

import "@formae/formae.pkl"
import "schema/vault.pkl"

class Props {
  /// Where the vault is.
  address: String = "https://vault.example"
}

properties: Props

local one = new vault.Value { label = "one"; path = "a/b"; value = formae.value("s").opaque.setOnce }
local many = new vault.SecretMap { label = "many"; path = "c"; data { ["k"] = "v"; ["l"] = formae.value("w") }; owners { new { name = "o" } } }

forma {
  new formae.Stack { label = "main" }
  new formae.Target { label = "vault"; config = new vault.Config { address = properties.address } }
  one
  many
  new vault.Consumer { label = "whole"; secret = one.res.secretValue }
  new vault.Consumer { label = "part"; secret = one.res.secretValue.json("user.name") }
  new vault.Consumer { label = "key"; secret = many.res.secretValue.at("k"); text = formae.embed("\(many.res.secretValue.at("l.m"))!") }
}
"#;

pub(crate) fn package() -> Package {
    let package = Package::new("vault");
    package.write("vault.pkl", SCHEMA);
    package.write_forma(FORMA);
    package
}
