//! A cloud of many services: a module for each type, names that are capitalised on the wire, annotations
//! without bodies, nested objects without any.

use super::Package;

/// How many modules of resources there are.
pub(crate) const MODULES: usize = 250;

const SERVICES: [&str; 10] =
    ["compute", "storage", "queue", "database", "network", "identity", "stream", "cache", "batch", "mail"];

const ROOT: &str = r##"/// What all of the cloud's types have in common.
module cloud

import "@formae/formae.pkl"

/// Keys of this cloud begin with a capital.
const function capitalized(key: String): String = key.capitalize()

class ResourceHint extends formae.ResourceHint {
  hidden outputKeyTransformation = (key) -> capitalized(key)
}

class SubResourceHint extends formae.SubResourceHint {
  hidden outputKeyTransformation = (key) -> capitalized(key)
}

class FieldHint extends formae.FieldHint {}

@SubResourceHint
class Tag extends formae.SubResource {
  key: String(matches(Regex(#"(?!cloud:).+"#)))
  value: String|formae.Resolvable
}

typealias Region = "north-1" | "south-1"

open class Config {
  hidden fixed type: String = "CLOUD"

  @formae.ConfigFieldHint { createOnly = false }
  hidden profile: String?

  @formae.ConfigFieldHint
  hidden region: Region = "north-1"

  fixed Type: String = type
  fixed Profile: String? = profile
  fixed Region: Region = region
  fixed Endpoint: String = "https://\(region).cloud.example"
}
"##;

/// A module of a resource type; `@N@` is its number, `@S@` its service.
const MODULE: &str = r#"/// Things of the @S@ service, number @N@.
module cloud.@S@.thing@N@

import "@formae/formae.pkl"
import "../cloud.pkl"

const type = "CLOUD::@C@::Thing@N@"

open class Thing@N@Resolvable extends formae.Resolvable {
  hidden type = module.type
  hidden id: Thing@N@Resolvable = (this) { property = "Id" }
  hidden arn: Thing@N@Resolvable = (this) { property = "Arn" }
  hidden endpoints: formae.MappingResolvable = new {
    label = outer.label
    type = outer.type
    stack = outer.stack
    property = "Endpoints"
  }
}

typealias Mode = "Enabled" | "Suspended" | "Disabled"

/// A rule that isn't annotated.
open class Rule extends formae.SubResource {
  id: String?
  mode: Mode?
  prefix: String(length <= 1024)?
  days: Int(isBetween(0, 3650))?
  next: Rule?
}

@cloud.SubResourceHint
open class Settings extends formae.SubResource {
  rules: Listing<Rule>?
  kind: ("standard"|"reduced")?
  @cloud.FieldHint { createOnly = true }
  zone: String?
  @cloud.FieldHint { outputField = "KMSKeyID" }
  kmsKeyId: (String|formae.Resolvable)?
}

/// A thing, number @N@.
@cloud.ResourceHint {
  type = module.type
  identifier = "Id"
  portable = @P@
  extractable = @E@
}
open class Thing@N@ extends formae.Resource {
  fixed hidden type: String = module.type
  local parent = this

  hidden res: Thing@N@Resolvable = new {
    label = parent.label
    stack = parent.stack?.label
  }

  /// The name, which can't be changed.
  @cloud.FieldHint { createOnly = true }
  thingName: String?

  @cloud.FieldHint
  description: String?

  @cloud.FieldHint
  mode: Mode = "Enabled"

  @cloud.FieldHint { writeOnly = true }
  password: (String|formae.SecretValue)?

  @cloud.FieldHint { hasProviderDefault = true }
  settings: Settings?

  @cloud.FieldHint { updateMethod = "Array" }
  rules: Listing<Rule>?

  @cloud.FieldHint {
    updateMethod = "EntitySet"
    indexField = "Key"
    outputTransformation = (it) -> formae.transform.capitalizeMemberKeys.apply(it)
  }
  tags: Listing<cloud.Tag>?

  @cloud.FieldHint { edgeKind = "attachesTo" }
  attachedTo: (String|formae.Resolvable)?

  @cloud.FieldHint { updateMethod = "Atomic"; format = "json"; outputTransformation = (it) -> new JsonRenderer { indent = "" }.renderDocument(it) }
  document: Dynamic?

  @cloud.FieldHint { outputCondition = (_) -> parent.ordered ?? false }
  group: String?

  @cloud.FieldHint
  ordered: Boolean?

  @cloud.FieldHint
  limits: Mapping<String, Rule>?

  notAnnotated: String?
}
"#;

const CHILD: &str = r#"
/// A part of thing @N@.
@cloud.ResourceHint {
  type = "CLOUD::@C@::Part@N@"
  identifier = "$.Part.Id"
  parent = module.type
  listParam = new formae.ListProperty { parentProperty = "Id"; listParameter = "ThingId" }
  discoverable = false
}
class Part@N@ extends formae.Resource {
  @cloud.FieldHint { createOnly = true; edgeKind = "runtimeDependency" }
  thingId: String|formae.Resolvable
  @cloud.FieldHint
  size: Int(isPositive)
}
"#;

const FORMA: &str = r#"amends "@formae/forma.pkl"

import "@formae/formae.pkl"
import "schema/cloud.pkl"
import "schema/compute/thing0.pkl"
import "schema/storage/thing1.pkl"

local web = new thing0.Thing0 {
  label = "web"
  thingName = "web"
  tags {
    new { key = "env"; value = "test" }
    new { key = "of"; value = disk.res.arn }
  }
  settings { rules { new { id = "r"; next { days = 3 } } }; kmsKeyId = disk.res.id }
  document { Version = 1; Statement { "allow" } }
  limits { ["cpu"] { days = 1 } }
}
local disk = new thing1.Thing1 { label = "disk"; password = formae.value("s").opaque.setOnce; group = "g"; ordered = true }

forma {
  new formae.Stack { label = "main" }
  new formae.Target { label = "north"; config = new cloud.Config {} }
  web
  disk
  new thing0.Part0 { label = "part"; thingId = web.res.id; size = 3 }
  new thing0.Part0 { label = "other"; thingId = web.res.endpoints.at("a.b:80"); size = 4 }
}
"#;

pub(crate) fn package() -> Package {
    let package = Package::new("cloud");
    package.write("cloud.pkl", ROOT);
    for number in 0..MODULES {
        let service = SERVICES[number % SERVICES.len()];
        let with_part = if number % 3 == 0 { CHILD } else { "" };
        let text = format!("{MODULE}{with_part}")
            .replace("@N@", &number.to_string())
            .replace("@S@", service)
            .replace("@C@", &service.to_uppercase())
            .replace("@P@", &(number % 2 == 0).to_string())
            .replace("@E@", &(number % 7 != 0).to_string());
        package.write(&format!("{service}/thing{number}.pkl"), &text);
    }
    package.write_forma(FORMA);
    package
}
