//! What a plugin's schema package declares, found out by evaluating and reflecting it.

mod descriptor;

pub use descriptor::{
    ConfigDescriptor, ConfigHint, ConfigSchema, FieldHint, ParentMapping, ResourceDescriptor, Schema,
};

use pkl_core::{DeserializeError, Evaluator, ModuleSource, Session, from_tree};
use serde::de::DeserializeOwned;

/// A schema package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaPackage {
    /// The URI of its directory, with a slash at its end.
    pub directory: String,
    /// What the package's modules write before `formae.pkl` when they import it: `@formae/`.
    ///
    /// It must be the same module for both, since a class is another one in each module.
    pub formae: String,
}

/// What a schema package declares.
#[derive(Clone, Debug, PartialEq)]
pub struct PackageDescriptor {
    /// Its resource types, by module and class.
    pub resources: Vec<ResourceDescriptor>,
    /// Its targets' configurations, by module and class.
    pub configs: Vec<ConfigDescriptor>,
}

/// Why a package can't be described.
#[derive(Debug, thiserror::Error)]
pub enum ExtractError {
    /// A module of it can't be evaluated.
    #[error("the schema package can't be evaluated")]
    Evaluate(#[source] Box<pkl_core::Error>),
    /// What the package's extractor says isn't what this program knows.
    #[error("the `{member}` that the package declares can't be read")]
    Shape {
        /// The part of the description.
        member: &'static str,
        /// What is wrong.
        #[source]
        source: DeserializeError,
    },
}

/// The program that describes a package: `modules` is all that it has.
pub fn program(package: &SchemaPackage) -> ModuleSource {
    let SchemaPackage { directory, formae } = package;
    ModuleSource::Text {
        uri: format!("{directory}formae-extractor.pkl"),
        text: format!(
            "amends \"{formae}extractor.pkl\"\n\nmodules {{\n  ...import*(\"*.pkl\")\n  ...import*(\"**/*.pkl\")\n}}\n"
        ),
    }
}

/// What a package declares.
///
/// # Errors
/// If one of its modules can't be evaluated.
pub fn describe(evaluator: &Evaluator, package: &SchemaPackage) -> Result<PackageDescriptor, ExtractError> {
    let evaluated = |error| ExtractError::Evaluate(Box::new(error));
    let read = evaluator.session(&program(package), |session| {
        Ok((member(session, "Resources")?, member(session, "Configs")?))
    });
    let (resources, configs) = read.map_err(evaluated)?;
    Ok(PackageDescriptor { resources: shaped("Resources", resources)?, configs: shaped("Configs", configs)? })
}

type Member<T> = Result<T, DeserializeError>;

fn member<T: DeserializeOwned>(
    session: &mut Session<'_, '_>,
    name: &str,
) -> Result<Member<T>, pkl_core::Error> {
    let module = session.module();
    let value = session.property(module, name)?;
    Ok(from_tree(&session.export(value)?))
}

fn shaped<T>(member: &'static str, value: Member<T>) -> Result<T, ExtractError> {
    value.map_err(|source| ExtractError::Shape { member, source })
}
