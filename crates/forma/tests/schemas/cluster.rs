//! A cluster whose API has versions: a tree of modules for each, modules that extend one another,
//! annotations that the package declares for itself, transformations of what is sent.

use super::Package;

/// The versions.
pub(crate) const VERSIONS: std::ops::Range<u32> = 21..37;

const TARGET: &str = r##"/// Where a cluster is.
module cluster.target

import "@formae/formae.pkl"

typealias Version = String(matches(Regex(#"\d+\.\d+"#)))

/// How to log in.
abstract class Auth {}

class TokenAuth extends Auth {
  token: String|formae.Resolvable
}

/// The configuration of a cluster.
class Config {
  hidden fixed type: String = "CLUSTER"

  @formae.ConfigFieldHint
  hidden server: String|formae.Resolvable

  /// The version that the cluster speaks; it can be upgraded in place.
  @formae.ConfigFieldHint { createOnly = false }
  hidden clusterVersion: Version?

  @formae.ConfigFieldHint { createOnly = false }
  hidden auth: Auth?(this == null || clusterVersion != null)

  @formae.ConfigFieldHint { createOnly = false }
  hidden timeout: Duration(isBetween(0.s, 900.s))? = 0.s

  fixed Type: String = type
  fixed Server: String|formae.Resolvable = server
  fixed ApiVersion: String? = if (clusterVersion == null) null else "v\(clusterVersion)"
  fixed Auth: Auth? = auth
  fixed Seconds: Number? = timeout?.toUnit("s")?.value
}
"##;

const SHARED: &str = r##"/// What all versions have in common.
open module cluster.shared

import "@formae/formae.pkl"

open class ResourceHint extends formae.ResourceHint {
  identifier = "$.metadata.uid"
}

open class SubResourceHint extends formae.SubResourceHint {}

open class FieldHint extends formae.FieldHint {}

typealias Int32 = Int(isBetween(-2147483648, 2147483647))
typealias Quantity = String(matches(Regex(#"(?=.*\d)[0-9.]+[a-zA-Z]*"#))) | Number

open class Resolvable extends formae.Resolvable {
  hidden uid: Resolvable = (this) { property = "metadata.uid" }
  hidden name: Resolvable = (this) { property = "metadata.name" }
}

open class Metadata extends formae.SubResource {
  @FieldHint { createOnly = true }
  name: String?
  @FieldHint { createOnly = true; hasProviderDefault = true }
  namespace: String?
  @FieldHint
  labels: Mapping<String, String>?
  @FieldHint
  annotations: Mapping<String, String>?
}

/// An object of a cluster.
abstract class ClusterObject extends formae.Resource {
  fixed hidden apiVersion: String
  fixed hidden kind: String
  local parent = this

  hidden res: Resolvable = new {
    label = parent.label
    type = parent.type()
    stack = parent.stack?.label
  }

  @FieldHint { required = true }
  metadata: Metadata?
}

open class Schema extends formae.SubResource {
  @FieldHint { outputField = "$ref" }
  reference: String?
  type: String?
  properties: Mapping<String, Schema>?
  items: (Schema|Listing<Schema>)?
  not: Schema?
}
"##;

const CORE: &str = r#"/// Objects of the core, since version @V@.
open module cluster.v@U@.core

extends "../shared.pkl"

import "@formae/formae.pkl"

open class Port extends formae.SubResource {
  @FieldHint
  containerPort: Int32
  @FieldHint
  protocol: ("TCP"|"UDP")?
}

open class Container extends formae.SubResource {
  @FieldHint
  name: String
  @FieldHint
  image: String|formae.Embedded|formae.Resolvable
  @FieldHint { updateMethod = "EntitySet"; indexField = "containerPort" }
  ports: Listing<Port>?
  @FieldHint
  resources: Mapping<String, Quantity>?
  @FieldHint { outputTransformation = (it) -> it.toMap().entries.map((e) -> Map("name", e.key, "value", e.value)) }
  env: Mapping<String, String|formae.Resolvable>?
}

open class PodSpec extends formae.SubResource {
  @FieldHint { updateMethod = "EntitySet"; indexField = "name" }
  containers: Listing<Container>(!isEmpty)
  @FieldHint
  nodeName: String?
@NEW@}

open class PodTemplate extends formae.SubResource {
  metadata: Metadata?
  spec: PodSpec
}

@ResourceHint { type = "CLUSTER::Core::Pod" }
open class Pod extends ClusterObject {
  fixed hidden apiVersion = "v1"
  fixed hidden kind = "Pod"
  @FieldHint
  spec: PodSpec
}

/// Settings.
@ResourceHint { type = "CLUSTER::Core::ConfigMap"; portable = true }
open class ConfigMap extends ClusterObject {
  fixed hidden apiVersion = "v1"
  fixed hidden kind = "ConfigMap"
  @FieldHint
  data: Mapping<String, String|formae.Embedded>?
  @FieldHint { outputTransformation = (it) -> it.toMap().mapValues((_, v) -> v.base64) }
  binaryData: Mapping<String, String>?
}

@ResourceHint { type = "CLUSTER::Core::Secret" }
open class Secret extends ClusterObject {
  fixed hidden apiVersion = "v1"
  fixed hidden kind = "Secret"
  @FieldHint { writeOnly = true }
  stringData: Mapping<String, String|formae.SecretValue>?
}
"#;

const APPS: &str = r#"/// Applications, in version @V@.
open module cluster.v@U@.apps

extends "core.pkl"

import "@formae/formae.pkl"

open class Selector extends formae.SubResource {
  @FieldHint { createOnly = true }
  matchLabels: Mapping<String, String>
}

open class DeploymentSpec extends formae.SubResource {
  @FieldHint { hasProviderDefault = true }
  replicas: Int32?
  @FieldHint
  selector: Selector
  @FieldHint
  template: PodTemplate
}

@ResourceHint { type = "CLUSTER::Apps::Deployment" }
class Deployment extends ClusterObject {
  fixed hidden apiVersion = "apps/v1"
  fixed hidden kind = "Deployment"
  @FieldHint
  spec: DeploymentSpec
}

@ResourceHint { type = "CLUSTER::Extensions::Definition"; discoverable = false }
class Definition extends ClusterObject {
  fixed hidden apiVersion = "extensions/v1"
  fixed hidden kind = "Definition"
  @FieldHint { updateMethod = "Atomic" }
  schema: Schema?
}
"#;

const ALL: &str = r#"/// Everything of version @V@, from one import.
module cluster.v@U@.cluster

extends "apps.pkl"
"#;

const FORMA: &str = r##"amends "@formae/forma.pkl"

import "@formae/formae.pkl"
import "schema/target.pkl"
import "schema/v1.34/cluster.pkl"

local settings = new cluster.ConfigMap {
  label = "settings"
  metadata { name = "settings"; labels { ["app"] = "web" } }
  data { ["url"] = formae.embed("https://\(secret.res.name)/") }
  binaryData { ["a"] = "b" }
}
local home = new formae.Target { label = "home"; config = new target.Config { server = "https://h"; clusterVersion = "1.34"; auth = new target.TokenAuth { token = "t" } } }
local secret = new cluster.Secret { label = "secret"; target = home.res; metadata { name = "s" }; stringData { ["k"] = formae.value("v").opaque } }

forma {
  new formae.Stack { label = "main" }
  new formae.Target {
    label = "cluster"
    config = new target.Config { server = "https://k"; clusterVersion = "1.34"; auth = new target.TokenAuth { token = secret.res.uid } }
  }
  home
  settings
  secret
  new cluster.Deployment {
    label = "web"
    metadata { name = "web"; namespace = "default" }
    spec {
      replicas = 2
      selector { matchLabels { ["app"] = "web" } }
      template {
        spec {
          containers {
            new {
              name = "web"
              image = "web:1"
              ports { new { containerPort = 80 } }
              resources { ["cpu"] = "100m"; ["memory"] = 1 }
              env { ["SETTINGS"] = settings.res.uid }
            }
          }
        }
      }
    }
  }
  new cluster.Definition { label = "d"; metadata { name = "d" }; schema { type = "object"; properties { ["a"] { reference = "#/b" } } } }
}
"##;

pub(crate) fn package() -> Package {
    let package = Package::new("cluster");
    package.write("target.pkl", TARGET);
    package.write("shared.pkl", SHARED);
    for minor in VERSIONS {
        let new_field =
            if minor >= 30 { "  @FieldHint { createOnly = true }\n  resizePolicy: String?\n" } else { "" };
        for (name, text) in [("core", CORE), ("apps", APPS), ("cluster", ALL)] {
            let text = text
                .replace("@V@", &format!("1.{minor}"))
                .replace("@U@", &format!("1_{minor}"))
                .replace("@NEW@", new_field);
            package.write(&format!("v1.{minor}/{name}.pkl"), &text);
        }
    }
    package.write_forma(FORMA);
    package
}
